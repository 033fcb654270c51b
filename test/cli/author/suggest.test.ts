// The tool `suggest`: each way to name a request, patches that git applies, and what is said without a suggestion.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { emptyFolder, type Got, put, startAuthor } from './server.ts';

const policy = `action a.send {
  amount: integer 1..1000
  to:     string ..40
}

approvers leads "Leads"

list known = ["ann"]

policy p on a.send {
  allow small
    when payload.amount <= 50 and payload.to in known

  allow larger after approval by leads
    when payload.amount <= 500 and payload.to in known
}

guarantee ceiling on a.send {
  never allow unapproved when payload.amount > 100
}
`;

const tests = `tests:
  - name: ann
    action: a.send
    payload: { amount: 50, to: ann }
    cases:
      - { expect: ALLOW }
      - { set: { payload.amount: 60 }, expect: { decision: ALLOW, by: p/small } }
      - { set: { payload.amount: 600 }, expect: ESCALATE }
      - { set: { payload.amount: 50 }, expect: DENY }
      - { set: { payload.amount: 40 }, expect: { decision: ALLOW, by: p/larger } }
      - { set: { payload.to: bob }, expect: REAUTH_REQUIRED }
      - { set: { payload.to: eve }, expect: DENY }
      - { set: { payload.amount: 0 }, expect: ALLOW }
  - { name: unknown meter, action: a.send, meters: { m: 1 }, expect: ALLOW }
`;

function workspace(): string {
  const folder = emptyFolder();
  put(folder, 'policies/p.policy', policy);
  put(folder, 'policies/p.test.yaml', tests);
  return folder;
}

test('a request gets changes, each with all that it changes and the tests that it breaks', async () => {
  const { call } = await startAuthor(workspace());
  const payload = { amount: 10, to: 'eve' };
  const { text, data } = await call('suggest', { action: 'a.send', payload });
  expect(data).toMatchObject({ decision: 'DENY', by: 'default_deny', goal: 'ALLOW', forbidden_by: [] });
  expect(data.suggestions[0].kind).toBe('rule');
  const list = data.suggestions.find(({ kind }: Got) => kind === 'list');
  expect(list).toMatchObject({
    text: 'adds "eve" to the list `known`',
    decision: 'ALLOW',
    by: 'p/small',
    milder: { count: expect.any(Number), of: 1_000 },
    broken_tests: [expect.stringContaining('payload.to=eve')],
  });
  const [{ from, to, when }] = list.findings;
  expect([from, to, when.join()]).toEqual(['DENY', 'ALLOW', expect.stringContaining('"eve"')]);
  expect(text).toContain('+++ b/policies/p.policy');
  expect(text).toContain('for example');
  expect(text).toContain('the request itself');
  expect(text).toContain('Apply one only if the requirements ask for it');
});

test('a failing case gets changes after which it passes, and git applies their patches', async () => {
  const folder = workspace();
  const { call } = await startAuthor(folder);
  for (const path of [undefined, 'policies/p.policy', 'policies/p.test.yaml']) {
    const { data } = await call('suggest', { ...(path === undefined ? {} : { path }), case: 'amount=60)' });
    expect(data).toMatchObject({ decision: 'ESCALATE', goal: 'ALLOW' });
    // A new rule would allow the request as well, but the case names the rule that allows it.
    expect(data.suggestions.map(({ by }: Got) => by)).toEqual(['p/small']);
    if (path !== undefined) continue;
    expect((await call('test', { filter: 'amount=60)' })).data).toMatchObject({ failed: 1 });
    execFileSync('git', ['apply', '--check'], { cwd: folder, input: data.suggestions[0].patch });
  }
  const raised = await call('suggest', { case: 'amount=600' });
  expect(raised.data).toMatchObject({
    goal: 'ESCALATE',
    forbidden_by: [{ guarantee: 'ceiling', text: 'never allow unapproved when payload.amount > 100' }],
  });
  const [{ patch, decision }] = raised.data.suggestions;
  expect(decision).toBe('ESCALATE');
  execFileSync('git', ['apply'], { cwd: folder, input: patch });
  expect((await call('test', { filter: 'amount=600' })).data).toMatchObject({ passed: 1, failed: 0 });
  expect((await call('check')).data).toMatchObject({ ok: true, refuted: 0 });
});

test('a case that no suggestion can make pass gets the reason', async () => {
  const { call } = await startAuthor(workspace());
  for (const [name, why] of [
    ['amount=50)', /the request is ALLOW by `p\/small`.*suggestions only let more pass/],
    ['amount=40)', /the request is ALLOW by `p\/small`.*suggestions only let more pass/],
    ['to=bob', /no suggestion leads to REAUTH_REQUIRED/],
    ['to=eve', /the case passes already/],
    ['amount=0)', /`invalid_payload`.*which no rule can change/],
    ['unknown meter', /the case cannot be decided: .*`m`/],
    ['amount=', /several cases have a name with `amount=`.*policies\/p\.test\.yaml:8/],
  ] as const) {
    const { isError, text } = await call('suggest', { case: name });
    expect([name, isError, text]).toEqual([name, true, expect.stringMatching(why)]);
  }
});
