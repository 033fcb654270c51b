// Tests in a sequence: meters as the earlier requests leave them, the time between requests, people's
// answers. The decisions equal those of a service that gets the same requests one after the other.

import { expect, it, test } from 'vitest';
import { createRandom } from '../../src/language/value/random.ts';
import { type FileResult, runTestFiles } from '../../src/testing/run.ts';
import { startService } from '../service/http/service.ts';
import { ask } from '../service/http/written-policies.ts';
import { createFolder } from '../service/policies/folder.ts';

const policyWith = (within: string): string => `
action pay.send { n: integer }
approvers finance "Finance"
meter spent = sum(payload.n) of pay.send per agent over 1h

policy p on pay.send {
  allow small for 10m when payload.n <= 40
  escalate large to finance within ${within} when payload.n > 20
  deny budget when spent > 60
}
`;

async function run(sequence: string, head = '', within = '30m'): Promise<FileResult> {
  const tests = `defaults: { agent: { id: a-1, risk_tier: low } }
tests:
  - name: s
    action: pay.send
${head}    sequence:
${sequence}`;
  const folder = createFolder({ 'a.policy': policyWith(within), 'a.test.yaml': tests });
  return (await runTestFiles([folder])).files[0]!;
}

const step = (n: number, expected: string, more = ''): string =>
  `      - { payload: { n: ${n} }, expect: ${expected}${more} }\n`;

function given(standing: string): string {
  return `{ satisfied: { standing: [${standing}] }, expect: ESCALATE }`;
}

function told({ failure, cases }: FileResult): readonly string[] {
  return failure !== null
    ? failure.split('\n').filter((line) => line.startsWith('error'))
    : cases.map(({ name, outcome, decision }) => `${name} ${outcome} ${decision?.outcome ?? ''}`.trim());
}

it('counts what is granted, and forgets it when its window is over', async () => {
  const spent = [20, 20, 20].map((n) => step(n, 'ALLOW')).join('');
  expect(
    told(
      await run(
        `${spent}${step(1, 'DENY')}      - after: 59m\n${step(1, 'DENY')}${step(1, 'ALLOW', ', after: 2m')}`,
      ),
    ),
  ).toEqual([
    's #1 passed ALLOW',
    's #2 passed ALLOW',
    's #3 passed ALLOW',
    's #4 passed DENY',
    's #5 (after 59m) passed DENY',
    's #6 (after 2m) passed ALLOW',
  ]);
});

it('reserves what waits for people until they answer or its time is over', async () => {
  const unanswered = `${step(40, 'ESCALATE')}${step(20, 'ALLOW')}${step(10, 'DENY')}`;
  expect(told(await run(`${unanswered}${step(10, 'ALLOW', ', after: 30m')}`)).at(-1)).toBe(
    's #4 (after 30m) passed ALLOW',
  );
  const rejected = step(40, 'ESCALATE', ', then: rejected');
  expect(told(await run(`${rejected}${step(20, 'ALLOW')}${step(20, 'ALLOW')}`)).at(-1)).toBe(
    's #3 passed ALLOW',
  );
  const approved = step(40, 'ESCALATE', ', then: approved');
  expect(told(await run(`${approved}${step(20, 'ALLOW', ', after: 31m')}${step(1, 'DENY')}`)).at(-1)).toBe(
    's #3 passed DENY',
  );
});

it('fails where a step comes out otherwise, and reads each agent by its own', async () => {
  const other = '      - { payload: { n: 20 }, agent: { id: a-2 }, expect: ALLOW }\n';
  const spent = [20, 20, 20].map((n) => step(n, 'ALLOW')).join('');
  const { cases } = await run(`${spent}${other}${step(20, 'ALLOW')}`);
  expect(cases.map(({ outcome }) => outcome)).toEqual(['passed', 'passed', 'passed', 'passed', 'failed']);
  expect(cases.at(-1)?.differences).toEqual([{ field: 'decision', expected: 'ALLOW', actual: 'DENY' }]);
});

it.each([
  ['no rule asks', '{ expect: DENY, then: standing }', 'answers a pending request, but this one is DENY'],
  [
    'no rule that asks has the clause',
    '{ action: pay.hold, expect: ESCALATE, then: standing }',
    'no rule that asks here allows a standing approval',
  ],
  [
    'a key is unknown',
    '{ unset: [session], expect: ESCALATE, then: standing }',
    'allows a standing approval of',
  ],
  ['it would last longer', '{ expect: ESCALATE, then: { standing: { for: 3h } } }', '`for` is longer than'],
  ['it would serve more', '{ expect: ESCALATE, then: { standing: { times: 4 } } }', '`times` is 3 at most'],
  ['the time is none', '{ expect: ESCALATE, then: { standing: { for: soon } } }', '`for` must be a duration'],
  ['the count is none', '{ expect: ESCALATE, then: { standing: { times: 0 } } }', '`times` must be a whole'],
  [
    'a key is given that the rule lacks',
    given('{ rule: p/new, per: { user: u1 } }'),
    'the keys of `p/new` are',
  ],
  ['a key is not given', given('{ rule: p/new }'), 'the keys of `p/new` are others'],
  ['its rule allows none', given('{ rule: q/held }'), 'no rule `q/held` allows a standing approval'],
  ['it has no rule', given('{ per: { session: s1 } }'), 'a standing approval needs a `rule`'],
  [
    'its end is no time',
    given('{ rule: p/new, per: { session: s1 }, until: noon }'),
    '`until` must be a time',
  ],
])('reports a standing approval where %s', async (_, written, message) => {
  const policies = `
action pay.send, pay.hold { n: integer }
approvers finance "Finance"
policy p on pay.send {
  allow all
  deny many when payload.n > 9
  escalate new to finance standing per session for 2h up to 3 times
}
policy q on pay.hold { allow held after approval by finance when payload.n > 0 }
`;
  const first = written.includes('DENY') ? 10 : 1;
  const tests = `tests:
  - name: s
    action: pay.send
    payload: { n: ${first} }
    session: s1
    sequence:
      - ${written}
      - expect: ESCALATE
`;
  const folder = createFolder({ 'a.policy': policies, 'a.test.yaml': tests });
  const { failure, cases } = (await runTestFiles([folder])).files[0]!;
  expect([failure, ...cases.map(({ mistake }) => mistake)].join('\n')).toContain(message);
});

test.each([
  ['a reading', '      - { meters: { spent: 1 }, expect: ALLOW }\n', 'a sequence counts its own meters'],
  [
    'a reading that is set',
    '      - { set: { meters.spent: 1 }, expect: ALLOW }\n',
    'a sequence counts its own meters',
  ],
  [
    'a reading that is unknown',
    '      - { unknown: [meters.spent], expect: ALLOW }\n',
    'a sequence counts its own meters',
  ],
  [
    'a time',
    '      - { now: "2026-03-02T10:00:00Z", expect: ALLOW }\n',
    'the time of a step is given with `after`',
  ],
  ['nothing but time', '      - after: 1h\n', 'this sequence has no request'],
  ['no duration', '      - { after: soon, expect: ALLOW }\n', '`after` must be a duration such as `15m`'],
  [
    'an unknown answer',
    '      - { then: approve, expect: ESCALATE }\n',
    '`then` must be `approved`, `rejected` or `standing`',
  ],
  ['no expectation', '      - { payload: { n: 1 } }\n', 'there is no expectation'],
])('a step with %s is a mistake of the file', async (_, sequence, message) => {
  expect(told(await run(sequence)).map((line) => line.replace(/^error\[\S+\]: |^error: /, ''))).toEqual([
    message,
  ]);
});

it('takes no reading and no cases beside it, and passes over the readings of the defaults', async () => {
  const one = step(20, 'ALLOW');
  expect(told(await run(one, '    meters: { spent: 1 }\n'))[0]).toContain('a sequence counts its own meters');
  expect(told(await run(one, '    cases: [{ expect: ALLOW }]\n'))[0]).toContain('`cases` or a `sequence`');
});

it('is mistaken about an answer to what does not wait', async () => {
  const { cases } = await run(step(20, 'ALLOW', ', then: approved'));
  expect([cases[0]?.outcome, cases[0]?.mistake]).toEqual([
    'mistaken',
    expect.stringContaining('answers a pending request, but this one is ALLOW'),
  ]);
});

it('decides as a service that is asked the same, one after the other', async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  // Waits outlast the sequence, because a service ends waits by its own clock.
  const within = '30d';
  const service = await startService({ startsWith: policyWith(within), clock: () => nowMs });
  const random = createRandom(7);
  const asked: { readonly n: number; readonly minutes: number; readonly decision: string }[] = [];
  for (let at = 0; at < 60; at += 1) {
    const [n, minutes] = [1 + random.below(45), random.below(25)];
    nowMs += minutes * 60_000;
    const { decision } = await ask(service, 'pay.send', { payload: { n } });
    asked.push({ n, minutes, decision });
  }
  const sequence = asked
    .map(({ n, minutes, decision }) => step(n, decision, `, after: ${minutes}m`))
    .join('');
  const { cases, failure } = await run(sequence, '', within);
  expect(failure).toBeNull();
  expect(cases.filter(({ outcome }) => outcome !== 'passed').map(({ name }) => name)).toEqual([]);
  expect(new Set(asked.map(({ decision }) => decision))).toEqual(new Set(['ALLOW', 'DENY', 'ESCALATE']));
});
