// Turns meter declarations into meters: what is counted, for which actions, per which key and over which
// window. A meter is computed from records, so its expressions read payload, result, agent, request and
// action only.

import { childrenOf, descendants } from '../../model/children.ts';
import { currencyLocation } from '../../model/currency.ts';
import type { Expression, FieldRead } from '../../model/expression.ts';
import type { Meter, MeterKey } from '../../model/policy.ts';
import { quantity, type Type } from '../../model/type.ts';
import type { MeterDeclaration, Path } from '../../syntax/tree/tree.ts';
import { isCurrency } from '../../value/currency.ts';
import type { MeterWindow } from '../../value/meter-window.ts';
import { isZone } from '../../value/time.ts';
import { patternsKey } from '../expressions/action-sets.ts';
import { type Context, inferCondition, inferValue } from '../expressions/context.ts';
import { resolveField } from '../expressions/fields.ts';
import { matchedActions } from '../expressions/patterns.ts';
import { contextOver } from '../expressions/scope.ts';
import type { Environment } from '../incremental/environment.ts';
import { memoized } from '../incremental/memoized.ts';
import { moneyType, readSeconds } from '../logic/literals.ts';
import { both, nothingKnown } from '../logic/presence.ts';
import { sameOrNew } from '../logic/same.ts';
import { isComparable, isNumeric } from '../logic/type-relations.ts';
import {
  distinctUnfit,
  meterCountsNothing,
  meterCurrencyMissing,
  meterCurrencyNeedless,
  meterKeyUnfit,
  meterKeyUnknown,
  sumUnfit,
} from '../messages/meter-errors.ts';
import { spelledPath } from '../messages/path-errors.ts';
import { unknownCurrency, zoneUnknown } from '../messages/value-errors.ts';

/** Fills `env.meters`. A meter in error is left out. */
export function resolveMeters(env: Environment): void {
  for (const declaration of env.declarations.ofKind('meter')) {
    const meter = memoized(env, declaration, () => resolveMeter(declaration, env));
    const name = declaration.name.text;
    if (meter !== null) env.meters.set(name, sameOrNew(env.checkState.before.meters.get(name), meter));
  }
}

function resolveMeter(declaration: MeterDeclaration, env: Environment): Meter | null {
  const { patterns, since } = declaration;
  const actions = matchedActions(patterns, since, env);
  const restarting = env.query('actions', patternsKey(since, []));
  const spokenOf = env.query('actions', patternsKey([...patterns, ...since], []));
  const isEmptied =
    actions.keys.length === 0 && env.query('actions', patternsKey(patterns, [])).keys.length > 0;
  if (isEmptied) env.report(meterCountsNothing(declaration.name));
  const ctx: Context = { ...contextOver(actions, env), inMeter: true };
  const { when } = declaration;
  const condition = when === null ? null : inferCondition(when, ctx);
  const presence = both(ctx.presence, condition?.whenTrue ?? nothingKnown);
  const argument = readArgument(declaration, { ...ctx, presence });
  const per = declaration.per.map((path) => readKey(path, { ...ctx, actions: spokenOf }));
  const over = readWindow(declaration.over, env);
  const keys = per.filter((key) => key !== null);
  const ownCurrency = currencyKey(argument?.expression ?? null, keys);
  const summed = { argument: argument?.expression ?? null, ownCurrency };
  const type = argument === null ? null : readingType(declaration, summed, env);
  const isOpen = since.length > 0 && restarting.keys.length === 0;
  const isFailed =
    type === null || over === null || keys.length < per.length || actions.keys.length === 0 || isOpen;
  if (isFailed || argument === null || (condition !== null && condition.expression === null)) {
    env.leaveOut(declaration.span);
    return null;
  }
  return {
    name: declaration.name.text,
    aggregate: declaration.aggregate,
    argument: argument.expression,
    currency: type.kind === 'money' ? (declaration.currency?.text ?? ownCurrency) : null,
    actions: actions.keys,
    when: condition?.expression ?? null,
    since: restarting.keys,
    per: keys,
    over,
    readsResult: [argument.expression, condition?.expression ?? null].some(readsResult),
    type,
  };
}

function readWindow(node: MeterDeclaration['over'], env: Environment): MeterWindow | null {
  if (node.kind === 'duration') {
    const seconds = readSeconds(node, env);
    return seconds === null ? null : { kind: 'last', seconds };
  }
  const { period, zone } = node;
  if (isZone(zone.value)) return { kind: 'calendar', period, zone: zone.value };
  env.report(zoneUnknown(zone));
  return null;
}

/**
 * Whether the expression reads what a call returned. A let cannot read results, so lets are not looked into.
 */
function readsResult(expression: Expression | null): boolean {
  if (expression === null) return false;
  const isRead = expression.kind === 'field' && expression.root === 'result';
  return isRead || childrenOf(expression).some(readsResult);
}

/**
 * Returns the argument, with a null expression for `count()`; null, with a diagnostic, when the argument is
 * in error.
 */
function readArgument(
  { argument, aggregate }: MeterDeclaration,
  ctx: Context,
): { readonly expression: Expression | null } | null {
  if (aggregate === 'count') return { expression: null };
  if (argument === null) return null;
  const expression = inferValue(argument, ctx);
  return expression === null ? null : { expression };
}

/** Returns the key after `per` that is the currency of all summed amounts; null when no key is. */
function currencyKey(argument: Expression | null, keys: readonly MeterKey[]): FieldRead | null {
  if (argument?.type.kind !== 'money') return null;
  const amounts = descendants(argument).filter(
    ({ type, kind }) => type.kind === 'money' && !joining.has(kind),
  );
  const reads = keys.flatMap((key) => (key.kind === 'payload' ? [key.read] : []));
  const isOfAll = (read: FieldRead): boolean => amounts.every((amount) => isCurrencyOf(read, amount));
  return reads.find(isOfAll) ?? null;
}

/** Kinds of expressions whose amounts are those of their parts. */
const joining: ReadonlySet<Expression['kind']> = new Set([
  ...(['arithmetic', 'negate', 'call', 'if', 'else', 'quantify'] as const),
]);

function isCurrencyOf(read: FieldRead, amount: Expression): boolean {
  const currency = amount.kind === 'field' ? currencyLocation(amount.type, amount) : null;
  return currency !== null && spelledPath(currency) === spelledPath(read);
}

interface SumArgument {
  readonly argument: Expression | null;
  /**
   * The currency among the meter's keys: the meter keeps one sum for each currency. Null when no key is the
   * currency.
   */
  readonly ownCurrency: FieldRead | null;
}

function readingType(
  declaration: MeterDeclaration,
  { argument, ownCurrency }: SumArgument,
  env: Environment,
): Type | null {
  const { aggregate, currency } = declaration;
  const sumsMoney = aggregate === 'sum' && argument?.type.kind === 'money';
  if (currency !== null && !sumsMoney) {
    env.report(meterCurrencyNeedless(currency));
    return null;
  }
  if (argument === null) return quantity('integer');
  if (aggregate === 'distinct') {
    if (isComparable(argument.type)) return quantity('integer');
    env.report(distinctUnfit(argument));
    return null;
  }
  if (isNumeric(argument.type)) return quantity(argument.type.kind as 'number' | 'integer');
  if (!sumsMoney) {
    env.report(sumUnfit(argument));
    return null;
  }
  if (currency === null && ownCurrency !== null) return moneyType;
  if (currency === null) env.report(meterCurrencyMissing(argument));
  else if (!isCurrency(currency.text)) env.report(unknownCurrency(currency.span, currency.text));
  else return moneyType;
  return null;
}

const bareKeys = ['agent', 'owner', 'session', 'user', 'delegate'] as const;

function readKey(path: Path, ctx: Context): MeterKey | null {
  const { root, steps } = path;
  const kind = bareKeys.find((one) => one === root.text);
  if (kind !== undefined && steps.length === 0) return { kind };
  if (root.text !== 'payload' || steps.length === 0) {
    if (root.text !== '') ctx.env.report(meterKeyUnknown(path));
    return null;
  }
  const field = resolveField(path, ctx);
  if (field === null) return null;
  if (isKeyField(field)) return { kind: 'payload', read: field.read };
  ctx.env.report(meterKeyUnfit(field.read));
  return null;
}

/** Whether every request has one plain value in the field. */
export function isKeyField({ nodes, read }: NonNullable<ReturnType<typeof resolveField>>): boolean {
  const isRequired = nodes.at(-1)?.isCertain === true;
  return isRequired && isComparable(read.type) && read.type.kind !== 'money' && !read.isSecret;
}
