// Test runs over real policies: each expectation met and missed, and the three reports.

import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compile } from '../../src/pipeline.ts';
import { readPaths } from '../../src/service/policies/read-policies.ts';
import { findTests } from '../../src/testing/find-test-files.ts';
import { reportJunit } from '../../src/testing/junit.ts';
import { readTestFile } from '../../src/testing/read-test-file.ts';
import {
  type Marks,
  reportCoverage,
  reportRun,
  reportUncovered,
  runToJson,
} from '../../src/testing/report.ts';
import { type FileResult, runTestFiles, runTests } from '../../src/testing/run.ts';
import { createFolder, writeFiles } from '../service/policies/folder.ts';

const policy = `
action a.b {
  n:    integer
  note?: string
}

approvers finance "Finance"
approvers legal "Legal"

meter spent = sum(payload.n) of a.b per agent over 24h

policy p on a.b {
  allow small for 10m
    when payload.n < 100 and payload.n > -1000

  escalate medium to finance needs 2 within 4h
    when payload.n >= 10
    risk +30
    because "{payload.n} is much"

  reauth fresh within 15m
    when payload.n >= 20

  deny budget
    when spent > 50

  deny never_met
    when agent.risk_tier == "critical"
}
`;

/** Runs one test file beside the policy above. */
async function run(tests: string, more: Readonly<Record<string, string>> = {}): Promise<FileResult> {
  const folder = createFolder({ 'a.policy': policy, 'a.test.yaml': tests, ...more });
  return (await runTestFiles([folder])).files[0]!;
}

/** Cases of one test, with the facts that most of them need. */
function cases(...lines: readonly string[]): string {
  const head =
    'defaults: { agent: { risk_tier: low }, meters: { spent: 0 } }\ntests:\n  - name: t\n    action: a.b\n';
  return `${head}    payload: { n: 5 }\n    cases:\n${lines.map((line) => `      - ${line}\n`).join('')}`;
}

function summary({ failure, cases: results }: FileResult): readonly string[] {
  if (failure !== null) return [failure];
  return results.map(({ outcome, differences }) =>
    [outcome, ...differences.map(({ field, expected, actual }) => `${field}: ${expected} / ${actual}`)].join(
      ' ',
    ),
  );
}

describe('a case', () => {
  it('passes when all that it names is so, and fails with what came instead', async () => {
    const file = await run(
      cases(
        '{ expect: ALLOW }',
        '{ expect: DENY }',
        '{ expect: { decision: ALLOW, by: p/small, matched_policy: p, risk: 0, reason: Small, rules: [p/small] } }',
        '{ expect: { decision: DENY, by: p/x, matched_policy: q, risk: 1, reason: no, rules: [] } }',
        '{ set: { payload.n: 10 }, expect: { decision: ESCALATE, reason: "10 is much", rules: [p/medium, p/small] } }',
        '{ set: { payload.n: 10 }, expect: { reason: /^\\d+ IS much$/i } }',
        '{ set: { payload.n: 10 }, expect: { reason: /few/ } }',
        '{ unset: [payload.n], expect: { decision: DENY, by: invalid_payload, risk: 100 } }',
        '{ action: a.c, expect: { by: undeclared_action } }',
      ),
    );
    expect(summary(file)).toEqual([
      'passed',
      'failed decision: DENY / ALLOW',
      'passed',
      'failed decision: DENY / ALLOW by: p/x / p/small matched_policy: q / p risk: 1 / 0 reason: no / Small rules: none / p/small',
      'passed',
      'passed',
      'failed reason: /few/u / 10 is much',
      'passed',
      'passed',
    ]);
    expect(file.cases.map(({ line }) => line)).toEqual([7, 8, 9, 10, 11, 12, 13, 14, 15]);
  });

  it('compares how long an allowance holds', async () => {
    const file = await run(
      cases(
        '{ expect: { valid_for: 10m } }',
        '{ expect: { valid_for: 600s } }',
        '{ expect: { valid_for: 5m } }',
        '{ set: { payload.n: 10 }, expect: { valid_for: 10m } }',
      ),
    );
    expect(summary(file)).toEqual([
      'passed',
      'passed',
      'failed valid_for: 5m / 10m',
      'failed valid_for: 10m / none',
    ]);
  });

  it('compares requirements', async () => {
    const medium = (requires: string): string =>
      `{ set: { payload.n: 10 }, expect: { requires: ${requires} } }`;
    const fresh = (requires: string): string =>
      `{ set: { payload.n: 20 }, expect: { requires: ${requires} } }`;
    const file = await run(
      cases(
        medium('{ escalate: [{ group: finance, needs: 2, within: 4h }] }'),
        medium('{ escalate: [{ group: finance }], reauth: none }'),
        medium('{ escalate: [] }'),
        medium('{ escalate: [{ group: finance, needs: 1 }], reauth: 15m }'),
        fresh('{ escalate: [{ group: finance, needs: 2, within: 240m }], reauth: 15m }'),
        fresh('{ reauth: this request }'),
        '{ expect: { requires: { escalate: [], reauth: null } } }',
      ),
    );
    expect(summary(file)).toEqual([
      'passed',
      'passed',
      'failed requires.escalate: none / finance needs 2 within 4h',
      'failed requires.escalate: finance needs 1 / finance needs 2 within 4h requires.reauth: 15m / none',
      'passed',
      'failed requires.reauth: this request / 15m',
      'passed',
    ]);
  });

  it('has readings, unknown facts and satisfied requirements', async () => {
    const file = await run(
      cases(
        '{ set: { meters.spent: 50 }, expect: ALLOW }',
        '{ set: { meters.spent: 51 }, expect: { decision: DENY, by: p/budget } }',
        '{ set: { meters.spent: [0, 51] }, expect: { decision: DENY, by: p/budget } }',
        '{ unknown: [meters.spent], expect: { decision: DENY, by: p/budget } }',
        '{ unknown: [agent.risk_tier], expect: { decision: DENY, by: p/never_met } }',
        '{ set: { payload.n: 20, satisfied.escalate: [p/medium], satisfied.reauth: [p/fresh] }, expect: ALLOW }',
      ),
    );
    expect(summary(file)).toEqual(Array(6).fill('passed'));
  });

  it('is mistaken when it names a meter or a rule that the policies do not have', async () => {
    const file = await run(
      cases(
        '{ set: { meters.spend: 1 }, expect: ALLOW }',
        '{ set: { meters.spent: 1 USD }, expect: ALLOW }',
        '{ set: { satisfied.escalate: [p/fresh] }, expect: ALLOW }',
        '{ set: { satisfied.reauth: [p/frsh] }, expect: ALLOW }',
      ),
    );
    expect(file.cases.map(({ outcome }) => outcome)).toEqual(Array(4).fill('mistaken'));
    const said = file.cases.map(({ mistake }) => mistake!);
    expect(said[0]).toMatch(/no meter `spend`[\s\S]*a\.test\.yaml:7:32[\s\S]*did you mean `spent`/);
    expect(said[1]).toContain('meter `spent` is read in plain numbers');
    expect(said[2]).toContain('no rule `p/fresh` asks for approval');
    expect(said[3]).toContain('did you mean `p/fresh`');
  });

  it('fails in its own way when the compiled function and the definition disagree', async () => {
    const folder = createFolder({ 'a.policy': policy });
    const read = await readPaths([folder]);
    const compiled = compile(read.sources);
    const { engine } = compiled;
    const wrong: typeof compiled = {
      ...compiled,
      engine: {
        ...engine!,
        decide: (facts) => ({ ...engine!.decide(facts), outcome: 'DENY' }),
        trace: (facts) => engine!.trace(facts).map((rule) => ({ ...rule, truth: 'unknown' as const })),
      },
    };
    const file = readTestFile({ path: 'a.test.yaml', text: cases('{ expect: ALLOW }') });
    const result = await runTests(file, async () => ({ read, compiled: wrong, count: () => undefined }));
    expect(summary(result)).toEqual([
      'disagreed outcome: "ALLOW" / "DENY" p/budget: false / unknown p/fresh: false / unknown p/medium: false / unknown p/never_met: false / unknown p/small: true / unknown',
    ]);
  });
});

describe('a file', () => {
  it('does not run when it is malformed, or its policies have errors', async () => {
    expect(summary(await run('tests: [{ name: t, action: a.b, expct: ALLOW }]'))[0]).toContain(
      'did you mean `expect`',
    );
    expect(summary(await run(cases('{ expect: ALLOW }'), { 'b.policy': 'policy' }))[0]).toContain(
      'b.policy:1:',
    );
    const missing = await runTestFiles([join(createFolder(), 'gone.test.yaml')]);
    expect(missing.files[0]!.failure).toContain('does not exist');
  });

  it('may name its policies', async () => {
    const folder = createFolder({
      'one/a.policy': policy,
      'two/a.policy': policy.replace('payload.n < 100', 'payload.n < 3'),
      'tests/one.test.yaml': `policies: ../one\n${cases('{ expect: ALLOW }')}`,
      'tests/two.test.yaml': `policies: [../two/a.policy]\n${cases('{ expect: DENY }')}`,
    });
    const { files } = await runTestFiles([folder]);
    expect(files.map(summary)).toEqual([['passed'], ['passed']]);
  });
});

describe('findTests', () => {
  it('finds test files under directories, and takes files as named, each once', async () => {
    const folder = createFolder({
      'b/x.test.yaml': '',
      'a.test.yaml': '',
      'node_modules/c.test.yaml': '',
      'd.yaml': '',
    });
    symlinkSync('a.test.yaml', join(folder, 'l.test.yaml'));
    const found = await findTests([folder, join(folder, 'a.test.yaml'), join(folder, 'd.yaml')]);
    expect(found).toEqual(
      ['a.test.yaml', 'b/x.test.yaml', 'd.yaml', 'l.test.yaml'].map((path) => join(folder, path)),
    );
  });
});

describe('reports', () => {
  const plain: Marks = { good: (text) => text, bad: (text) => `!${text}`, faint: (text) => text };

  it('say what passed and, in full, what did not', async () => {
    const folder = createFolder({
      'a.policy': policy,
      'a.test.yaml': cases('{ expect: ALLOW }', '{ set: { payload.n: 10 }, expect: { by: "p/<&\\u0001" } }'),
      'b.test.yaml': 'tests: {}',
    });
    const run = await runTestFiles([folder]);
    const text = reportRun(run, plain).replaceAll(folder, 'F');
    expect(text).toContain(
      [
        '!✗ F/a.test.yaml 1/2',
        '  !✗ t #2 (set payload.n=10) F/a.test.yaml:8',
        '    by',
        '      expected   p/<&\\u{1}',
        '      actual     p/medium',
        '    decided ESCALATE by p/medium: 10 is much',
        '!✗ F/b.test.yaml',
      ].join('\n'),
    );
    expect(text).toMatch(/\n\n1 passed, !1 failed, !1 file not run \(\d+\.\d\d s\)\n$/);
    const json = runToJson(run) as { passed: number; failed: number; broken: number };
    expect([json.passed, json.failed, json.broken]).toEqual([1, 1, 1]);
  });

  it('include JUnit XML in which nothing is left raw', async () => {
    const folder = createFolder({
      'a.policy': policy,
      'a.test.yaml': cases('{ expect: ALLOW }', '{ name: "<\\u0001>", expect: DENY }'),
      'b.test.yaml': 'tests: {}',
    });
    const xml = reportJunit(await runTestFiles([folder])).replaceAll(folder, 'F');
    expect(xml).toContain('<testsuite name="F/a.test.yaml" tests="2" failures="1" errors="0"');
    expect(xml).toContain('name="t #2 (&lt;\ufffd&gt;)" file="F/a.test.yaml" line="8"');
    expect(xml).toContain('<failure message="failed">decision\n  expected   DENY');
    expect(xml).toContain('<testsuite name="F/b.test.yaml" tests="1" failures="0" errors="1"');
  });

  it('cover each rule and its truths, over all test files', async () => {
    const folder = createFolder({
      'a.policy': policy,
      'a.test.yaml': cases('{ expect: ALLOW }', '{ set: { payload.n: 10 }, expect: ESCALATE }'),
    });
    writeFiles(folder, {
      'b.test.yaml': `policies: a.policy\n${cases('{ unknown: [agent], expect: DENY }')}`,
    });
    const { coverage } = await runTestFiles([folder]);
    expect(
      coverage.rules.map(({ rule, counts }) => [rule, counts.true, counts.false, counts.unknown]),
    ).toEqual([
      ['p/budget', 0, 3, 0],
      ['p/fresh', 0, 3, 0],
      ['p/medium', 1, 2, 0],
      ['p/never_met', 0, 2, 1],
      ['p/small', 3, 0, 0],
    ]);
    expect(coverage.percent).toBe(60);
    const table = reportCoverage(coverage, plain);
    expect(table).toMatch(/\/a\.policy\n {2}p\/budget {3}! {7}0 {7}3 {7}0 {2}!never true\n/);
    expect(table).toContain('  p/medium          1       2       0\n');
    expect(table).toContain('  p/small           3!       0       0  !never false\ncoverage 60 %\n');
    expect(coverage.rules.map(({ lacks }) => lacks)).toEqual([['true'], ['true'], [], ['true'], ['false']]);
    const lacking = reportUncovered(coverage);
    expect(lacking.split('\n').map((line) => line.split('a.policy')[1])).toEqual([
      ': p/budget was never true',
      ': p/fresh was never true',
      ': p/never_met was never true',
      ': p/small was never false',
      undefined,
    ]);
  });
});
