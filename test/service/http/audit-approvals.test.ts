// Who approved what, over HTTP and by the command line on the same data; and names in the audit log.

import { dirname } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { writ } from '../../cli/writ.ts';
import { type Client, firstAdmin, personWith, send } from './person-client.ts';
import { type Service, shareService } from './service.ts';
import { ask, codeOf, give, usePolicies } from './written-policies.ts';

const policies = `approvers finance "Finance"
action pay.make "Pay {amount} to {to}" { amount: number, to: string }
policy p on pay.make {
  allow all
  escalate large to finance when payload.amount > 10
  escalate owned to owner when payload.amount <= 10
}
`;

const shared = shareService({ isInFile: true });
let service: Service;
let ann: Client;
let ben: Client;
const startMs = Date.now();

beforeAll(async () => {
  service = shared();
  const admin = await firstAdmin(service);
  ann = await personWith(service, admin, {
    email: 'ann.b@example.com',
    roles: ['auditor', 'approver'],
    groups: ['finance'],
  });
  ben = await personWith(service, admin, {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  await usePolicies(service, policies);
  const paid = await ask(service, 'pay.make', { payload: { amount: 20, to: '=HYPERLINK("x")' } });
  const refused = await ask(service, 'pay.make', { payload: { amount: 30, to: 'Grainger' } });
  expect(codeOf(await give(ben, paid.request_id, 'approve'))).toEqual([200, 'approved']);
  expect(codeOf(await give(ann, refused.request_id, 'reject'))).toEqual([200, 'rejected']);
});

const items = async (query = '') => (await ann.send(`/v1/audit/approvals${query}`)).body.items;

test('lists the votes with person, request and agent, the latest first', async () => {
  const [latest, first, ...others] = await items();
  expect(others).toEqual([]);
  expect(latest).toMatchObject({
    vote: 'rejected',
    person: { email: 'ann.b@example.com' },
    group: 'finance',
    comment: 'looked at',
    action_key: 'pay.make',
    title: 'Pay 30 to Grainger',
  });
  expect(latest.person.name).not.toBe('');
  expect(latest.agent.name).not.toBe('');
  expect(first).toMatchObject({ vote: 'approved', person: { email: 'ben@example.com' } });
  expect(latest.sequence).toBeGreaterThan(first.sequence);
});

test('filters by person and time, in pages', async () => {
  expect((await items('?who=BEN@')).map(({ vote }: { vote: string }) => vote)).toEqual(['approved']);
  expect(await items(`?to=${new Date(startMs - 60_000).toISOString()}`)).toEqual([]);
  expect(await items(`?from=${new Date(startMs - 60_000).toISOString()}`)).toHaveLength(2);
  const page = (await ann.send('/v1/audit/approvals?limit=1')).body;
  expect(page.items).toMatchObject([{ vote: 'rejected' }]);
  const next = (await ann.send(`/v1/audit/approvals?limit=1&cursor=${page.next_cursor}`)).body;
  expect(next).toMatchObject({ items: [{ vote: 'approved' }], next_cursor: null });
  expect(codeOf(await ann.send('/v1/audit/approvals?from=soon'))).toEqual([400, 'invalid_query']);
  // Only who may read the audit log.
  expect(codeOf(await ben.send('/v1/audit/approvals'))).toEqual([403, 'not_allowed']);
});

test('the command prints the same as a table, as CSV without formulas, and as JSON lines', async () => {
  const data = dirname((service.place as { readonly path: string }).path);
  const run = (...args: readonly string[]) => writ(['audit', 'approvals', '--data', data, ...args]);
  const table = await run('--since', '2020-01-01');
  expect(table.stderr).toBe('');
  expect(table.stdout).toMatch(/^AT +PERSON +VOTE +FOR +REQUEST +AGENT +COMMENT\n/);
  expect(table.stdout).toMatch(
    /\d{4}-\d\d-\d\d \d\d:\d\d \S+ +\S.* <ann\.b@example\.com> +rejected +finance +Pay 30 to Grainger /,
  );
  const csv = (await run('--since', '2020-01-01', '--csv')).stdout.split('\r\n');
  expect(csv[0]).toBe(
    'at,person,email,vote,for,in_place_of,request,action,agent,comment,chat,request_id,record',
  );
  expect(csv[1]).toContain(',ann.b@example.com,rejected,finance,,Pay 30 to Grainger,pay.make,');
  const json = (await run('--since', '2020-01-01', '--json')).stdout.trimEnd().split('\n');
  expect(json.map((line) => JSON.parse(line))).toEqual(await items());
  expect((await run('--since', '2020-01-01', '--until', '2020-02-01')).stdout).toBe(
    'no votes in this period\n',
  );
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining('--since') });
});

test('the download has the same rows', async () => {
  const reply = await fetch(`${service.url}/v1/audit/approvals/export?who=ben`, { headers: ann.headers });
  expect(reply.headers.get('content-disposition')).toMatch(/filename="writ-approvals-\d{4}-\d\d-\d\d\.csv"/);
  const rows = (await reply.text()).trimEnd().split('\r\n');
  expect(rows).toHaveLength(2);
  expect(rows[1]).toContain(',ben@example.com,approved,finance,');
});

test('the audit log contains the names of people and agents', async () => {
  const found = (await ann.send('/v1/audit?what=agent-added')).body.items[0];
  expect(found.names[found.subject]).toBe(found.after.name);
  const person = (await ann.send('/v1/audit?what=invitation-accepted')).body.items[0];
  expect(person.names[person.subject]).toBe(person.after.name);
  const headers = { 'x-agent-api-key': service.apiKey };
  const body = { steps: [{ action_key: 'pay.make', payload: { amount: 40, to: 'Uline' } }], submit: true };
  expect((await send(service, '/v1/plans', { method: 'POST', headers, body })).status).toBe(200);
  const plan = (await ann.send('/v1/audit?what=plan-submitted')).body.items[0];
  expect(plan.who).toBe(`agent ${service.agent.id}`);
  expect(plan.names[service.agent.id]).toBe(service.agent.name);
});
