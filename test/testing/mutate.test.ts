// Mutation scores of small policies: which mutants are killed, which survive, and how both are reported.

import { describe, expect, it } from 'vitest';
import { type MutateOptions, type Mutation, mutate } from '../../src/testing/mutation/mutate.ts';
import { mutationToJson, reportMutation } from '../../src/testing/mutation/report.ts';
import type { Marks } from '../../src/testing/report.ts';
import { runTestFiles } from '../../src/testing/run.ts';
import { createFolder } from '../service/policies/folder.ts';

const policy = `action a.b { n: integer }
action a.c { n: integer }

list good from "good.txt"

policy p on a.b {
  allow small for 10m
    when payload.n < 100
}

policy q on a.c {
  allow some_agent after approval by owner
    when agent.name in good
}
`;

const head = `defaults: { agent: { name: ann } }
tests:
  - { name: small, action: a.b, payload: { n: 99 }, expect: { decision: ALLOW, valid_for: 10m } }
  - { name: hundred, action: a.b, payload: { n: 100 }, expect: DENY }
`;
const others = `  - { name: ann, action: a.c, payload: { n: 1 }, expect: { by: q/some_agent } }
  - { name: bob, action: a.c, agent: { name: bob }, payload: { n: 1 }, expect: { by: q/some_agent } }
  - { name: eve, action: a.c, agent: { name: eve }, payload: { n: 1 }, expect: DENY }
`;

/** The score of these tests on the mutants of the policy above. */
async function score(
  tests: Readonly<Record<string, string>>,
  options: MutateOptions = {},
): Promise<Mutation> {
  const folder = createFolder({ 'a.policy': policy, 'good.txt': 'ann\nbob\n', ...tests });
  return mutate((await runTestFiles([folder])).tested, options);
}

function survivors({ files }: Mutation): readonly string[] {
  return files.flatMap((file) =>
    file.survivors.map(({ line, subject, change }) => `${line} ${subject}: ${change}`),
  );
}

describe('mutate', () => {
  it('counts what tests tell from the original, and shows the rest where it stands', async () => {
    const mutation = await score({ 'a.test.yaml': head + others });
    expect(survivors(mutation)).toEqual(['12 q/some_agent: allowed without asking first']);
    expect(
      mutation.files.map(({ path, killed, survived }) => [path.split('/').at(-1), killed, survived]),
    ).toEqual([
      ['a.policy', 10, 1],
      ['good.txt', 2, 0],
    ]);
    expect([mutation.killed, mutation.survived, mutation.score]).toEqual([12, 1, 92]);
  });

  it('takes what no test reaches for survived', async () => {
    const mutation = await score({ 'a.test.yaml': head });
    expect(survivors(mutation)).toEqual([
      '12 q/some_agent: dropped the rule',
      '12 q/some_agent: allowed without asking first',
      '13 q/some_agent: dropped `when agent.name in good`',
      '13 q/some_agent: negated `agent.name in good`',
      '1 good: dropped `ann`',
      '2 good: dropped `bob`',
    ]);
  });

  it('joins test files of the same policies, however they reach them', async () => {
    const one = await score({ 'a.test.yaml': head, 'b.test.yaml': others.replace(/^/, 'tests:\n') });
    const two = await score({ 'a.test.yaml': head + others, 'b.test.yaml': `policies: a.policy\n${head}` });
    expect(survivors(one).length).toBeLessThan(6);
    expect([two.killed, two.survived]).toEqual([12, 1]);
  });

  it('says how far it is, and stops when told to', async () => {
    const seen: [number, number][] = [];
    await score({ 'a.test.yaml': head }, { onProgress: (done, total) => seen.push([done, total]) });
    expect(seen.length).toBeGreaterThan(1);
    expect(seen[0]).toEqual([0, 15]);
    expect(seen.at(-1)).toEqual([15, 15]);
    const stopped = await score({ 'a.test.yaml': head }, { signal: AbortSignal.abort() });
    expect([stopped.killed, stopped.survived, stopped.score]).toEqual([0, 0, 100]);
  });
});

describe('the report of mutants', () => {
  const marks: Marks = { good: (text) => `<${text}>`, bad: (text) => `!${text}!`, faint: (text) => text };

  it('shows each survivor as a diff, and the score of each file', async () => {
    const mutation = await score({ 'a.test.yaml': head + others });
    const text = reportMutation(mutation, marks).replaceAll(/\S*\/writ-sources-\w+\//g, '');
    expect(text).toBe(`
!survived! q/some_agent: allowed without asking first a.policy:12
  @@ -10,5 +10,5 @@
   
   policy q on a.c {
  !-  allow some_agent after approval by owner!
  <+  allow some_agent>
       when agent.name in good
   }

!✗! a.policy 10/11 killed, 90 %
<✓> good.txt 2/2 killed, 100 %
mutation score 92 %: <12 killed>, !1 survived!
`);
  });

  it('is plain data with a unified diff', async () => {
    const mutation = await score({ 'a.test.yaml': head + others });
    expect(mutationToJson(mutation)).toMatchObject({
      killed: 12,
      survived: 1,
      score: 92,
      files: [
        {
          survivors: [
            {
              line: 12,
              subject: 'q/some_agent',
              change: 'allowed without asking first',
              diff: expect.stringMatching(/^--- .*a\.policy\n\+\+\+ .*a\.policy\n@@ -10,5 \+10,5 @@\n/),
            },
          ],
        },
        { survivors: [] },
      ],
    });
  });

  it('marks survivors that are proved to change no decision, and no others', async () => {
    const policies = (risk: string): string => `action a.b { n: number 0.. }
policy p on a.b {
  allow small when payload.n <= 500${risk}
  deny big when payload.n > 500
}
`;
    const cases =
      'tests:\n  - name: limits\n    action: a.b\n    payload: { n: 500 }\n    cases:\n      - { expect: ALLOW }\n      - { set: { payload.n: 501 }, expect: DENY }\n';
    const marked = async (risk: string) => {
      const folder = createFolder({ 'a.policy': policies(risk), 'a.test.yaml': cases });
      const mutation = await mutate((await runTestFiles([folder])).tested);
      const all = mutation.files.flatMap((file) => file.survivors);
      expect(reportMutation(mutation, marks).includes('no request is decided differently')).toBe(
        all.some(({ isDecidedAlike }) => isDecidedAlike),
      );
      return all.map(({ subject, change, isDecidedAlike }) => `${subject}: ${change} ${isDecidedAlike}`);
    };
    // Another rule decides without the denial, which a test can notice by its name.
    expect(await marked('')).toEqual([
      'p/small: dropped `when payload.n <= 500` true',
      'p/small: `500` became `501` true',
      'p/big: dropped the rule false',
      'p/big: `deny` became `escalate ... to owner` false',
      'p/big: `500` became `501` false',
    ]);
    // A test can notice risk points.
    expect((await marked(' risk +30')).filter((one) => one.endsWith('true'))).toEqual([]);
  });

  it('says when there was nothing to change', async () => {
    const none = 'tests:\n  - { name: x, action: a.b, payload: {}, expect: DENY }\n';
    const folder = createFolder({ 'a.policy': 'action a.b {}\npolicy p on a.b {}\n', 'a.test.yaml': none });
    const mutation = await mutate((await runTestFiles([folder])).tested);
    expect(reportMutation(mutation, marks)).toContain('no mutants');
  });
});
