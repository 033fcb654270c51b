// GET /v1/requests: what people find with each filter, and nothing that they may not see.

import { expect, test } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { type Client, firstAdmin, personWith, tokenClient } from './person-client.ts';
import { startService } from './service.ts';
import { ask, codeOf, give, type View } from './written-policies.ts';

async function found(client: Client, query = ''): Promise<readonly string[]> {
  const { body } = await client.send(`/v1/requests${query}`);
  return body.items.map((item: View) => item.request_id);
}

test('filters by each parameter, the latest first', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  const ann = await tokenClient(service, admin);
  const ben = await personWith(service, admin, {
    email: 'ben@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const ids: string[] = [];
  for (const action of ['demo.allow', 'demo.deny', 'demo.escalate', 'demo.escalate', 'no.such']) {
    ids.push((await ask(service, action)).request_id);
  }
  const [allowed = '', denied = '', first = '', second = '', undeclared = ''] = ids;
  await give(ben, first, 'approve');
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['', [undeclared, second, first, denied, allowed]],
    ['?status=pending', [second]],
    ['?status=approved', [first]],
    ['?status=rejected', [undeclared, denied]],
    // The filter compares the decision before people voted.
    ['?decision=ESCALATE', [second, first]],
    ['?agent=buyer&action=demo.deny', [denied]],
    [`?agent=${service.agent.id}&status=approved`, [first]],
    ['?agent=nobody', []],
    ['?policy=undeclared_action', [undeclared]],
    ['?risk_min=8', [undeclared]],
    ['?risk_min=7&policy=demo', [second, first, denied, allowed]],
    ['?risk_max=6', []],
    ['?risk_min=7&risk_max=7', [second, first, denied, allowed]],
    ['?risk_max=100&status=pending', [second]],
    // The payload of an undeclared action is recorded as digests.
    ['?amount_min=5', [second, first, denied, allowed]],
    ['?amount_min=4.5&amount_max=5.5&decision=ALLOW', [allowed]],
    ['?amount_min=5.01', []],
    ['?amount_max=-1', []],
    ['?from=2000-01-01T00:00:00Z&to=2001-01-01T00:00:00%2B01:00', []],
    ['?from=2000-01-01T00:00:00Z&decision=ALLOW', [allowed]],
  ];
  for (const [query, expected] of cases) expect([query, await found(ann, query)]).toEqual([query, expected]);
  const pages: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await ann.send(`/v1/requests?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    pages.push(...body.items.map((item: View) => item.request_id));
    cursor = body.next_cursor;
  }
  expect(pages).toEqual(cases[0]?.[1]);
  for (const query of [
    '?status=maybe',
    '?risk_min=101',
    '?risk_min=x',
    '?risk_max=101',
    '?amount_min=1e9',
    '?amount_max=',
    `?text=${'x'.repeat(201)}`,
    '?text=.-',
    '?from=yesterday',
    '?to=1',
    '?no=1',
  ]) {
    expect([query, codeOf(await ann.send(`/v1/requests${query}`))]).toEqual([query, [400, 'invalid_query']]);
  }
});

test('shows approvers the requests of their groups, owners those of their agents, and auditors all', async () => {
  const service = await startService();
  const admin = await firstAdmin(service);
  const person = (email: string, role: 'approver' | 'owner' | 'auditor', groups: readonly string[] = []) =>
    personWith(service, admin, { email, roles: [role], groups });
  const [finance, legal, owner, auditor] = [
    await person('ben@example.com', 'approver', ['finance']),
    await person('leo@example.com', 'approver', ['legal']),
    await person('olga@example.com', 'owner'),
    await person('ada@example.com', 'auditor'),
  ];
  const draft = { name: 'of-olga', riskTier: 'low', controlOwner: 'OLGA@example.com', tags: [] };
  const added = await addAgent(service.store, draft);
  const key = added.kind === 'added' ? added.apiKey : '';
  const { request_id: asked } = await ask(service, 'demo.escalate');
  const { request_id: olgas } = await ask(service, 'demo.allow', { key });
  expect(await found(finance)).toEqual([asked]);
  expect(await found(legal)).toEqual([]);
  expect(await found(owner)).toEqual([olgas]);
  expect(await found(auditor)).toEqual([olgas, asked]);
  expect(codeOf(await owner.send(`/v1/requests/${asked}`))).toEqual([404, 'request_not_found']);
  expect(codeOf(await owner.send(`/v1/requests/${olgas}`))).toEqual([200, 'auto_approved']);
  expect(codeOf(await finance.send(`/v1/requests/${asked}`))).toEqual([200, 'pending']);
  expect(codeOf(await auditor.send('/v1/approvals'))).toEqual([403, 'not_allowed']);
});

test('finds the words of a request, page by page, and counts them', async () => {
  const service = await startService();
  const ann = await tokenClient(service, await firstAdmin(service));
  const { request_id: staples } = await ask(service, 'demo.allow', {
    payload: { vendor: 'Staples "East"', lines: [{ note: 'Käse' }] },
  });
  const { request_id: waits } = await ask(service, 'demo.escalate', { payload: { vendor: 'Acme' } });
  const { request_id: denied } = await ask(service, 'demo.deny', { payload: { vendor: 'Acme' } });
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['sTAPLES', [staples]],
    ['KÄSE', [staples]],
    ['"vendor":"acme"', [denied, waits]],
    ['staples "east"', [staples]],
    [staples.toUpperCase(), [staples]],
    ['demo says demo.deny', [denied]],
    ['demo.esc', [waits]],
    ['FIN', [waits]],
    ['nowhere', []],
    ['', [denied, waits, staples]],
  ];
  for (const [text, expected] of cases)
    expect([text, await found(ann, `?text=${encodeURIComponent(text)}`)]).toEqual([text, expected]);
  expect(await found(ann, '?text=acme&status=pending')).toEqual([waits]);
  const countOf = async (query: string) => (await ann.send(`/v1/requests/count${query}`)).body;
  expect(await countOf('?text=acme')).toEqual({ count: 2, is_complete: true });
  expect(await countOf('?text=acme&status=pending')).toEqual({ count: 1, is_complete: true });
  expect(await countOf('?agent=buyer')).toEqual({ count: 3, is_complete: true });
  expect((await ann.send('/v1/requests?text=acme')).body.unsearched).toBe(0);
  for (let count = 0; count < 60; count += 1) await ask(service, 'demo.allow', { payload: { count } });
  const pages: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = `?text=ACME&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const { body } = await ann.send(`/v1/requests${query}`);
    pages.push(...body.items.map((item: View) => item.request_id));
    cursor = body.next_cursor;
  }
  expect(pages).toEqual([denied, waits]);
});
