// Trying files on the recorded requests over HTTP: the findings of `writ replay` on the same records, who may
// try, what ends a replay, and the replies when the files, the records or the thread fail.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { ReplaysOptions } from '../../../src/analysis/replay/replays.ts';
import type { OpenApiDocument } from '../../../src/service/http/contract/openapi.ts';
import type { JsonSchema } from '../../../src/service/http/contract/operation.ts';
import type { Person } from '../../../src/service/people/person.ts';
import { writ } from '../../cli/writ.ts';
import { mismatches } from './documented.ts';
import { type Client, client, firstAdmin, personWith, signedIn, tokenClient } from './person-client.ts';
import { shareService, startService } from './service.ts';
import { ask, codeOf, give, usePolicies } from './written-policies.ts';

const policies = (limit: number, pages = 5): string => `approvers finance "Finance"
action pay.make { amount: number 0.01.., to: string }
action doc.read { pages: integer }
action key.use { token: secret string 1..90, uses: integer }
meter spent = sum(payload.amount) of pay.make per agent over 24h
policy p on pay.make {
  allow small when payload.amount <= ${limit} and spent <= 9_000
  allow any after approval by finance when payload.amount <= 10_000
}
policy d on doc.read { allow few when payload.pages <= ${pages} }
policy k on key.use { allow few when payload.uses <= 5 }
`;

const active = policies(1_000);
const changed = policies(3_000, 2);
const earlier = policies(100);

const shared = shareService();
let admin: Person;
let auditor: Client;
let paid: string;
let document: OpenApiDocument;
let lineSchema: JsonSchema;

beforeAll(async () => {
  const service = shared();
  admin = await firstAdmin(service);
  auditor = await personWith(service, admin, { email: 'eve@example.com', roles: ['auditor'] });
  const finance = await personWith(service, admin, {
    email: 'fin@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  document = (await auditor.send('/openapi.json')).body;
  lineSchema = document.paths['/v1/policies/replay']?.post?.responses['200']?.content['application/jsonl']
    ?.schema as JsonSchema;
  await usePolicies(service, earlier);
  await ask(service, 'pay.make', { payload: { amount: 500, to: 'ann' } });
  await usePolicies(service, active);
  for (const amount of [20, 900, 2_000, 20_000])
    await ask(service, 'pay.make', { payload: { amount, to: 'ann' } });
  paid = (await ask(service, 'pay.make', { payload: { amount: 2_500, to: 'bob' } })).request_id;
  await give(finance, paid, 'approve', 'finance');
  await ask(service, 'pay.make', { payload: { amount: 'much' } });
  for (const pages of [1, 4]) await ask(service, 'doc.read', { payload: { pages } });
  for (const uses of [1, 4]) await ask(service, 'key.use', { payload: { token: 'not to be told', uses } });
});

interface Lines {
  readonly status: number;
  readonly type: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into what it got
  readonly lines: readonly any[];
}

async function replay(body: unknown, by: Client = auditor): Promise<Lines> {
  const { status, headers, body: text } = await by.send('/v1/policies/replay', { method: 'POST', body });
  const lines = typeof text === 'string' ? text.trimEnd().split('\n') : [JSON.stringify(text)];
  const read = lines.map((line) => JSON.parse(line));
  if (status === 200) expect(read.flatMap((line) => mismatches(lineSchema, line, document))).toEqual([]);
  return { status, type: headers.get('content-type'), lines: read };
}

const filesOf = (text: string) => [{ path: 'demo.policy', text }];

/** What `writ replay` prints for an export of the same records. */
async function replayedBy(after: string): Promise<Record<string, unknown>> {
  const root = mkdtempSync(join(tmpdir(), 'writ-replay-test-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [name, text] of [
    ['active', active],
    ['files', after],
  ] as const) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, 'demo.policy'), text);
  }
  const { body } = await auditor.send('/v1/audit/export');
  writeFileSync(join(root, 'log.jsonl'), String(body));
  const args = ['log.jsonl', '--policies', 'files', '--against', 'active', '--json'];
  const { stdout } = await writ(['replay', ...args], { cwd: root });
  return JSON.parse(stdout.replaceAll(/"(active|files)\/demo\.policy/g, '"demo.policy'));
}

test.each([
  ['looser and stricter', changed],
  ['without a meter, each request for itself', changed.replace(' and spent <= 9_000', '')],
])('says what `writ replay` prints of an export of the same records: %s', async (_name, text) => {
  const { status, type, lines } = await replay({ files: filesOf(text), days: 1 });
  expect([status, type]).toEqual([200, 'application/jsonl; charset=utf-8']);
  const { since: _since, ...printed } = await replayedBy(text);
  const { since, ...told } = lines.at(-1).answer.replay;
  expect(told).toEqual(printed);
  expect(Date.now() - Date.parse(since)).toBeGreaterThanOrEqual(24 * 60 * 60 * 1_000);
  const shares = lines.slice(0, -1).map(({ progress }) => progress);
  expect(shares.length).toBeGreaterThan(1);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
});

const fewer = (count: number) => ({
  group: 'finance',
  votes: { before: count, now: 0 },
  busiest: { before: count, now: 0 },
});

test('assigns each changed request to its finding, and separates earlier policies from the active ones', async () => {
  const { answer } = (await replay({ files: filesOf(changed) })).lines.at(-1);
  const { matrix, people, findings, examples, requests, withheld, decided_by, against } = answer.replay;
  expect(requests).toBe(11);
  expect(matrix).toMatchObject({ ESCALATE: { ALLOW: 3 }, ALLOW: { ALLOW: 5, DENY: 1 }, DENY: { DENY: 2 } });
  expect(withheld).toBe(0);
  expect(people).toMatchObject([{ group: 'finance', votes: { before: 3, now: 0 } }]);
  expect(findings.map(({ direction, log }: Record<string, object>) => [direction, log])).toEqual([
    ['loosened', { id: '1', requests: 2, agents: 1, people: [expect.objectContaining(fewer(2))] }],
    ['stricter', { id: '2', requests: 1, agents: 1, people: [] }],
  ]);
  // Earlier policies decided this request.
  expect(answer.replay.people_without_finding).toMatchObject([fewer(1)]);
  expect(examples.map(({ finding }: { finding: string }) => finding).toSorted()).toEqual([
    '1',
    '1',
    '2',
    null,
  ]);
  expect(examples.find((one: { request_id: string }) => one.request_id === paid)).toMatchObject({
    finding: '1',
    agent: 'buyer',
    before: { outcome: 'ESCALATE' },
    now: { outcome: 'ALLOW', by: 'p/small' },
  });
  expect(Object.values(decided_by).toSorted()).toEqual([1, 10]);
  expect(against).toMatchObject({ name: 'active', requests: 10 });
  expect(answer.requests.length).toBe(findings.length);
  expect(JSON.stringify(answer)).not.toContain('not to be told');
});

test('a request whose withheld secret the payload check reads is counted as undecidable', async () => {
  const shorter = active.replace('secret string 1..90, uses', 'secret string 1..90, odd: integer, uses');
  const { answer } = (await replay({ files: filesOf(shorter) })).lines.at(-1);
  expect(answer.replay.other_shape).toEqual({ 'key.use': 2 });
  const open = active.replace('token: secret string 1..90', 'token: integer');
  expect((await replay({ files: filesOf(open) })).lines.at(-1).answer.replay.withheld).toBe(2);
  // A digest has the form of this record type, so rules might read it.
  const record = active.replace('token: secret string 1..90', 'token: { secret: string }');
  const tried = (await replay({ files: filesOf(record) })).lines.at(-1).answer.replay;
  expect(tried.withheld).toBe(2);
  const rows: readonly Record<string, number>[] = Object.values(tried.matrix);
  const told = rows.flatMap((row) => Object.values(row)).reduce((sum, count) => sum + count, 0);
  expect(told).toBe(tried.requests - 2);
});

test('files with errors return the diagnostics and no replay', async () => {
  const { answer } = (await replay({ files: filesOf(active.replace('by finance', 'by fnance')) })).lines.at(
    -1,
  );
  expect([answer.replay, answer.requests]).toEqual([null, []]);
  expect(answer.diagnostics).toContainEqual(expect.objectContaining({ severity: 'error', line: 8 }));
});

test.each([
  [{}, ''],
  [{ files: [{ path: '../demo.policy', text: '' }] }, '/files/0/path'],
  [{ files: [], days: 0 }, '/days'],
  [{ files: [], days: 91 }, '/days'],
  [{ files: [], days: 1.5 }, '/days'],
  [{ files: [], request: {} }, '/request'],
])('takes no body that is not one: %j', async (body, pointer) => {
  const { status, lines } = await replay(body);
  expect([status, lines[0].type]).toEqual([400, 'urn:writ:error:invalid_body']);
  expect(lines[0].errors[0].pointer).toContain(pointer);
});

test('is permitted only to people who may see all requests, and records nothing', async () => {
  const before = (await auditor.send('/v1/audit/export')).body;
  for (const [role, ...groups] of [['approver', 'finance'], ['owner']] as const) {
    const other = await personWith(shared(), admin, { email: `${role}@example.com`, roles: [role], groups });
    const answer = await other.send('/v1/policies/replay', { method: 'POST', body: { files: [] } });
    expect(codeOf(answer)).toEqual([403, 'not_allowed']);
  }
  const stranger = await client(shared(), {}).send('/v1/policies/replay', {
    method: 'POST',
    body: { files: [] },
  });
  expect(codeOf(stranger)).toEqual([401, 'not_signed_in']);
  expect((await replay({ files: filesOf(changed) })).status).toBe(200);
  const kinds = (text: unknown): number => String(text).split('"kind":"request"').length;
  expect(kinds((await auditor.send('/v1/audit/export')).body)).toBe(kinds(before));
});

const script = new URL('../../analysis/playground/failing-replay.ts', import.meta.url);
const failing = (kind: string) => ({
  files: [{ path: 'f.policy', text: `# fault: ${kind}\nlist faults = ["${kind}"]\n` }],
});

async function replayUntilFree(body: unknown, by: Client): Promise<Lines> {
  for (;;) {
    const reply = await replay(body, by);
    if (reply.status !== 429) return reply;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function failingService(limits: Pick<ReplaysOptions, 'timeoutMs'> = {}) {
  const service = await startService({ replays: { script, ...limits } });
  const first = await firstAdmin(service);
  return { service, admin: first, ann: await tokenClient(service, first) };
}

test('a replay that fails, or whose person loses the permission, gives the reason in its last line', async () => {
  const { service, ann } = await failingService({ timeoutMs: 2_000 });
  await ask(service, 'demo.allow', { payload: { amount: 5 } });
  for (const [kind, why] of [
    ['hang', 'within 2 seconds'],
    ['throw', 'it stopped unexpectedly'],
  ] as const) {
    const { status, lines } = await replayUntilFree(failing(kind), ann);
    expect([status, lines.at(-1).problem.type]).toEqual([200, 'urn:writ:error:playground_failed']);
    expect(lines.at(-1).problem.detail).toContain(why);
    expect(JSON.stringify(lines)).not.toContain('failing-replay');
  }
  expect((await replayUntilFree({ files: [] }, ann)).lines.at(-1).answer.replay.requests).toBe(1);
  const leaving = await signedIn(service, 'ann@example.com');
  const slow = replayUntilFree(failing('slow'), leaving);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await leaving.send('/v1/session', { method: 'DELETE' })).status).toBe(204);
  const { lines } = await slow;
  expect(lines.at(-1).problem.type).toBe('urn:writ:error:not_allowed');
  expect(JSON.stringify(lines)).not.toContain('answer');
});

test('one replay per person runs at a time, and two in total; a disconnect ends it', async () => {
  // The replay hangs, and only a closed connection ends it.
  const { service, admin: first, ann } = await failingService();
  const [ben, eve] = await Promise.all(
    ['ben', 'eve'].map((name) =>
      personWith(service, first, { email: `${name}@example.com`, roles: ['auditor'] }),
    ),
  );
  const [hers, his] = [new AbortController(), new AbortController()];
  const begin = async (by: Client, { signal }: AbortController) => {
    const reply = await fetch(`${service.url}/v1/policies/replay`, {
      method: 'POST',
      headers: { ...by.headers, 'content-type': 'application/json' },
      body: JSON.stringify(failing('hang')),
      signal,
    });
    await reply.body?.getReader().read();
    return reply.status;
  };
  expect(await begin(ann, hers)).toBe(200);
  const again = await ann.send('/v1/policies/replay', { method: 'POST', body: { files: [] } });
  expect([...codeOf(again), again.headers.get('retry-after')]).toEqual([429, 'playground_busy', '1']);
  expect(await begin(ben as Client, his)).toBe(200);
  expect((await replay({ files: [] }, eve as Client)).status).toBe(429);
  hers.abort();
  his.abort();
  for (const by of [ann, eve as Client])
    expect((await replayUntilFree({ files: [] }, by)).lines.at(-1).answer.replay.requests).toBe(0);
});
