// Proofs from a few of many rules, or from one side of a comparison for both: how far they apply, and no
// further.

import { describe, expect, it } from 'vitest';
import { type ComparedSide, guaranteeChanges } from '../../src/analysis/diff/diff-report.ts';
import type { PolicySet } from '../../src/language/model/policy.ts';
import { checkSources } from '../../src/pipeline.ts';
import { diffPolicies } from '../../src/reasoning/diff/diff.ts';
import { type Certificate, certificatesOf, wrongWith } from '../../src/reasoning/prove/report/certificate.ts';

function setOf(text: string, list = ''): PolicySet {
  const { set, diagnostics } = checkSources({
    files: [{ path: 'a.policy', text }],
    readListFile: (path) =>
      path === 'owners.yaml' ? { code: 'list-file-missing', message: 'there is none' } : { text: list },
  });
  if (set === null) throw new Error(JSON.stringify(diagnostics));
  return set;
}

const guards = Array.from({ length: 60 }, (_, at) => `  deny d${at} when payload.kind == "k${at}"`).join(
  '\n',
);

function manyGuards(claim: string, other = ''): PolicySet {
  return setOf(`
action pay.make { amount: number 0.., kind: string }
policy p on pay.make {
  allow all when payload.kind != "none"
${guards}
${other}
}
guarantee g on pay.make { ${claim} }`);
}

describe('a certificate of a proof with few guards', () => {
  const set = manyGuards('never allow when payload.kind == "k7"');
  const [certificate] = JSON.parse(JSON.stringify(certificatesOf(set))) as Certificate[];

  it('names its rules and is checked against their formula', () => {
    expect(certificate!.rules).toContain('p/d7');
    expect(certificate!.rules!.length).toBeLessThan(10);
    expect(wrongWith(certificate!, set)).toBeNull();
  });

  it('is refused with other guards than those of its formula', () => {
    expect(wrongWith({ ...certificate!, rules: ['p/all'] }, set)).toBe('it is about other policies');
    expect(wrongWith({ ...certificate!, rules: null }, set)).toBe('it is about other policies');
  });

  it('is refused where an allow or a guard that adds to risk is left out', () => {
    const wrong = 'it leaves out rules on which the claim may turn';
    expect(wrongWith({ ...certificate!, rules: ['p/d7'] }, set)).toBe(wrong);
    const risky = manyGuards(
      'never allow when payload.kind == "k7"',
      '  deny big when payload.amount > 9 risk +5',
    );
    expect(wrongWith(certificate!, risky)).toBe(wrong);
  });

  it('is refused of a claim that more guards may break', () => {
    const denying = manyGuards('never deny when payload.kind == "k7"');
    expect(wrongWith(certificate!, denying)).toBe('it leaves out rules on which the claim may turn');
  });
});

function sideOf(set: PolicySet, name: string): ComparedSide {
  return { name, digest: name, set, sourceOf: () => null, shown: (file) => file };
}

function verdictsOf(before: PolicySet, after: PolicySet, asked: readonly string[] = []) {
  const sides = { before: sideOf(before, 'before'), after: sideOf(after, 'after') };
  const diff = diffPolicies(before, after);
  expect(diff.compared).toEqual(asked);
  return guaranteeChanges(sides, diff).map(({ old, new: now }) => [old, now]);
}

describe('a claim in a comparison', () => {
  const ofLet = (limit: number): PolicySet =>
    setOf(`
action pay.make { amount: number 0.. }
let limit = ${limit}
policy p on pay.make {
  allow all
  deny dear when payload.amount > 50
}
guarantee g on pay.make { never allow when payload.amount > limit }`);

  const ofList = (list: string): PolicySet =>
    setOf(
      `
action pay.make { to: string }
list bad from "bad.txt"
policy p on pay.make {
  allow all
  deny first when payload.to == "a"
}
guarantee g on pay.make { never allow when payload.to in bad }`,
      list,
    );

  const ofRules = (rules: string, claims: string): PolicySet =>
    setOf(`
approvers boss "Boss"
action pay.make { amount: number 0.., kind: string }
policy p on pay.make {
  allow small when payload.amount <= 100
  ${rules}
}
guarantee g on pay.make {
  ${claims}
}`);

  it.each([
    ['never allow when payload.amount > 50', 'refuted'],
    ['never allow when payload.amount > 200', 'proved'],
    ['never allow unapproved when payload.amount > 50', 'refuted'],
    ['always deny when payload.amount > 50', 'refuted'],
    ['always deny when payload.amount > 100', 'proved'],
    ['never escalate when payload.amount > 50', 'proved'],
  ])('that is kept now may have been broken: %s', (claim, old) => {
    const [before, after] = ['', 'deny dear when payload.amount > 50'].map((rules) => ofRules(rules, claim));
    expect(verdictsOf(before!, after!, ['pay.make'])).toEqual([[old, 'proved']]);
  });

  it.each([
    ['never deny when payload.amount <= 50', 'refuted'],
    ['always allow when payload.amount <= 50', 'refuted'],
    ['never deny when payload.amount <= 20', 'proved'],
    ['never reauth when payload.amount <= 50', 'proved'],
    ['never allow when payload.amount > 100', 'proved'],
  ])('that is kept now may have been broken by what is loosened: %s', (claim, old) => {
    const [before, after] = ['deny few when payload.amount > 20', ''].map((rules) => ofRules(rules, claim));
    expect(verdictsOf(before!, after!, ['pay.make'])).toEqual([[old, 'proved']]);
  });

  it('that a request of another risk would break has a verdict on each side', () => {
    const claim = 'never allow when risk >= 20';
    const points = (risk: number): string => `risk odd +${risk} when payload.kind == "odd"`;
    expect(verdictsOf(ofRules(points(20), claim), ofRules(points(10), claim), ['pay.make'])).toEqual([
      ['refuted', 'proved'],
    ]);
  });

  it('that reads a let that has changed has a verdict on each side', () => {
    expect(verdictsOf(ofLet(10), ofLet(100))).toEqual([['refuted', 'proved']]);
    expect(verdictsOf(ofLet(100), ofLet(10))).toEqual([['proved', 'refuted']]);
  });

  it('that reads a list that has changed has a verdict on each side', () => {
    expect(verdictsOf(ofList('a\nb\n'), ofList('a\n'))).toEqual([['refuted', 'proved']]);
    expect(verdictsOf(ofList('a\n'), ofList('a\nb\n'))).toEqual([['proved', 'refuted']]);
  });
});
