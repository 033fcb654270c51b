// Warns of amounts that are bounded only from above. An `allow` with `amount <= 100` also grants -1,000,000,
// and so does one that bounds a sum, a product or a let of the amount. In a meter, a negative amount makes
// room for further grants below its limit, whichever rule holds the limit.

import type { Compare, Expression, FieldRead, MeterRead } from '../../../model/expression.ts';
import type { Meter } from '../../../model/policy.ts';
import type { ValueOfLet } from '../../logic/constants.ts';
import { domainAtomsOf, fieldKey } from '../../logic/domains.ts';
import { type Driver, driversOf, type RangeEnd } from '../../logic/drivers.ts';
import type { Part, Polarity } from '../../logic/polarity.ts';
import { structureOf } from '../../logic/structure.ts';
import type { DomainAtom } from '../../logic/value-sets.ts';
import { spelledPath } from '../../messages/path-errors.ts';
import { warning } from '../../messages/problem.ts';
import { quantifiersIn } from '../engine/declared-field.ts';
import type { RuleInPolicy } from '../engine/rule-in-policy.ts';
import type { ConditionScope, ExaminedRule } from '../engine/rule-subjects.ts';

export function upperBoundAlone({ enforced, env, valueOfLet }: ConditionScope): void {
  for (const one of enforced) {
    if (one.rule.effect !== 'allow') continue;
    const bounded = new Set(boundedIn(one, 'low').map((node) => boundKey(node, one.parts)));
    const reported = new Set<string>();
    for (const { low, high } of comparisonsIn(one)) {
      const isWholeBounded = low !== null && bounded.has(boundKey(low, one.parts));
      for (const { node } of isWholeBounded ? [] : falling({ low, high }, valueOfLet)) {
        if (node.kind !== 'field' || !isOpenBelow(node)) continue;
        const key = boundKey(node, one.parts);
        if (bounded.has(key) || reported.has(key)) continue;
        reported.add(key);
        const text = spelledPath(node);
        env.report(
          warning('upper-bound-alone', node.span, `\`${text}\` has only an upper bound`, {
            help: `declare its range, such as \`0..\`, or write \`${text} in ${node.type.kind === 'money' ? '0 USD..100 USD' : '0..100'}\``,
          }),
        );
      }
    }
  }
}

/** Warns of meters that limit something and add up amounts that may be negative. */
export function metersLowered({ set, rulesByAction: grouped, env, valueOfLet }: ExaminedRule): void {
  const open = new Map([...set.meters].map(([name, meter]) => [name, loweringFields(meter, valueOfLet)]));
  for (const [name, fields] of open) {
    const meter = set.meters.get(name)!;
    const isLimit = (one: RuleInPolicy): boolean => limitsBy(one, name, valueOfLet);
    if (fields.length === 0 || !grouped.groups.some(({ rules }) => rules.some(isLimit))) continue;
    for (const { field, side } of fields) {
      if (side === 'low' && isNeverNegative(field, meter, { rulesByAction: grouped, valueOfLet })) continue;
      const text = spelledPath(field);
      env.report(
        warning(
          'upper-bound-alone',
          field.span,
          `\`${text}\` may make an entry negative, which lowers \`${name}\``,
          {
            help: 'declare its range, such as `0..`: otherwise one request makes room for others below the limit',
          },
        ),
      );
    }
  }
}

/** What makes an entry of the meter negative, at one of its ends. */
function loweringFields({ aggregate, argument }: Meter, valueOfLet: ValueOfLet): readonly SubtractedField[] {
  if (aggregate !== 'sum' || argument === null) return [];
  return driversOf(argument, 'low', valueOfLet).flatMap(({ node, side }) =>
    node.kind === 'field' && mayPassZero(node, side) ? [{ field: node, side }] : [],
  );
}

interface SubtractedField {
  readonly field: FieldRead;
  readonly side: RangeEnd;
}

/** Whether the rule stops, or no longer grants, when the meter is high. */
function limitsBy(one: RuleInPolicy, meter: string, valueOfLet: ValueOfLet): boolean {
  if (!one.meterReads.some(({ read }) => read.meter === meter)) return false;
  const isOf = ({ node, side }: Driver): boolean =>
    node.kind === 'meter' && node.meter === meter && side === 'low';
  return comparisonsIn(one, one.rule.effect === 'allow' ? 1 : -1).some((ends) =>
    falling(ends, valueOfLet).some(isOf),
  );
}

/**
 * Whether no grant that the meter counts can have a negative value of the field: its condition says so, or
 * for each action all that allows it, or a `deny`.
 */
function isNeverNegative(
  field: FieldRead,
  { when, actions }: Meter,
  { rulesByAction: grouped, valueOfLet }: Pick<ExaminedRule, 'rulesByAction' | 'valueOfLet'>,
): boolean {
  const isBoundIn = (atoms: readonly DomainAtom[]): boolean => atoms.some((atom) => isAboveZero(atom, field));
  if (when !== null && isBoundIn(domainAtomsOf(when, true, valueOfLet))) return true;
  return actions.every((action) => {
    const rules = grouped.about(action).flatMap((group) => group.rules);
    const denies = rules.filter(({ rule }) => rule.effect === 'deny');
    return (
      denies.some(({ rule }) => isBoundIn(domainAtomsOf(rule.condition, false, valueOfLet))) ||
      rules.every(({ rule, atoms }) => rule.effect !== 'allow' || isBoundIn(atoms))
    );
  });
}

function isAboveZero({ key, values }: DomainAtom, field: FieldRead): boolean {
  const isOfField = field.root === 'payload' && key.startsWith(`${fieldKey(field)} `);
  return isOfField && values.kind === 'range' && values.low !== null && values.low.value.coefficient >= 0n;
}

/** Returns the fields that a comparison of the condition bounds on this side. */
export function boundsIn(one: Pick<RuleInPolicy, 'parts'>, side: RangeEnd): readonly FieldRead[] {
  return boundedIn(one, side).flatMap((node) => (node.kind === 'field' ? [node] : []));
}

/** What is at most `high` of one comparison: the two sides of `low <= high`, with null for a constant range. */
interface Ends {
  readonly low: Expression | null;
  readonly high: Expression | null;
}

/** The comparisons that hold when the condition does, or for a `direction` of -1, when it does not. */
function comparisonsIn({ parts }: Pick<RuleInPolicy, 'parts'>, direction: 1 | -1 = 1): readonly Ends[] {
  return parts.flatMap(({ node, polarity }): readonly Ends[] => {
    if (node.kind === 'in-range') return direction === 1 ? [{ low: node.subject, high: null }] : [];
    if (node.kind !== 'compare' || node.operator === '!=' || node.operator === '==') return [];
    return isLess(node, (polarity * direction) as Polarity)
      ? [{ low: node.left, high: node.right }]
      : [{ low: node.right, high: node.left }];
  });
}

function isLess({ operator }: Compare, polarity: Polarity): boolean {
  return (operator === '<' || operator === '<=') === polarity >= 0;
}

/** What may fall without end and leaves the comparison true. */
function falling({ low, high }: Ends, valueOfLet: ValueOfLet): readonly Driver[] {
  const drivers = [
    ...(low === null ? [] : driversOf(low, 'low', valueOfLet)),
    ...(high === null ? [] : driversOf(high, 'high', valueOfLet)),
  ];
  return drivers.filter(({ side }) => side === 'low');
}

/** Returns the expressions that a comparison of the condition bounds on this side. */
function boundedIn({ parts }: Pick<RuleInPolicy, 'parts'>, side: RangeEnd): readonly Expression[] {
  return parts.flatMap(({ node, polarity }) => {
    if (node.kind === 'in-range') return [node.subject];
    if (node.kind !== 'compare' || node.operator === '!=') return [];
    if (node.operator === '==') return [node.left, node.right];
    return isLess(node, polarity) === (side === 'high') ? [node.left] : [node.right];
  });
}

/** A key for what is bounded; a field of an element has the key of its list, whatever its variable is called. */
function boundKey(node: Expression, parts: readonly Part[]): string {
  return node.kind === 'field' ? placeKey(node, parts) : structureOf(node);
}

function placeKey(field: FieldRead, parts: readonly Part[]): string {
  const [source] = quantifiersIn(parts).get(field.root)?.sources ?? [];
  if (source?.kind !== 'field') return fieldKey(field);
  return `${placeKey(source, parts)}[] ${field.steps.join('.')}`;
}

function isOpenBelow({ type }: FieldRead | MeterRead): boolean {
  const isAmount = type.kind === 'number' || type.kind === 'integer' || type.kind === 'money';
  return isAmount && type.range.low === null;
}

/** Whether the type admits values beyond zero on the side. */
function mayPassZero({ type }: FieldRead, side: RangeEnd): boolean {
  const isAmount = type.kind === 'number' || type.kind === 'integer' || type.kind === 'money';
  if (!isAmount) return false;
  const { [side]: end } = type.range;
  return end === null || (side === 'low' ? end.coefficient < 0n : end.coefficient > 0n);
}
