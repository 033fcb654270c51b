// Warns of an amount that is compared with money of a currency that its field cannot have. The comparison is
// unknown for every request: a guard then always stops, an `allow` never grants.

import { currencyLocation } from '../../../model/currency.ts';
import type { Expression, FieldRead } from '../../../model/expression.ts';
import type { Shape, Type } from '../../../model/type.ts';
import type { Environment } from '../../incremental/environment.ts';
import { constantValue, type ValueOfLet } from '../../logic/constants.ts';
import { payloadField } from '../../logic/payload-paths.ts';
import { warning } from '../../messages/problem.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';

export function currencyNeverEqual({ enforced, env, valueOfLet }: ConditionScope): void {
  for (const { parts, actions } of enforced) {
    for (const { node } of parts) {
      if (node.kind !== 'compare' && node.kind !== 'in-range') continue;
      const [field, constants] = comparedMoney(node);
      const currencies = field === null ? null : currenciesOf(field, actions, env);
      if (field === null || currencies === null) continue;
      for (const constant of constants) {
        const currency = currencyOf(constant, valueOfLet);
        if (currency === null || currencies.has(currency)) continue;
        const held = [...currencies].map((each) => `\`${each}\``).join(', ');
        env.report(
          warning('currency-never-equal', constant.span, `the amount is never in \`${currency}\``, {
            help: `its field has ${held}: amounts of two currencies are never compared`,
          }),
        );
      }
    }
  }
}

/** Returns the currency of a constant amount; null for any other expression. */
export function currencyOf(constant: Expression, valueOfLet: ValueOfLet): string | null {
  const value = constantValue(constant, valueOfLet);
  const isAmount = typeof value === 'object' && value !== null && 'currency' in value;
  return isAmount ? String(value.currency) : null;
}

/**
 * Returns an amount of the payload and the expressions that it is compared with; null for the amount when
 * there is none.
 */
export function comparedMoney(node: Expression): readonly [FieldRead | null, readonly Expression[]] {
  if (node.kind === 'in-range') return [moneyField(node.subject), [node.low, node.high]];
  if (node.kind !== 'compare') return [null, []];
  const left = moneyField(node.left);
  return left === null ? [moneyField(node.right), [node.left]] : [left, [node.right]];
}

function moneyField(node: Expression): FieldRead | null {
  return node.kind === 'field' && node.root === 'payload' && node.type.kind === 'money' ? node : null;
}

/**
 * Returns the currencies that the field can have in the actions; null when any action leaves the currency
 * open.
 */
export function currenciesOf(
  field: FieldRead,
  actions: readonly string[],
  env: Environment,
): ReadonlySet<string> | null {
  const currencies = new Set<string>();
  for (const key of actions) {
    const steps = currencyLocation(field.type, field)?.steps ?? [];
    const shape = shapeAround(env.query('shape', key), steps.slice(0, -1));
    const type = shape === undefined ? undefined : payloadField(shape, steps.at(-1) ?? '')?.type;
    if (type === undefined) continue;
    if (type.kind !== 'text' || type.values === null) return null;
    for (const value of type.values) currencies.add(value);
  }
  return currencies;
}

function shapeAround(shape: Shape | undefined, steps: readonly string[]): Shape | undefined {
  let current = shape;
  for (const step of steps) {
    const type: Type | undefined = current === undefined ? undefined : payloadField(current, step)?.type;
    current = type?.kind === 'record' ? type.shape : undefined;
  }
  return current;
}
