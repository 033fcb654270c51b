// A scripted client goes the whole way over MCP, without a network: from an empty folder to a checked, tested
// and proved policy with a diff and a summary.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commit, emptyFolder, put, startAuthor } from './server.ts';

const actions = `action refund.create "Refund {amount}" {
  order: string 1..40
  amount: money(currency) 0.01..
  currency: "EUR"
}

approvers leads "Support leads"
`;

const policy = `${actions}
policy refunds on refund.create {
  allow small
    when payload.amount <= 50 EUR

  allow larger after approval by leads within 4h
    when payload.amount <= 500 EUR
}

guarantee ceiling on refund.create {
  never allow when payload.amount > 500 EUR
  never allow unapproved when payload.amount > 50 EUR
}
`;

const tests = (last: string) => `defaults:
  agent: { name: support-1, risk_tier: low }
tests:
  - name: refunds
    action: refund.create
    payload: { order: A-1, amount: 50, currency: EUR }
    cases:
      - { expect: { decision: ALLOW, by: refunds/small } }
      - { set: { payload.amount: 50.01 }, expect: ESCALATE }
      - { set: { payload.amount: 500 }, expect: ESCALATE }
      - { set: { payload.amount: 500.01 }, expect: ${last} }
`;

/** The code block of a language in Markdown. */
function codeIn(markdown: string, language: string): string {
  return markdown.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? '';
}

test('a client writes, tests and proves a policy in an empty folder, and reviews a change of it', async () => {
  const folder = emptyFolder();
  const { call } = await startAuthor(folder);

  const { text: steps } = await call('reference', { topic: 'workflow' });
  expect(steps).toContain('Guarantee');
  // The example of the steps is in order, and the topics that they name exist.
  for (const [, topic] of steps.matchAll(/\b((?:language|tests)\/[a-z-]+)/g))
    expect((await call('reference', { topic })).isError, topic).toBe(false);
  put(folder, 'example/e.policy', codeIn(steps, 'writ'));
  put(folder, 'example/e.test.yaml', codeIn(steps, 'yaml'));
  expect((await call('check', { path: 'example', strict: true })).data).toMatchObject({
    ok: true,
    refuted: 0,
  });
  expect((await call('test', { path: 'example', mutate: true })).data).toMatchObject({
    ok: true,
    coverage_percent: 100,
    mutation_score: 100,
  });
  expect((await call('format', { path: 'example' })).data.ok).toBe(true);
  rmSync(join(folder, 'example'), { recursive: true });
  const none = await call('check');
  expect([none.data.ok, none.data.diagnostics[0].code]).toEqual([false, 'no-policy-files']);

  // A mistake, its place and its page.
  put(folder, 'policies/refunds.policy', policy.replace('<= 50 EUR', '= 50 EUR'));
  const wrong = await call('check', { strict: true });
  const [mistake] = wrong.data.diagnostics;
  expect(wrong.data).toMatchObject({ ok: false, errors: 1, digest: null });
  expect(mistake).toMatchObject({
    code: 'assignment-for-equality',
    file: 'policies/refunds.policy',
    line: 11,
  });
  expect(wrong.text).toContain('policies/refunds.policy:11');
  expect((await call('reference', { topic: mistake.code })).text).toContain('## Prefer');
  expect((await call('test')).text).toContain('no `*.test.yaml`');

  put(folder, 'policies/refunds.policy', policy);
  expect((await call('check', { strict: true })).data).toMatchObject({ ok: true, refuted: 0, errors: 0 });

  // The formatter's text is what the client writes.
  const unformatted = await call('format');
  expect(unformatted.data.files).toMatchObject([{ path: 'policies/refunds.policy', state: 'changed' }]);
  expect(unformatted.text).toContain('+++ b/policies/refunds.policy');
  const { data } = await call('format', { text: policy });
  put(folder, 'policies/refunds.policy', `${data.lines.join('\n')}\n`);
  expect((await call('format')).data.ok).toBe(true);

  // A wrong expectation, for which a guarantee leaves no suggestion, then the right one.
  put(folder, 'policies/refunds.test.yaml', tests('ESCALATE'));
  const failed = await call('test');
  expect(failed.data).toMatchObject({ ok: false, passed: 3, failed: 1 });
  expect(failed.data.failures[0]).toMatchObject({ file: 'policies/refunds.test.yaml', line: 11 });
  const { name } = failed.data.failures[0];
  expect((await call('suggest', { case: name })).data).toMatchObject({
    goal: null,
    forbidden_by: [{ guarantee: 'ceiling', text: 'never allow when payload.amount > 500 EUR' }, {}],
    suggestions: [],
  });
  put(folder, 'policies/refunds.test.yaml', tests('DENY'));
  const tested = await call('test', { mutate: true });
  expect(tested.data).toMatchObject({ ok: true, passed: 4, failed: 0, coverage_percent: 100 });
  expect(tested.data.mutation_score).toBeGreaterThan(50);

  // A question that is refuted, and the way around it.
  expect((await call('prove')).data).toMatchObject({ ok: true, proved: 2 });
  const claim = 'never allow when payload.amount > 400 EUR';
  const refuted = await call('prove', { on: 'refund.create', claim });
  expect(refuted.data).toMatchObject({ ok: false, refuted: 1 });
  const { request } = refuted.data.guarantees[0];
  const explained = await call('explain', { request });
  expect(explained.data).toMatchObject({
    decision: 'ALLOW',
    by: 'refunds/larger',
    file: 'policies/refunds.policy',
  });
  expect(
    (await call('decide', { action: 'refund.create', payload: { amount: 600, currency: 'EUR', order: 'A' } }))
      .data,
  ).toMatchObject({ decision: 'DENY', by: 'default_deny' });

  // A change that loosens a rule against a guarantee.
  commit(folder);
  expect((await call('diff')).data).toMatchObject({ loosened: 0, stricter: 0, is_complete: true });
  put(folder, 'policies/refunds.policy', `${data.lines.join('\n')}\n`.replace('<= 500 EUR', '<= 900 EUR'));
  const changed = await call('diff');
  expect(changed.data).toMatchObject({ loosened: 1, stricter: 0, is_complete: true });
  expect(changed.data.findings[0]).toMatchObject({ direction: 'loosened', from: 'DENY', to: 'ESCALATE' });
  expect(changed.text).toContain('was proved and is refuted');
  const broken = await call('check');
  expect(broken.data).toMatchObject({ ok: false, refuted: 1 });
  expect(broken.text).toMatch(/^✗ policies: 1 of 2 claims refuted; 1 action/);

  const { data: described, text } = await call('summary');
  expect(described).toMatchObject({ confirmed: true, action_count: 1 });
  expect(text).toContain('Waits up to 4h for one of ‘Support leads’ if the amount is at most 900 EUR');
});

test('a strict check keeps warnings as warnings, says that it fails for them, and accepts a silence', async () => {
  const folder = emptyFolder();
  const { call } = await startAuthor(folder);
  const limited = (silence: string): string => `action mail.send { to: email }

meter sent = count() of mail.send per session over 8h

policy mail on mail.send {
  ${silence}
  allow few when sent <= 3
}

guarantee few on mail.send { never allow when sent > 3 }
`;
  put(folder, 'policies/mail.policy', limited('# a rule'));
  const strict = await call('check', { strict: true });
  expect(strict.data).toMatchObject({
    ok: false,
    errors: 0,
    warnings: 1,
    diagnostics: [{ severity: 'warning' }],
  });
  expect(strict.text).toMatch(/^✗ policies: 1 warning; 1 action/);
  expect(strict.text).toContain('warning[limit-per-session]');
  expect(strict.text).not.toContain('--strict');
  put(
    folder,
    'policies/mail.policy',
    limited('# writ: allow limit-per-session because the host states the session'),
  );
  expect((await call('check', { strict: true })).data).toMatchObject({ ok: true, warnings: 0 });
});

test('the guarantee of the workflow holds for the action that it declares, with a limit for each currency', async () => {
  const folder = emptyFolder();
  const { call } = await startAuthor(folder);
  const { text } = await call('reference', { topic: 'workflow' });
  const found = (pattern: RegExp): string => pattern.exec(text)?.[1] ?? '';
  const action = found(/`(action payment.*?)`/).replace('"USD"', '"USD" | "EUR"');
  const guarantee = found(/`(guarantee .*?)`/).replace(
    'payload.amount > 500 USD',
    found(/`(payload\.currency == [^`]*?)`/),
  );
  put(
    folder,
    'a.policy',
    `${action}
table limits = { USD: 500 USD, EUR: 450 EUR }
policy paying on payment.create { allow small when payload.amount <= limits[payload.currency] }
${guarantee}
`,
  );
  expect((await call('check', { strict: true })).data).toMatchObject({ ok: true, refuted: 0 });
  const untested = { on: 'payment.*', claim: 'never allow when payload.amount > 500 USD' };
  expect((await call('prove', untested)).text).toContain('help: test the currency first');
});
