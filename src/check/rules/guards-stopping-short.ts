// A guard over a band of amounts, such as `x > 100 and x < 1000`, beside which nothing guards what lies above while an
// `allow` still grants it: the larger amounts, which matter more, pass unguarded.

import type { FieldRead } from '../../model/expression.ts';
import { compare, type Decimal } from '../../value/decimal.ts';
import { type Atom, isAlwaysTrue, isImpossible, type Values } from '../domains.ts';
import { warning } from '../problem.ts';
import { boundsIn } from './upper-bounds-alone.ts';
import type { Checked, RuleInPolicy } from './warn.ts';

type Interval = Extract<Values, { kind: 'range' }>;

export function guardsStoppingShort(checked: Checked): void {
  const guards = checked.enforced.filter(({ rule }) => isGuard(rule)).map((one) => reachOf(one, checked));
  const allows = checked.enforced.filter(({ rule }) => rule.effect === 'allow');
  for (const { one } of guards) {
    if (one.statement.isEmpty) continue;
    for (const above of endsOf(one)) {
      const isMet = guards.some(
        (other) => other.one !== one && reaches(other, above) && meet(other.one, one),
      );
      const grant = isMet ? undefined : allows.find((allow) => meet(allow, one) && grants(allow, above));
      if (grant !== undefined) report(one, grant, checked);
    }
  }
}

/** Whether some action is spoken of by both. */
function meet(a: RuleInPolicy, b: RuleInPolicy): boolean {
  return a.actions.some((key) => b.actions.includes(key));
}

/** Whether the `allow` may be true above the end, and of requests that the guard is about. */
function grants({ parts, atoms }: RuleInPolicy, { key, others }: Above): boolean {
  const isBounded = boundsIn({ parts }, 'high').some((field) => speaksOf(field, key));
  return !isBounded && !isImpossible([...others, ...atoms]);
}

function report(one: RuleInPolicy, grant: RuleInPolicy, { env }: Checked): void {
  const message = `\`${one.rule.name}\` ends at an amount above which \`${grant.rule.id}\` still grants`;
  env.report(
    warning('guard-stops-short', one.name, message, {
      help: 'drop the upper bound, or add a guard for what lies above it',
      related: [{ span: grant.name, message: 'this also grants the larger amounts' }],
    }),
  );
}

/** Where the band ends, and what else the guard asks for. */
interface Above {
  readonly key: string;
  readonly high: Decimal;
  readonly others: readonly Atom[];
}

function isGuard({ effect }: RuleInPolicy['rule']): boolean {
  return effect === 'deny' || effect === 'escalate' || effect === 'reauth';
}

/** Upper ends of the amounts of the payload that have a lower one too, where larger amounts can be. */
function endsOf(one: RuleInPolicy): readonly Above[] {
  return [...bandsOf(one)].flatMap(([key, { low, high }]) => {
    const all = one.atoms.find((atom) => atom.key === key)?.all;
    const top = all?.kind === 'range' ? all.high : null;
    if (low === null || high === null || (top !== null && compare(top.value, high.value) <= 0)) return [];
    return [{ key, high: high.value, others: one.atoms.filter((atom) => atom.key !== key) }];
  });
}

/** Ends that the whole condition gives to amounts of the payload; those of their types alone do not count. */
function bandsOf({ atoms, statement }: RuleInPolicy): ReadonlyMap<string, Interval> {
  const bands = new Map<string, Interval>();
  for (const [key, left] of statement.left) {
    if (left.kind !== 'range' || !key.startsWith('["payload"')) continue;
    const written = atoms.flatMap(({ key: of, values }) =>
      of === key && values.kind === 'range' ? [values] : [],
    );
    const [hasLow, hasHigh] = [
      written.some(({ low }) => low !== null),
      written.some(({ high }) => high !== null),
    ];
    bands.set(key, { kind: 'range', low: hasLow ? left.low : null, high: hasHigh ? left.high : null });
  }
  return bands;
}

/** How far up a guard goes. */
interface Reach {
  readonly one: RuleInPolicy;
  readonly isAlwaysTrue: boolean;
  readonly bands: ReadonlyMap<string, Interval>;
  /** Fields that it bounds from below in some part. */
  readonly lows: readonly FieldRead[];
}

function reachOf(one: RuleInPolicy, { valueOfLet }: Checked): Reach {
  return {
    one,
    isAlwaysTrue: isAlwaysTrue(one.rule.condition, valueOfLet),
    bands: bandsOf(one),
    lows: boundsIn(one, 'low'),
  };
}

/** Whether the guard can be true of amounts above. */
function reaches(other: Reach, { key, high }: Above): boolean {
  const band = other.bands.get(key);
  if (other.isAlwaysTrue) return true;
  if (band === undefined) return other.lows.some((field) => speaksOf(field, key));
  return band.high === null || compare(band.high.value, high) > 0;
}

function speaksOf(field: FieldRead, key: string): boolean {
  return key.startsWith(JSON.stringify([field.root, ...field.steps]));
}
