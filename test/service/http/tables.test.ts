// Tables whose rows are pushed: who may push, what a row must be, and that a decision reads the rows on
// record at that moment, whoever stored them.

import { beforeAll, expect, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import type { Person } from '../../../src/service/people/person.ts';
import type { DocumentStore } from '../../../src/service/store/contract/documents.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { pushRow, removeRow } from '../../../src/service/tables/table-rows.ts';
import { type Client, firstAdmin, personWith, send, signedIn } from './person-client.ts';
import { recordOf, type Service, shareService } from './service.ts';
import { ask, codeOf, give, look, type View } from './written-policies.ts';

const tablesText = `
approvers finance "Finance"
action order.refund { order_id: string, more?: [string] }
action order.drop { order_id: string }
action mail.ask { to: email }
table orders pushed by "crm" key id: string { owner: string, open: boolean, limit?: money(cur), cur?: string }
table people pushed key mail: email { team: string }
table lots pushed by "crm" key n: integer { note?: string }
policy refunds on order.refund {
  allow own when orders[payload.order_id].owner == agent.name and orders[payload.order_id].open
  deny unknown_order when payload.order_id not in orders because "no order {payload.order_id}"
  deny others when payload has more and some id in payload.more (not orders[id].open)
}
policy drops on order.drop {
  allow asked after approval by finance when orders[payload.order_id].open
}
policy mails on mail.ask {
  allow team when people[payload.to].team == "a" and 3 in lots
}
`;

const shared = shareService({ startsWith: tablesText });
let service: Service;
let admin: Client;
let operator: Client;
let finance: Client;
let auditor: Client;
/** A client with a personal token. */
let tokened: Client;
let crm: string;
let other: string;

beforeAll(async () => {
  service = shared();
  const first = await firstAdmin(service);
  admin = await signedIn(service, 'ann@example.com');
  const people = {
    operator: ['olga@example.com', []],
    approver: ['fia@example.com', ['finance']],
    auditor: ['aud@example.com', []],
  } as const;
  const made: Record<string, Client & { readonly person: Person }> = {};
  for (const [role, [email, groups]] of Object.entries(people))
    made[role] = await personWith(service, first, {
      email,
      roles: [role as 'operator'],
      groups: [...groups],
    });
  tokened = made.operator!;
  operator = await signedIn(service, 'olga@example.com');
  finance = await signedIn(service, 'fia@example.com');
  auditor = await signedIn(service, 'aud@example.com');
  const register = async (name: string) =>
    (await operator.send('/v1/enforcement-points', { method: 'POST', body: { name, agents: [] } })).body
      .api_key;
  crm = await register('crm');
  other = await register('other');
});

const byPoint = (key: string, path: string, method: string, body?: unknown) =>
  send(service, path, { method, body, headers: { 'x-agent-api-key': key } });
const put = (path: string, body: unknown, by: Client = operator) =>
  by.send(`/v1/tables/${path}`, { method: 'PUT', body });
const refund = (order_id: string, more?: readonly string[]) =>
  ask(service, 'order.refund', { payload: { order_id, ...(more && { more }) } });

async function rowsRead({ request_id: id }: View): Promise<readonly string[]> {
  const { rows } = (await recordOf(service, id)) as { rows: { orders: object } };
  return Object.keys(rows.orders);
}

const open = { owner: 'buyer', open: true };

test('a pushed row decides the next request, and the record has the row', async () => {
  expect(await refund('o-1')).toMatchObject({
    decision: 'DENY',
    message: expect.stringContaining('no order o-1'),
  });
  const { status, body } = await byPoint(crm, '/v1/tables/orders/o-1', 'PUT', open);
  expect([status, body]).toEqual([
    200,
    {
      table: 'orders',
      key: 'o-1',
      row: open,
      version: 1,
      changed_at: expect.any(String),
      changed_by: expect.stringMatching(/^point crm \(/),
    },
  ]);
  const granted = await refund('o-1');
  expect(granted.decision).toBe('ALLOW');
  expect(await recordOf(service, granted.request_id)).toMatchObject({ rows: { orders: { 'o-1': open } } });
  await put('orders/o-1', { ...open, open: false });
  const refused = await refund('o-1');
  expect(refused.decision).toBe('DENY');
  expect(await recordOf(service, refused.request_id)).toMatchObject({
    rows: { orders: { 'o-1': { ...open, open: false } } },
  });
  expect((await operator.send('/v1/tables/orders/o-1', { method: 'DELETE' })).status).toBe(204);
  expect(await refund('o-1')).toMatchObject({ message: expect.stringContaining('no order o-1') });
  expect((await put('orders/o-1', open)).body.version).toBe(4);
  expect((await refund('o-1')).decision).toBe('ALLOW');
});

test('each change is recorded with its author, and a push without a change is not', async () => {
  await put('orders/o-2', open);
  await put('orders/o-2', open);
  await byPoint(crm, '/v1/tables/orders/o-2', 'DELETE');
  const { body } = await admin.send('/v1/audit?limit=50');
  const own = body.items.filter(({ subject }: { subject: string }) => subject === 'orders/o-2');
  expect(own.toReversed()).toMatchObject([
    { what: 'table-row-pushed', who: expect.stringContaining('olga@'), before: null, after: open },
    { what: 'table-row-removed', who: expect.stringMatching(/^point crm/), before: open, after: null },
  ]);
  expect(own).toHaveLength(2);
  expect((await verifyChain(service.store)).kind).toBe('whole');
});

test('a push without permission is refused and changes nothing', async () => {
  const path = '/v1/tables/orders/o-3';
  expect(codeOf(await put('orders/o-3', open, auditor))).toEqual([403, 'not_allowed']);
  expect(codeOf(await put('orders/o-3', open, finance))).toEqual([403, 'not_allowed']);
  expect(codeOf(await byPoint(other, path, 'PUT', open))).toEqual([403, 'not_allowed']);
  expect(codeOf(await byPoint(crm, '/v1/tables/people/a@example.com', 'PUT', { team: 'a' }))).toEqual([
    ...[403, 'not_allowed'],
  ]);
  expect(codeOf(await byPoint(service.apiKey, path, 'PUT', open))).toEqual([401, 'invalid_api_key']);
  expect(codeOf(await send(service, path, { method: 'PUT', body: open }))).toEqual([401, 'not_signed_in']);
  expect(codeOf(await byPoint(crm, path, 'GET'))).toEqual([401, 'not_signed_in']);
  expect(codeOf(await auditor.send(path))).toEqual([404, 'not_found']);
  expect((await put('orders/o-3', open, tokened)).status).toBe(200);
});

test('a disabled point cannot push', async () => {
  const { body } = await operator.send('/v1/enforcement-points', {
    method: 'POST',
    body: { name: 'gone', agents: [] },
  });
  await operator.send(`/v1/enforcement-points/${body.point.id}/disable`, { method: 'POST', body: {} });
  const reply = await byPoint(body.api_key, '/v1/tables/orders/o-4', 'PUT', open);
  expect(codeOf(reply)).toEqual([403, 'point_not_active']);
});

test.each([
  ['orders/o-5', { owner: 'buyer' }, '/open'],
  ['orders/o-5', { owner: 7, open: true }, '/owner'],
  ['orders/o-5', { ...open, colour: 'red' }, '/colour'],
  ['orders/o-5', { ...open, limit: 5, cur: 'XXY' }, '/limit'],
  ['orders/o-5', { ...open, id: 'o-6' }, '/id'],
  ['people/nobody', { team: 'a' }, '/mail'],
  ['lots/three', {}, '/n'],
  ['lots/3.5', {}, '/n'],
  ['lots/03', {}, '/n'],
])('a row of %s that does not fit is refused: %j', async (path, row, pointer) => {
  const { status, body } = await put(path, row);
  expect([status, body.errors[0].pointer]).toEqual([400, pointer]);
  expect(codeOf(await operator.send(`/v1/tables/${path}`))).toEqual([404, 'not_found']);
});

test('only tables that rules read, and rows that were pushed, are found', async () => {
  expect(codeOf(await put('refunds/a', {}))).toEqual([404, 'not_found']);
  expect(codeOf(await operator.send('/v1/tables/orders/none', { method: 'DELETE' }))).toEqual([
    404,
    'not_found',
  ]);
  const { body } = await auditor.send('/v1/tables');
  expect(body.items.map(({ name }: { name: string }) => name)).toEqual(['lots', 'orders', 'people']);
  expect(body.items[0]).toEqual({
    name: 'lots',
    key: { name: 'n', type: 'integer' },
    columns: [{ name: 'note', type: 'string', is_optional: true }],
    pushed_by: ['crm'],
  });
});

test('rows are found by keys in canonical form, and listed in pages', async () => {
  expect((await put('people/Ann@EXAMPLE.com', { team: 'a' })).body.key).toBe('Ann@example.com');
  await put('lots/3', {});
  const asked = await ask(service, 'mail.ask', { payload: { to: 'Ann@Example.COM' } });
  expect(asked.decision).toBe('ALLOW');
  const keys = ['a/b', 'ü 1', '__proto__', `k${'x'.repeat(499)}`];
  for (const key of keys) {
    const path = `/v1/tables/orders/${encodeURIComponent(key)}`;
    expect((await byPoint(crm, path, 'PUT', open)).body.key).toBe(key);
    expect((await refund(key)).decision).toBe('ALLOW');
  }
  const tooLong = `/v1/tables/orders/${'x'.repeat(501)}`;
  expect(codeOf(await byPoint(crm, tooLong, 'PUT', open))).toEqual([400, 'invalid_body']);
  const found: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = cursor === '' ? '' : `&cursor=${cursor}`;
    const { body } = await operator.send(`/v1/tables/orders?limit=2${query}`);
    found.push(...body.items.map(({ key }: { key: string }) => key));
    cursor = body.next_cursor;
  }
  expect(found).toEqual(expect.arrayContaining(keys));
  expect(new Set(found).size).toBe(found.length);
});

test('a list has all its rows, and is unknown if there are too many', async () => {
  const keys = Array.from({ length: 300 }, (_, at) => `many-${at}`);
  for (const key of keys.slice(0, 3)) await put(`orders/${key}`, open);
  const few = await refund('many-0', keys.slice(0, 3));
  expect(few.decision).toBe('ALLOW');
  expect(await rowsRead(few)).toEqual(keys.slice(0, 3));
  // The last key has no row, so its value is unknown and the guard takes effect.
  expect((await refund('many-0', keys.slice(0, 4))).decision).toBe('DENY');
  const many = await refund('many-0', keys);
  expect(many.decision).toBe('DENY');
  expect(await rowsRead(many)).toHaveLength(256);
});

test('a pending request is decided with the present rows', async () => {
  await put('orders/w-1', open);
  const waits = async () => {
    const { request_id: id, decision } = await ask(service, 'order.drop', { payload: { order_id: 'w-1' } });
    expect(decision).toBe('ESCALATE');
    return id;
  };
  const first = await waits();
  await put('orders/w-1', { ...open, open: false });
  expect(codeOf(await give(finance, first, 'approve'))).toEqual([200, 'rejected']);
  await put('orders/w-1', open);
  const second = await waits();
  expect(codeOf(await give(finance, second, 'approve'))).toEqual([200, 'approved']);
  expect((await look(service, second)).body.status).toBe('approved');
});

test('a row that another process has pushed decides at once', async () => {
  const elsewhere = await openStore(service.place);
  const by = { documents: elsewhere.documents, who: 'another', nowMs: Date.now() };
  try {
    await put('orders/e-1', open);
    expect((await refund('e-1')).decision).toBe('ALLOW');
    await removeRow(by, { table: 'orders', key: 'e-1' });
    expect((await refund('e-1')).decision).toBe('DENY');
    await pushRow(by, { table: 'orders', key: 'e-1' }, open);
    expect((await refund('e-1')).decision).toBe('ALLOW');
  } finally {
    await elsewhere.close();
  }
});

test('a grant is not stored after the record of a row that forbids it', async () => {
  await put('orders/r-1', open);
  const by = { documents: service.store.documents, who: 'another', nowMs: Date.now() };
  const place = { table: 'orders', key: 'r-1' };
  const { store } = service;
  const append = store.requests.append.bind(store.requests);
  // Changes the row between the decision's look-up and the transaction.
  store.requests.append = async (...args) => {
    store.requests.append = append;
    await removeRow(by, place);
    return append(...args);
  };
  const spend = store.meters.spend.bind(store.meters);
  store.meters.spend = async (...args) => {
    store.meters.spend = spend;
    await removeRow(by, place);
    return spend(...args);
  };
  expect((await refund('r-1')).decision).toBe('DENY');
});

test('a row that cannot be recorded is not active', async () => {
  const { documents } = service.store;
  const write = documents.write.bind(documents);
  const failing: DocumentStore['write'] = async () => {
    throw new StoreError('full', 'the disk is full');
  };
  documents.write = failing;
  try {
    expect(codeOf(await put('orders/f-1', open))).toEqual([500, 'record_failed']);
  } finally {
    documents.write = write;
  }
  expect(await refund('f-1')).toMatchObject({ message: expect.stringContaining('no order f-1') });
});

test('the request and its explanation show the row that was read, also after it has changed', async () => {
  await put('orders/x-1', open);
  const { request_id: id } = await refund('x-1');
  await put('orders/x-1', { ...open, owner: 'another' });
  const shown = await admin.send(`/v1/requests/${id}`);
  const own = shown.body.trace.find(({ rule }: { rule: string }) => rule === 'refunds/own');
  expect(own.reads).toMatchObject({
    'orders[payload.order_id].owner': { value: 'buyer' },
    'orders[payload.order_id].open': { value: true },
  });
  const { body: explained } = await admin.send(`/v1/requests/${id}/explain`);
  const lines = explained.conditions.flatMap(({ lines: own }: { lines: { text: string }[] }) => own);
  expect(explained.decision).toBe('ALLOW');
  expect(lines).toContainEqual(
    expect.objectContaining({ text: 'orders[payload.order_id].owner', value: 'buyer' }),
  );
  // A replay decides every request on the rows that its decision read.
  const sent = { method: 'POST', body: { files: [], days: 1 } };
  const { body: replayed } = await admin.send('/v1/policies/replay', sent);
  expect(replayed).toContain('"changes":{"outcome":0,"asked":0,"rule":0}');
  expect(replayed).toContain('"diagnostics":[]');
});

test('the playground accepts rows with a request', async () => {
  const payload = { order_id: 'p-1' };
  const tried = async (tables?: object) => {
    const request = {
      action_key: 'order.refund',
      payload,
      agent: { name: 'buyer' },
      ...(tables && { tables }),
    };
    const sent = { method: 'POST', body: { files: [], request } };
    return (await admin.send('/v1/policies/try', sent)).body;
  };
  expect((await tried({ orders: { 'p-1': open } })).decision.decision).toBe('ALLOW');
  expect((await tried({ orders: { 'p-2': open } })).decision).toMatchObject({ reason: 'no order p-1' });
  expect((await tried()).decision.decision).toBe('DENY');
  const wrong = await tried({
    orders: { 'p-1': { ...open, owner: 3 } },
    order: {},
    lots: { three: {} },
    people: 3,
  });
  expect(
    wrong.issues.map(({ pointer, help }: { pointer: string; help: string | null }) => [pointer, help]),
  ).toEqual([
    ['/tables/orders/p-1/owner', null],
    ['/tables/order', 'did you mean `orders`'],
    ['/tables/lots/three/n', null],
    ['/tables/people', null],
  ]);
});
