// Finds the facts that left conditions unknown, each with the reason: the smallest parts of a condition that
// are unknown although everything within them is known. INVARIANT: what is unknown, and what is not, is the
// definition's own answer.

import type { Builtin } from '../../language/model/builtins.ts';
import { childrenOf } from '../../language/model/children.ts';
import { currencyHelp, currencyLocation } from '../../language/model/currency.ts';
import { pathText } from '../../language/model/describe.ts';
import type { ColumnRead, Expression, FieldRead, Quantify } from '../../language/model/expression.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { type Facts, factAt, pushedRow } from '../../language/model/request.ts';
import { agentSigner, isVouched, signersOf } from '../../language/model/signers.ts';
import {
  type Interval,
  type Money,
  type UnknownValue,
  unknown,
  type Value,
} from '../../language/model/value.ts';
import { type EvaluationScope, evaluate } from '../../language/spec/evaluate.ts';
import { resolveFacts } from '../../language/spec/payload.ts';
import { readField } from '../../language/spec/read-path.ts';
import { compare, type Decimal, formatDecimal, zero } from '../../language/value/decimal.ts';
import { parseIp } from '../../language/value/ip.ts';
import { whyCommandsUnknown } from '../../language/value/shell/commands.ts';
import { findCell } from '../../language/value/table/rows.ts';
import { atomsOf, atomTruth } from './atoms.ts';
import { expressionText } from './change-wording.ts';

export interface UnknownFact {
  readonly name: string;
  readonly why: string;
  /** What an author can do about it; null when that depends on the policies. */
  readonly help: string | null;
}

/** A part that is unknown; `why` is null for what is absent or null, which is known. */
interface Cause {
  readonly name: string;
  readonly why: string | null;
  readonly help?: string | null;
}

/**
 * The facts that left conditions of enforced rules unknown, in rule order. An absent field is not among them,
 * since its absence is known. The payload must have the declared shape.
 */
export function unknownFacts(set: PolicySet, facts: Facts): readonly UnknownFact[] {
  const resolved = resolveFacts(set, facts);
  const scope = { set, facts: resolved, risk: { low: 0, high: 100 }, variables: new Map() };
  const atoms = atomsOf(set, facts.action, []).filter((atom) => atomTruth(atom, set, facts) === unknown);
  return unknownPartsOf(
    atoms.map(({ expression }) => expression),
    scope,
  );
}

/** The smallest parts that leave conditions unknown, in their order. The facts of the scope are resolved. */
export function unknownPartsOf(
  conditions: readonly Expression[],
  scope: EvaluationScope,
): readonly UnknownFact[] {
  const reasons = new Map<string, UnknownFact>();
  for (const { name, why, help = null } of conditions.flatMap((one) => causesOf(one, scope)))
    if (why !== null) reasons.set(name, { name, why, help });
  return [...reasons.values()];
}

function causesOf(part: Expression, scope: EvaluationScope): readonly Cause[] {
  if (evaluate(part, scope) !== unknown) return [];
  const inner = innerCauses(part, scope);
  return inner.length > 0 ? inner : ownCauses(part, scope);
}

function innerCauses(part: Expression, scope: EvaluationScope): readonly Cause[] {
  switch (part.kind) {
    case 'let': {
      const declared = scope.set.lets.get(part.id);
      return declared === undefined ? [] : causesOf(declared.expression, scope);
    }
    case 'quantify': {
      const sources = part.sources
        .flatMap((source) => causesOf(source, scope))
        .filter(({ why }) => why !== null);
      return sources.length > 0 ? sources : causesInElements(part, scope);
    }
    case 'if': {
      const { condition, whenTrue, otherwise } = part;
      const truth = evaluate(condition, scope);
      return causesOf(truth === unknown ? condition : truth === true ? whenTrue : otherwise, scope);
    }
    default:
      return childrenOf(part).flatMap((child) => causesOf(child, scope));
  }
}

/** The causes within the first element for which the body is unknown. */
function causesInElements({ sources, variable, body }: Quantify, scope: EvaluationScope): readonly Cause[] {
  for (const element of sources.flatMap((source) => elementsOf(source, scope))) {
    const variables = new Map(scope.variables).set(variable, element);
    const causes = causesOf(body, { ...scope, variables });
    if (causes.length > 0) return causes;
  }
  return [];
}

function elementsOf(source: Expression, scope: EvaluationScope): readonly Value[] {
  const value = source.kind === 'field' ? readField(source, scope) : evaluate(source, scope);
  return Array.isArray(value) ? value : [];
}

/** Why a part is unknown although everything within it is known. */
function ownCauses(part: Expression, scope: EvaluationScope): readonly Cause[] {
  switch (part.kind) {
    case 'fact':
      return [{ name: part.fact, why: whyFact(part.fact, scope.facts) }];
    case 'meter':
      return [{ name: part.meter, why: 'there is no reading of this meter' }];
    case 'field':
      return [{ name: pathText(part.root, part.steps), why: whyField(part, scope) }];
    case 'column':
      return [{ name: expressionText(scope.set, part), why: whyCell(part, scope) }];
    case 'in-table':
      return [{ name: expressionText(scope.set, part), why: 'the row is not given' }];
    case 'call':
      return [{ name: expressionText(scope.set, part), why: whyCall(part, scope) }];
    default: {
      const isOfNull = childrenOf(part).some((child) => evaluate(child, scope) === null);
      if (isOfNull) return [{ name: expressionText(scope.set, part), why: null }];
      const pending = pendingMeters(part, scope);
      if (pending.length > 0) return pending;
      const name = expressionText(scope.set, part);
      return [{ name, ...(ofTwoCurrencies(part, scope) ?? { why: noAnswer }) }];
    }
  }
}

const noAnswer = 'has no exact answer: it divides by zero, overflows or brings two currencies together';

/** Why a part is unknown that brings amounts of two currencies together; null for any other part. */
function ofTwoCurrencies(part: Expression, scope: EvaluationScope): Omit<Cause, 'name'> | null {
  const amounts = childrenOf(part).flatMap((child) => {
    const currency = child.type.kind === 'money' ? currencyOf(evaluate(child, scope)) : null;
    return currency === null ? [] : [{ currency, field: currencyField(child, scope.set) }];
  });
  const [first] = amounts;
  if (first === undefined || amounts.every(({ currency }) => currency === first.currency)) return null;
  const other = amounts.find(({ currency }) => currency !== first.currency)!;
  const [own, constant] = first.field === null ? [other, first] : [first, other];
  return {
    why: `amounts in ${first.currency} and ${other.currency} are never compared`,
    help: own.field === null || constant.field !== null ? null : currencyHelp(own.field, constant.currency),
  };
}

/** The currency of the value of an expression of type money. */
function currencyOf(value: Value | UnknownValue): string | null {
  if (value === unknown || value === null) return null;
  const money = value as Money | Interval;
  const amount = 'low' in money ? (money.low as Money) : money;
  return amount.currency;
}

/** The path of the field that holds the currency of an amount or of a meter; null when there is none. */
function currencyField(part: Expression, { meters }: PolicySet): string | null {
  const currency = part.kind === 'meter' ? meters.get(part.meter)?.currency : null;
  if (typeof currency === 'object' && currency !== null) return pathText(currency.root, currency.steps);
  const place = part.kind === 'field' ? currencyLocation(part.type, part) : null;
  return place === null ? null : pathText(place.root, place.steps);
}

function whyFact(fact: string, { agent, request, meters }: Facts): string {
  if (fact.startsWith('agent.')) return 'the registry has no such attribute';
  const isGiven = factAt({ agent, request, meters }, fact) !== undefined;
  if (fact === 'request.ip' && isGiven && parseIp(request.ip!) === null) return 'it is no IP address';
  if (fact.startsWith('request.user.')) return 'no verified token names the person behind the agent';
  if (fact === 'request.delegate') return 'the agent asks itself, without a delegation';
  return 'the host does not say';
}

function whyField(field: FieldRead, scope: EvaluationScope): string | null {
  if (!isVouched(field, scope.facts.request)) return whyUnvouched(field);
  const value = readField(field, scope);
  if (value === undefined || value === null) return null;
  return field.type.kind === 'money' ? 'the field with its currency is absent' : noAnswer;
}

function whyUnvouched(read: FieldRead): string {
  const points = signersOf(read).filter((signer) => signer !== agentSigner);
  if (points.length === 0) return 'the request carries no signature';
  return `the request does not come by the enforcement point \`${points[0]}\``;
}

function whyCell({ table: name, column, key }: ColumnRead, scope: EvaluationScope): string {
  const table = scope.set.tables.get(name);
  const subject = keyText(evaluate(key, scope));
  if (table === undefined || subject === null) return noAnswer;
  if (table.rows === null) {
    const row = pushedRow(scope.facts, name, subject);
    if (row === undefined) return 'the row is not given';
    if (row === null) return `\`${name}\` has no row \`${subject}\``;
    const isThere = Object.hasOwn(row, column) && row[column] !== null;
    return isThere ? 'the row was pushed for other columns' : `the row \`${subject}\` has no \`${column}\``;
  }
  const place = table.columns.findIndex((one) => one.name === column);
  const isRow = findCell(table.rows, subject, place) !== null;
  return isRow ? `the row \`${subject}\` has no \`${column}\`` : `\`${name}\` has no row \`${subject}\``;
}

function keyText(key: Value | UnknownValue): string | null {
  if (typeof key === 'string') return key;
  return typeof key === 'object' && key !== null && 'coefficient' in key
    ? formatDecimal(key as Decimal)
    : null;
}

const callReasons: Partial<Readonly<Record<Builtin, string>>> = {
  host: 'the text only looks like a link',
  scheme: 'the text only looks like a link',
  port: 'there is no port, and the scheme has no usual one',
  ip: 'the host is a name, not an address',
  first: 'the list is empty',
  quantity: 'the text is not a number with a unit',
  months_later: 'the result is outside of the years 1 to 9999',
};

function whyCall({ builtin, args }: Extract<Expression, { kind: 'call' }>, scope: EvaluationScope): string {
  const [first] = args;
  const line = builtin === 'commands' && first !== undefined ? evaluate(first, scope) : null;
  const why = typeof line === 'string' ? whyCommandsUnknown(line) : callReasons[builtin];
  return why ?? noAnswer;
}

const noReading = { low: zero, high: zero };

/** Meters whose reading is an interval, because requests are pending. */
function pendingMeters(part: Expression, scope: EvaluationScope): readonly Cause[] {
  if (part.kind === 'meter') {
    const { low, high } = scope.facts.meters[part.meter] ?? noReading;
    if (compare(low, high) === 0) return [];
    const why = `requests are pending: between ${formatDecimal(low)} and ${formatDecimal(high)}`;
    return [{ name: part.meter, why }];
  }
  const declared = part.kind === 'let' ? scope.set.lets.get(part.id) : undefined;
  const inner = declared === undefined ? childrenOf(part) : [declared.expression];
  return inner.flatMap((child) => pendingMeters(child, scope));
}
