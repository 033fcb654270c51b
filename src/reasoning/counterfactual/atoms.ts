// Splits the conditions of an action's rules into atoms: parts without `and`, `or` and `not`. A decision depends on a
// request only through the truths of these atoms, so two requests with equal truths get the same decision.

import { childrenOf } from '../../language/model/children.ts';
import { currencyLocation, type FieldReference } from '../../language/model/currency.ts';
import { pathText } from '../../language/model/describe.ts';
import type { Expression, FieldRead } from '../../language/model/expression.ts';
import type { List, PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { agentSigner, signersOf } from '../../language/model/signers.ts';
import { type EvaluationScope, evaluate, evaluateCondition } from '../../language/spec/evaluate.ts';
import { resolveFacts } from '../../language/spec/payload.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import { fold } from '../../language/value/text.ts';
import { expressionText } from './change-wording.ts';

export interface Atom {
  readonly expression: Expression;
  /** The atom as the language writes it; equal texts are one atom. */
  readonly text: string;
  /**
   * Keys of the places that the atom reads: `payload.lines[].price`, `agent.tags`, `meters.spent_24h`, `now`.
   */
  readonly keys: ReadonlySet<string>;
  /** Every part of the atom, including the parts of its lets. */
  readonly parts: readonly Expression[];
}

/** The atoms of the enforced rules for the action, in the order of `ruleIds`, then of the set. */
export function atomsOf(set: PolicySet, action: string, ruleIds: readonly string[]): readonly Atom[] {
  const rules = set.policies
    .filter((policy) => policy.actions.includes(action))
    .flatMap((policy) => policy.rules)
    .filter((rule) => !rule.isShadow);
  const rank = (id: string): number => (ruleIds.includes(id) ? ruleIds.indexOf(id) : ruleIds.length);
  const atoms = new Map<string, Atom>();
  for (const { condition } of rules.toSorted((a, b) => rank(a.id) - rank(b.id))) {
    for (const expression of atomExpressions(set, condition)) {
      const text = expressionText(set, expression);
      if (!atoms.has(text)) atoms.set(text, { expression, text, ...readsOf(set, expression) });
    }
  }
  return [...atoms.values()];
}

/**
 * Whether a part is an atom. A constant never changes, and risk follows from the other atoms, so neither is
 * an atom.
 */
export function isAtom(set: PolicySet, condition: Expression): boolean {
  return condition.kind !== 'literal' && partsOf(set, condition).every(({ kind }) => kind !== 'risk');
}

/** Whether the place with this key, something in it, or something around it is read. */
export function reads(atom: Atom, key: string): boolean {
  return [...atom.keys].some((read) => read === key || isBelow(read, key) || isBelow(key, read));
}

/** Whether `key` names a part of what `outer` names. */
export function isBelow(key: string, outer: string): boolean {
  return key.startsWith(`${outer}.`) || key.startsWith(`${outer}[`);
}

/** The truth of the atom for a request. */
export function atomTruth({ expression }: Atom, set: PolicySet, requestFacts: Facts): SpecTruth {
  const facts = resolveFacts(set, requestFacts);
  // No atom reads `risk`, so any value works.
  const scope: EvaluationScope = { set, facts, risk: { low: 0, high: 100 }, variables: new Map() };
  const list = expression.kind === 'in-list' ? set.lists.get(expression.list) : undefined;
  if (expression.kind !== 'in-list' || list?.type.kind !== 'text')
    return evaluateCondition(expression, scope);
  const subject = evaluate(expression.subject, scope);
  if (typeof subject !== 'string') return evaluateCondition(expression, scope);
  return keysOf(list).has(list.ignoringCase ? fold(subject) : subject);
}

/** The entries of each list as a set: lists are long, and many requests search them. */
const keysByList = new WeakMap<List, ReadonlySet<unknown>>();

function keysOf(list: List): ReadonlySet<unknown> {
  const keys =
    keysByList.get(list) ??
    new Set(list.entries.map((entry) => (list.ignoringCase ? fold(entry as string) : entry)));
  keysByList.set(list, keys);
  return keys;
}

function atomExpressions(set: PolicySet, condition: Expression): readonly Expression[] {
  switch (condition.kind) {
    case 'not':
      return atomExpressions(set, condition.operand);
    case 'and':
    case 'or':
      return condition.operands.flatMap((operand) => atomExpressions(set, operand));
    case 'let': {
      const declared = set.lets.get(condition.id);
      return declared === undefined ? [] : atomExpressions(set, declared.expression);
    }
    default:
      return isAtom(set, condition) ? [condition] : [];
  }
}

/** The expression with all its parts, including the parts of its lets and meters. */
function partsOf(set: PolicySet, expression: Expression): readonly Expression[] {
  return [expression, ...innerOf(set, expression).flatMap((inner) => partsOf(set, inner))];
}

function innerOf(set: PolicySet, expression: Expression): readonly Expression[] {
  if (expression.kind === 'let') {
    const declared = set.lets.get(expression.id);
    return declared === undefined ? [] : [declared.expression];
  }
  if (expression.kind === 'meter') {
    const meter = set.meters.get(expression.meter);
    return [meter?.argument ?? null, meter?.when ?? null].filter((inner) => inner !== null);
  }
  return childrenOf(expression);
}

/** The places that the variables in scope stand for, as keys; several if a quantifier has several sources. */
type Variables = ReadonlyMap<string, readonly string[]>;

function readsOf(set: PolicySet, expression: Expression): Pick<Atom, 'keys' | 'parts'> {
  return {
    keys: new Set(keysRead(set, expression, new Map())),
    parts: partsOf(set, expression),
  };
}

function keysRead(set: PolicySet, expression: Expression, variables: Variables): readonly string[] {
  const below = (inner: Variables): readonly string[] =>
    innerOf(set, expression).flatMap((part) => keysRead(set, part, inner));
  switch (expression.kind) {
    case 'field':
      return fieldKeys(expression, variables);
    case 'fact':
      return [expression.fact];
    case 'now':
      return ['now'];
    case 'call':
      return [...(expression.builtin === 'today' ? ['now'] : []), ...below(variables)];
    case 'meter':
      return [`meters.${expression.meter}`, ...below(variables)];
    case 'let':
      return below(new Map());
    case 'quantify': {
      const elements = expression.sources.flatMap((source) =>
        keysRead(set, source, variables).map((key) => (source.kind === 'field' ? `${key}[]` : key)),
      );
      return below(new Map(variables).set(expression.variable, elements));
    }
    default:
      return below(variables);
  }
}

function fieldKeys(read: FieldRead, variables: Variables): readonly string[] {
  const { type } = read;
  const rootsOf = (name: string) => (name === 'payload' ? [name] : (variables.get(name) ?? []));
  const keysAt = (place: FieldReference): readonly string[] =>
    rootsOf(place.root).map((key) => pathText(key, place.steps));
  const currency = currencyLocation(type, read);
  const vouching = signersOf(read).map((signer) =>
    signer === agentSigner ? 'request.signed' : 'request.point',
  );
  return [...keysAt(read), ...(currency === null ? [] : keysAt(currency)), ...vouching];
}
