// Drafts of policies over HTTP: each person's own, replaced only by who has seen the last one, and never active.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { sweep } from '../../../src/service/people/sweep.ts';
import { createPolicyDrafts, draftDays } from '../../../src/service/policies/policy-drafts.ts';
import { type Client, firstAdmin, personWith } from './person-client.ts';
import { shareService } from './service.ts';
import { ask, codeOf, usePolicies } from './written-policies.ts';

const shared = shareService();
const policies = `action pay.make { amount: number }
policy p on pay.make { deny all when payload.amount > 0 }
`;
const loosened = policies.replace('deny all', 'allow all');
let eve: Client;
let ben: Client;

beforeAll(async () => {
  const admin = await firstAdmin(shared());
  eve = await personWith(shared(), admin, { email: 'eve@example.com', roles: ['owner'] });
  ben = await personWith(shared(), admin, { email: 'ben@example.com', roles: ['admin'] });
  await usePolicies(shared(), policies);
});

const address = '/v1/policies/draft';
const save = (client: Client, text: string, version: number) =>
  client.send(address, {
    method: 'PUT',
    body: { files: [{ path: 'demo.policy', text }], version },
  });
const draftOf = async (client: Client) => (await client.send(address)).body.draft;

test('a draft is saved, read, replaced and deleted only by its person', async () => {
  expect(await draftOf(eve)).toBeNull();
  const first = await save(eve, loosened, 0);
  expect(first).toMatchObject({
    status: 200,
    body: { version: 1, policy_set: shared().policies.current().digest },
  });
  expect(await draftOf(eve)).toEqual(first.body);
  expect(await draftOf(ben)).toBeNull();
  // A text with errors is a draft, too.
  expect((await save(eve, 'nonsense', 1)).body).toMatchObject({ version: 2, files: [{ text: 'nonsense' }] });

  // Another window has seen an earlier draft, or none.
  expect(codeOf(await save(eve, policies, 1))).toEqual([409, 'conflict']);
  expect(codeOf(await save(eve, policies, 0))).toEqual([409, 'conflict']);
  expect(codeOf(await save(ben, policies, 2))).toEqual([409, 'conflict']);
  expect(codeOf(await eve.send(`${address}?version=1`, { method: 'DELETE' }))).toEqual([409, 'conflict']);
  expect((await draftOf(eve)).files).toEqual([{ path: 'demo.policy', text: 'nonsense' }]);

  expect((await eve.send(`${address}?version=2`, { method: 'DELETE' })).status).toBe(204);
  expect(await draftOf(eve)).toBeNull();
  expect(codeOf(await eve.send(`${address}?version=2`, { method: 'DELETE' }))).toEqual([409, 'conflict']);
});

test('a draft is never active: nothing on disk changes, and a reload reads the directory alone', async () => {
  const { version } = (await save(ben, loosened, 0)).body;
  const before = filesUnder(dirname(shared().policyFile));
  expect(before.flatMap(([, text]) => text).join('')).not.toContain('allow all');
  await shared().policies.reload();
  expect((await ask(shared(), 'pay.make')).decision).toBe('DENY');
  expect(shared().policies.current().digest).toBe((await draftOf(ben)).policy_set);
  expect(filesUnder(dirname(shared().policyFile))).toEqual(before);
  // It is not part of the record either.
  const log = (await ben.send('/v1/audit')).body.items;
  expect(JSON.stringify(log)).not.toMatch(/draft/);
  await ben.send(`${address}?version=${version}`, { method: 'DELETE' });
});

test.each([
  ['../outside.policy', '/files/0/path'],
  ['/etc/passwd', '/files/0/path'],
  ['.git/config', '/files/0/path'],
])('refuses the path %s', async (path, pointer) => {
  const reply = await eve.send(address, {
    method: 'PUT',
    body: { files: [{ path, text: '' }], version: 0 },
  });
  expect(reply.status).toBe(400);
  expect(reply.body.errors).toMatchObject([{ pointer }]);
});

test('returns where the directory is in its repository', async () => {
  expect((await eve.send(address)).body.repository_path).toBeNull();
  const folder = dirname(shared().policyFile);
  mkdirSync(join(dirname(folder), '.git'));
  expect((await eve.send(address)).body.repository_path).toBe(folder.split('/').at(-1));
});

test('a draft that is not saved for a long time is deleted, and another one can take its place', async () => {
  const { documents } = shared().store;
  const drafts = createPolicyDrafts(documents);
  const nowMs = Date.parse('2020-01-01');
  const draft = { id: 'somebody', files: [], basis: 'none', nowMs };
  const late = nowMs + draftDays * 86_400_000;
  expect(await drafts.save(draft, 0)).toBe('saved');
  expect(await drafts.find('somebody', late - 1)).toMatchObject({ version: 1 });
  expect(await drafts.find('somebody', late)).toBeNull();
  expect(await drafts.save({ ...draft, nowMs: late }, 0)).toBe('saved');
  expect(await drafts.save({ ...draft, nowMs: late }, 0)).toBe('conflict');
  expect(await sweep(documents, late + draftDays * 86_400_000 + 1)).toBeGreaterThan(0);
  expect(await drafts.save({ ...draft, nowMs: late }, 0)).toBe('saved');
  expect(await drafts.find('somebody', late)).toMatchObject({ version: 1 });
});

function filesUnder(folder: string): readonly (readonly [string, string])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((path) => [path, readFileSync(path, 'utf8')]);
}
