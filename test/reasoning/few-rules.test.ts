// Comparisons of actions with many rules, most of which are left out or left open at first: the findings
// equal those with all rules.

import { describe, expect, it } from 'vitest';
import type { PolicySet } from '../../src/language/model/policy.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import { createRandom, type RandomSource } from '../../src/language/value/random.ts';
import { checkSources } from '../../src/pipeline.ts';
import { diffPolicies, type PolicyDiff } from '../../src/reasoning/diff/diff.ts';
import { jointRulesOf } from '../../src/reasoning/diff/few-rules.ts';
import { jointSet } from '../../src/reasoning/diff/joint-set.ts';

const head = `approvers boss "Boss"
approvers desk "Desk"
meter spent = sum(payload.amount) of pay.make per agent over 24h
action pay.make { amount: number 0..1000, vendor: string 1..20, currency: "USD" | "EUR", urgent?: boolean, tags: [string ..20] ..5 }
`;

const effects = ['deny', 'deny', 'escalate', 'escalate', 'allow', 'reauth'] as const;
const clauses = { deny: '', escalate: 'to boss ', allow: '', reauth: '' } as const;

const conditions: readonly ((at: RandomSource) => string)[] = [
  (at) => `payload.vendor == "v${at.below(30)}" and payload.amount > ${at.below(10) * 100}`,
  (at) =>
    `payload.amount in ${at.below(5) * 100}..${500 + at.below(5) * 100} and payload.vendor == "v${at.below(30)}"`,
  (at) => `payload.vendor starts with "v${at.below(30)}" and (payload.urgent else false)`,
  (at) =>
    `payload.amount >= ${at.below(10) * 100} and agent.risk_tier == "high" and payload.vendor != "v${at.below(30)}"`,
  (at) => `risk >= ${at.below(9) * 10} and payload.vendor in ["v${at.below(30)}", "v${at.below(30)}"]`,
  (at) => `spent > ${at.below(9) * 1_000} and payload.vendor != "v${at.below(30)}"`,
  (at) => `some tag in payload.tags (tag == "t${at.below(30)}")`,
];

interface MadeRule {
  readonly name: string;
  readonly text: string;
}

function madeRule(at: RandomSource, number: number): MadeRule {
  const name = `r${number}`;
  const effect = effects[at.below(effects.length)]!;
  // The condition of an `allow` may not become true as risk rises.
  const condition = conditions[at.below(effect === 'allow' ? 4 : conditions.length)]!;
  const to = effect === 'escalate' && at.below(4) === 0 ? 'to desk ' : clauses[effect];
  return { name, text: `${effect} ${name} ${to}when ${condition(at)}` };
}

function setOf(rules: readonly MadeRule[]): PolicySet {
  const body = rules.map(({ text }) => `  ${text}\n`).join('');
  const text = `${head}policy p on pay.make {\n  allow small when payload.amount <= 700\n  risk odd +30 when (payload.urgent else false)\n${body}}\n`;
  const { set, diagnostics } = checkSources({
    files: [{ path: 'a.policy', text }],
    readListFile: (path) => ({ code: 'list-file-missing', message: path }),
  });
  const wrong = diagnostics.find(({ severity }) => severity === 'error');
  if (set === null || wrong !== undefined) throw new Error(wrong?.message);
  return set;
}

/**
 * The changed decisions by action. Descriptions are left out, because several may describe the same change.
 */
function turnsOf({ findings, limits }: PolicyDiff): readonly string[] {
  const kinds = findings.map(({ tier, difference, from, to }) => `${tier} ${difference} ${from} ${to}`);
  return [...new Set([...kinds, ...limits.map((one) => JSON.stringify(one))])].sort();
}

/** Whether each request of one comparison's findings is in a finding of the other with the same change. */
function isCovered(one: PolicyDiff, by: PolicyDiff): boolean {
  return one.findings.every(({ tier, difference, from, to, example }) =>
    by.findings.some(
      (other) =>
        other.tier === tier &&
        other.difference === difference &&
        other.from === from &&
        other.to === to &&
        example !== null &&
        other.isMetBy(example.facts),
    ),
  );
}

function changedSets(
  seed: number,
  changes: number,
): { readonly before: PolicySet; readonly after: PolicySet } {
  const random = createRandom(seed);
  const rules = Array.from({ length: 50 }, (_, number) => madeRule(random, number));
  let now = rules;
  for (let change = 0; change < changes; change += 1) {
    const place = random.below(now.length);
    const isGone = random.below(4) === 0;
    const number = Number(now[place]!.name.slice(1));
    now = now.toSpliced(place, 1, ...(isGone ? [] : [madeRule(random, number)]));
  }
  return { before: setOf(rules), after: setOf(now) };
}

/** The findings for a removed rule, with few rules and with all rules. */
function withoutRule(gone: string, others: readonly string[]): readonly PolicyDiff[] {
  const made = (texts: readonly string[]): PolicySet =>
    setOf(texts.map((text, at) => ({ name: `r${at}`, text })));
  const [before, after] = [made([gone, ...others]), made(others)];
  return [1, Number.POSITIVE_INFINITY].map((manyRules) => diffPolicies(before, after, { manyRules }));
}

function wordsOf({ findings }: PolicyDiff): readonly string[] {
  return findings
    .filter(({ tier }) => tier < 6)
    .map(({ from, to, when }) => `${from} ${to}: ${when.join(' and ')}`);
}

/** Names of the rules that are left out, because they have no effect when the rule `r0` changes. */
function leftOut([old, now]: readonly [string, string], others: readonly string[]): readonly string[] {
  const made = (changed: string): PolicySet =>
    setOf([changed, ...others].map((text, at) => ({ name: `r${at}`, text })));
  const { out } = jointRulesOf(jointSet(made(old), made(now)), 'pay.make', 1);
  return others.map((text) => text.split(' ')[1]!).filter((name) => out.has(`p/${name}`));
}

const many = Array.from({ length: 40 }, (_, at) => `w${at}`);

describe('a rule that nothing is asked of', () => {
  it('is false of each number at which a change makes a difference', () => {
    const change = ['deny r0 when payload.amount > 100', 'deny r0 when payload.amount > 200'] as const;
    const acting = [
      'deny between when payload.amount > 150',
      'deny at_end when payload.amount >= 200',
      'deny at_one when payload.amount == 120',
      'deny below when payload.amount < 101',
      'deny across when payload.amount in 0..1000',
      'deny beside when payload.amount != 150',
      'deny not_a_constant when payload.amount * 2 > 300',
      'deny other_field when payload.vendor == "v1"',
    ];
    const idle = [
      'deny above when payload.amount > 200',
      'deny up_to_it when payload.amount <= 100',
      'deny at_another when payload.amount == 100',
      'deny far when payload.amount in 201..300',
      'deny both when payload.vendor == "v1" and payload.amount > 500',
    ];
    expect(leftOut(change, [...acting, ...idle])).toEqual(idle.map((text) => text.split(' ')[1]));
  });

  it('is false of each text at which a change makes a difference', () => {
    const change = ['deny r0 when payload.vendor == "v1"', 'deny r0 when payload.vendor == "v2"'] as const;
    const others = ['deny same when payload.vendor == "v2"', 'deny other when payload.vendor == "v3"'];
    expect(leftOut(change, others)).toEqual(['other']);
  });

  it('is false of each text that is not named', () => {
    const change = [
      'deny r0 when payload.vendor like "a*"',
      'deny r0 when payload.vendor like "ab*"',
    ] as const;
    const acting = [
      'deny within when payload.vendor like "ac*"',
      'deny after when payload.vendor contains "b"',
      'deny all when payload.vendor like "*"',
    ];
    const idle = [
      'deny beside when payload.vendor like "b*"',
      'deny neither when payload.vendor matches "[0-9]+" and payload.amount > 3',
    ];
    expect(leftOut(change, [...acting, ...idle])).toEqual(idle.map((text) => text.split(' ')[1]));
  });
});

describe('few of many rules', () => {
  it('are those that may act on what no changed rule names', () => {
    const [few, all] = withoutRule('deny gone when payload.vendor != "v1"', [
      'escalate named to boss when payload.vendor == "v2"',
      'escalate other to boss when payload.vendor == "v1"',
    ]);
    expect(wordsOf(few!)).toEqual([
      'DENY ALLOW: payload.amount <= 700 and payload.vendor != "v1"',
      'DENY ESCALATE: payload.amount <= 700 and payload.vendor != "v1"',
    ]);
    expect(wordsOf(few!)).toEqual(wordsOf(all!));
  });

  it('are one more where it alone can do it', () => {
    const [few, all] = withoutRule('deny gone when payload.currency == "EUR"', [
      ...many.map((vendor) => `escalate e_${vendor} to boss when payload.vendor == "${vendor}"`),
      ...many.slice(0, -1).map((vendor) => `deny d_${vendor} when payload.vendor == "${vendor}"`),
    ]);
    expect(wordsOf(few!)).toEqual([
      'DENY ALLOW: payload.amount <= 700 and payload.currency == "EUR"',
      'DENY ESCALATE: payload.amount <= 700 and payload.currency == "EUR"',
    ]);
    expect(wordsOf(few!)).toEqual(wordsOf(all!));
    expect(few!.limits).toEqual([]);
  });

  it('find what patterns have in common, however many there are', () => {
    const [before, after] = ['a*', 'ab*'].map((pattern) =>
      setOf(
        [
          `deny changed when payload.vendor like "${pattern}"`,
          ...many.map((piece) => `escalate e_${piece} to boss when payload.vendor contains "${piece}"`),
        ].map((text, at) => ({ name: `r${at}`, text })),
      ),
    );
    const isChange = "payload.amount <= 700 and payload.vendor like 'a*' and not (payload.vendor like 'ab*')";
    for (const manyRules of [10, Number.POSITIVE_INFINITY]) {
      const diff = diffPolicies(before!, after!, { manyRules });
      expect(wordsOf(diff)).toEqual([`DENY ALLOW: ${isChange}`, `DENY ESCALATE: ${isChange}`]);
      expect(diff.findings.every(({ example }) => example !== null)).toBe(true);
      expect(diff.limits).toEqual([]);
    }
  });

  it('tell as narrowly between which numbers a change lies', () => {
    const [few, all] = withoutRule('deny gone when payload.vendor == "v1"', [
      ...many.map((vendor) => `deny d_${vendor} when payload.vendor == "${vendor}"`),
      'deny little when payload.amount < 50',
      'deny much when payload.amount > 500',
    ]);
    expect(wordsOf(few!)).toEqual(['DENY ALLOW: payload.amount >= 50 and <= 500 and payload.vendor == "v1"']);
    expect(wordsOf(few!)).toEqual(wordsOf(all!));
  });

  it('find all of many changes, or say that there are more', () => {
    const [before, after] = [100, 200].map((limit) =>
      setOf([
        ...many.map((vendor, at) => ({
          name: `c${at}`,
          text: `escalate c${at} to boss when payload.vendor == "${vendor}" and payload.amount > ${limit}`,
        })),
        ...many.map((_, at) => ({
          name: `r${at}`,
          text: `deny r${at} when payload.currency == "EUR" and payload.amount > ${at * 3}`,
        })),
      ]),
    );
    const [few, all, first] = [
      { manyRules: 10, findingsMax: 100 },
      { manyRules: Number.POSITIVE_INFINITY, findingsMax: 100 },
      { manyRules: 10, findingsMax: 5 },
    ].map((options) => diffPolicies(before!, after!, options));
    expect(wordsOf(few!).toSorted()).toEqual(wordsOf(all!).toSorted());
    expect(wordsOf(few!)).toHaveLength(many.length);
    expect([few!.limits, all!.limits]).toEqual([[], []]);
    expect(wordsOf(first!)).toHaveLength(5);
    expect(first!.limits).toEqual([{ action: 'pay.make', limits: ['too many findings'] }]);
  });

  it.each([
    [1, 1],
    [8, 1],
    [20, 1],
    [31, 1],
    [3, 5],
    [11, 12],
  ])('find what all of them find: %i, %i changed', (seed, changes) => {
    const { before, after } = changedSets(seed, changes);
    const few = diffPolicies(before, after, { manyRules: 10, findingsMax: 200 });
    const all = diffPolicies(before, after, { manyRules: Number.POSITIVE_INFINITY, findingsMax: 200 });
    expect(turnsOf(few)).toEqual(turnsOf(all));
    expect(isCovered(few, all) && isCovered(all, few)).toBe(true);
    for (const { example, from, to } of few.findings) {
      expect(authorize(before, example!.facts.before).outcome).toBe(from);
      expect(authorize(after, example!.facts.after).outcome).toBe(to);
    }
  });
});
