// Warns of a guard over a band of amounts, such as `x > 100 and x < 1000`, when no other guard covers larger
// amounts while an `allow` still grants them: the larger amounts, which matter more, pass unguarded.

import type { FieldRead } from '../../../model/expression.ts';
import { isGuard } from '../../../model/policy.ts';
import { compare, type Decimal } from '../../../value/decimal.ts';
import { isAlwaysTrue, isImpossible } from '../../logic/domains.ts';
import type { DomainAtom, Values } from '../../logic/value-sets.ts';
import { warning } from '../../messages/problem.ts';
import { lazily } from '../engine/lazily.ts';
import type { RuleInPolicy } from '../engine/rule-in-policy.ts';
import type { ExaminedRule, GroupRule } from '../engine/rule-subjects.ts';
import { inOrder, type RuleGroup, rulesByActions } from '../engine/rules-by-actions.ts';
import { boundsIn } from './upper-bound-alone.ts';

type Interval = Extract<Values, { kind: 'range' }>;

export function guardStopsShort(checked: ExaminedRule): GroupRule {
  const isMet = lazily(() =>
    reachesOf(
      checked.rules().filter(({ rule }) => isGuard(rule)),
      checked,
    ),
  );
  const firstGrant = lazily(() => grantsOf(checked.rules().filter(({ rule }) => rule.effect === 'allow')));
  return ({ rules }) => {
    for (const one of rules) {
      if (!isGuard(one.rule) || one.statement.isEmpty) continue;
      for (const above of endsOf(one)) {
        const grant = isMet()(one, above) ? undefined : firstGrant()(one, above);
        if (grant !== undefined) report(one, grant, checked);
      }
    }
  };
}

/**
 * Returns a function that tells whether another guard, of at least one of the actions, can be true of amounts
 * above an end.
 */
function reachesOf(
  guards: readonly RuleInPolicy[],
  checked: ExaminedRule,
): (one: RuleInPolicy, above: Threshold) => boolean {
  const { overlapping } = rulesByActions(guards);
  const furthest = new Map<RuleGroup<RuleInPolicy>, Map<string, readonly Reach[]>>();
  const furthestIn = (group: RuleGroup<RuleInPolicy>, key: string): readonly Reach[] => {
    const byKey = furthest.get(group) ?? new Map<string, readonly Reach[]>();
    furthest.set(group, byKey);
    const reaches = byKey.get(key) ?? twoFurthest(group.rules.map((one) => reachOf(one, key, checked)));
    byKey.set(key, reaches);
    return reaches;
  };
  return (one, { key, high }) =>
    overlapping(one.actions).some((group) =>
      furthestIn(group, key).some((reach) => reach.one !== one && goesAbove(reach, high)),
    );
}

/** How far up a guard reaches: without end, to an end, or not at all. */
interface Reach {
  readonly one: RuleInPolicy;
  readonly high: Decimal | 'endless' | 'none';
}

const knownReaches = new WeakMap<RuleInPolicy, Map<string, Reach>>();

function reachOf(one: RuleInPolicy, key: string, checked: ExaminedRule): Reach {
  let reaches = knownReaches.get(one);
  if (reaches === undefined) {
    reaches = new Map();
    knownReaches.set(one, reaches);
  }
  const reach = reaches.get(key) ?? newReach(one, key, checked);
  reaches.set(key, reach);
  return reach;
}

function newReach(one: RuleInPolicy, key: string, { valueOfLet }: ExaminedRule): Reach {
  if (isAlwaysTrue(one.rule.condition, valueOfLet)) return { one, high: 'endless' };
  const band = bandsOf(one).get(key);
  if (band !== undefined) return { one, high: band.high?.value ?? 'endless' };
  // The guard has no band for the amount, but a part of its condition may bound the amount from below.
  return { one, high: boundsIn(one, 'low').some((field) => speaksOf(field, key)) ? 'endless' : 'none' };
}

/** Returns the two furthest reaches, because one of them may be that of the guard in question. */
function twoFurthest(reaches: readonly Reach[]): readonly Reach[] {
  const further = (a: Reach, b: Reach): Reach => (isFurther(b, a) ? b : a);
  const [first, ...rest] = reaches;
  if (first === undefined) return [];
  const furthest = rest.reduce(further, first);
  const others = reaches.filter((reach) => reach !== furthest);
  return others.length === 0 ? [furthest] : [furthest, others.reduce(further)];
}

function isFurther(a: Reach, b: Reach): boolean {
  if (b.high === 'endless' || a.high === 'none') return false;
  return a.high === 'endless' || b.high === 'none' || compare(a.high, b.high) > 0;
}

function goesAbove({ high }: Reach, end: Decimal): boolean {
  return high === 'endless' || (high !== 'none' && compare(high, end) > 0);
}

/**
 * Returns a function that finds the first `allow` of at least one of the guard's actions that grants amounts
 * above the guard's end, in requests that pass the guard's other tests.
 */
function grantsOf(
  allows: readonly RuleInPolicy[],
): (one: RuleInPolicy, above: Threshold) => RuleInPolicy | undefined {
  const { overlapping } = rulesByActions(allows);
  const open = new Map<string, AllowsByText>();
  const openAbove = (actions: readonly string[], key: string): AllowsByText => {
    const groups = overlapping(actions);
    const name = `${groups.map(({ rules }) => rules[0]!.rule.id).join('\n')} ${key}`;
    const allows = open.get(name) ?? allowsByText(inOrder(groups).filter((allow) => !isBounded(allow, key)));
    open.set(name, allows);
    return allows;
  };
  return (one, { key, others }) =>
    candidatesFor(others, openAbove(one.actions, key)).find(
      ({ atoms }) => !isImpossible([...others, ...atoms]),
    );
}

function isBounded(allow: RuleInPolicy, key: string): boolean {
  return boundsIn(allow, 'high').some((field) => speaksOf(field, key));
}

/**
 * `allow` rules in order, and indexed by the texts that they require: a guard about one vendor then skips the
 * `allow` rules about other vendors.
 */
interface AllowsByText {
  readonly all: readonly RuleInPolicy[];
  readonly byKey: Map<string, { readonly free: readonly number[]; readonly byText: Map<string, number[]> }>;
}

function allowsByText(all: readonly RuleInPolicy[]): AllowsByText {
  return { all, byKey: new Map() };
}

/** The most `allow` rules that are tried one by one, without the index. */
const triedMax = 16;

/** Returns, in order, the `allow` rules that the guard's test of one text does not exclude. */
function candidatesFor(others: readonly DomainAtom[], allows: AllowsByText): readonly RuleInPolicy[] {
  const { all } = allows;
  const atom = others.find(
    ({ values }) => values.kind === 'texts' && !values.isComplement && values.texts.size === 1,
  );
  if (all.length <= triedMax || atom?.values.kind !== 'texts') return all;
  const { free, byText } = textsOf(atom.key, allows);
  const [text = ''] = atom.values.texts;
  const places = [...free, ...(byText.get(text) ?? [])].sort((a, b) => a - b);
  return places.map((at) => all[at]!);
}

function textsOf(
  key: string,
  { all, byKey }: AllowsByText,
): { free: readonly number[]; byText: Map<string, number[]> } {
  const cached = byKey.get(key);
  if (cached !== undefined) return cached;
  const free: number[] = [];
  const byText = new Map<string, number[]>();
  for (const [at, { statement }] of all.entries()) {
    const left = statement.left.get(key);
    if (left?.kind !== 'texts' || left.isComplement) free.push(at);
    else for (const text of left.texts) byText.set(text, [...(byText.get(text) ?? []), at]);
  }
  const made = { free, byText };
  byKey.set(key, made);
  return made;
}

function report(one: RuleInPolicy, grant: RuleInPolicy, { env }: ExaminedRule): void {
  const message = `\`${one.rule.name}\` ends at an amount above which \`${grant.rule.id}\` still grants`;
  env.report(
    warning('guard-stops-short', one.name, message, {
      help: 'drop the upper bound, or add a guard for what lies above it',
      related: [{ span: grant.name, message: 'this also grants the larger amounts' }],
    }),
  );
}

/** Where the band ends, and the guard's other tests. */
interface Threshold {
  readonly key: string;
  readonly high: Decimal;
  readonly others: readonly DomainAtom[];
}

/**
 * Returns the upper ends of amounts of the payload that have a lower end too, if the type of the amount
 * allows larger amounts.
 */
function endsOf(one: RuleInPolicy): readonly Threshold[] {
  return [...bandsOf(one)].flatMap(([key, { low, high }]) => {
    const all = one.atoms.find((atom) => atom.key === key)?.all;
    const top = all?.kind === 'range' ? all.high : null;
    if (low === null || high === null || (top !== null && compare(top.value, high.value) <= 0)) return [];
    // A guard about one amount, such as `x == 4`, is no band.
    if (compare(low.value, high.value) === 0) return [];
    return [{ key, high: high.value, others: one.atoms.filter((atom) => atom.key !== key) }];
  });
}

/**
 * Returns the ends that the whole condition gives to amounts of the payload, without ends that come only from
 * their types.
 */
function bandsOf(one: RuleInPolicy): ReadonlyMap<string, Interval> {
  const ranges = knownBands.get(one) ?? newBands(one);
  knownBands.set(one, ranges);
  return ranges;
}

const knownBands = new WeakMap<RuleInPolicy, ReadonlyMap<string, Interval>>();

function newBands({ atoms, statement }: RuleInPolicy): ReadonlyMap<string, Interval> {
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

function speaksOf(field: FieldRead, key: string): boolean {
  return key.startsWith(JSON.stringify([field.root, ...field.steps]));
}
