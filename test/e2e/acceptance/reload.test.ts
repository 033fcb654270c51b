// A policy is edited while requests flow: every reply belongs wholly to the old set or to the new one, and a
// broken edit changes only the reported state.

import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Answered, runLoad } from './load.ts';
import { addAgent, type Service, startService, temporary } from './service.ts';

const policies = temporary('policies');
const file = join(policies, 'payments.policy');
let service: Service;
let key: string;

beforeAll(async () => {
  cpSync('policies/payments', policies, { recursive: true });
  // One agent pays one vendor for the whole test, so the budgets of a day have room for it.
  edit((text) => text.replaceAll(/(_limit = |_24h > )[\d_]+ USD/g, '$1100_000_000 USD'));
  // Nobody approves in this test, so many requests wait.
  service = await startService({ policies, env: { WRIT_REQUESTS_OPEN_MAX: '10000' } });
  key = await addAgent(service.data, 'loader');
});

afterAll(async () => {
  await service.end('SIGTERM');
});

const request = {
  action_key: 'payment.create',
  payload: { amount: 800, currency: 'USD', vendor: 'Staples', description: 'x' },
};

/** Edits as an editor does: the new text appears at once, by a rename. */
function edit(change: (text: string) => string): void {
  writeFileSync(`${file}.new`, change(readFileSync(file, 'utf8')));
  renameSync(`${file}.new`, file);
}

function outcomeOf({ reply }: Answered): string {
  const { decision, matched_policy, reason, status, risk_score } = reply.body;
  return [reply.status, decision, matched_policy, reason, status, risk_score].join(' | ');
}

it('decides every request by the old or the new set, and soon by the new one only', async () => {
  const answered = await runLoad({
    url: service.url,
    key,
    total: 4000,
    clients: 8,
    request: () => request,
    onReply: (count) => {
      if (count !== 500) return;
      edit((text) => text.replace('payload.amount > small_limit', 'payload.amount > 500 USD'));
    },
  });
  const outcomes = new Set(answered.map(outcomeOf));
  expect([...outcomes].toSorted()).toEqual([
    '200 | ALLOW | vendor_payments | Known vendor, within the limit | auto_approved | 0',
    '200 | ESCALATE | vendor_payments | Payments over 100000000 USD need two people from finance | pending | 30',
  ]);
  const byNew = answered.filter(({ reply }) => reply.body.decision === 'ESCALATE');
  const firstByNewMs = Math.min(...byNew.map(({ answeredAtMs }) => answeredAtMs));
  const lateByOld = answered.filter(
    ({ sentAtMs, reply }) => sentAtMs > firstByNewMs && reply.body.decision === 'ALLOW',
  );
  expect(lateByOld).toEqual([]);
});

it('keeps deciding by the last good set after an edit with errors, and reports it', async () => {
  edit((text) => text.replace('allow known_vendor for 10m', 'allow known_vendor fro 10m'));
  const state = await stateWhen((one) => one.status === 'stale');
  expect(JSON.stringify(state)).toContain('payments.policy');
  expect(service.output()).toContain('fro');
  const answered = await runLoad({ url: service.url, key, total: 100, clients: 4, request: () => request });
  expect(answered.map(({ reply }) => reply.body.decision)).toEqual(Array(100).fill('ESCALATE'));

  edit((text) =>
    text.replace('fro 10m', 'for 10m').replace('payload.amount > 500 USD', 'payload.amount > small_limit'),
  );
  await stateWhen((one) => one.status === 'current');
  const [fixed] = await runLoad({ url: service.url, key, total: 1, clients: 1, request: () => request });
  expect(fixed?.reply.body.decision).toBe('ALLOW');
});

async function stateWhen(isReached: (state: { status: string }) => boolean): Promise<unknown> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const body = (await (await fetch(`${service.url}/readyz`)).json()) as { policies: { status: string } };
    if (isReached(body.policies)) return body.policies;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the state was not reached within 5 s');
}
