// Comparing files with the active policies over HTTP: the findings of `writ diff`, examples that can be tried
// and decide as stated, who may compare, and the replies when the files or the thread fail.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Person } from '../../../src/service/people/person.ts';
import { writ } from '../../cli/writ.ts';
import { type Client, firstAdmin, personWith } from './person-client.ts';
import { authorize, policyText, shareService, startService } from './service.ts';
import { usePolicies } from './written-policies.ts';

const policies = (limit: number): string => `approvers finance "Finance"
action pay.make { amount: number 0.01.., to: string }
meter spent = sum(payload.amount) of pay.make per agent over 24h
policy p on pay.make {
  allow small when payload.amount <= ${limit} and spent <= 50_000
  allow any after approval by finance when payload.amount <= 10_000
  deny blocked when payload.to == "mallory"
}
guarantee ceiling on pay.make { never allow when payload.amount > 10_000 }
`;

const active = policies(1_000);
const raised = policies(12_000);
const blocking = active.replace('"mallory"', '"mallory" or payload.to == "eve"');

const shared = shareService();
let admin: Person;
let auditor: Client;

beforeAll(async () => {
  admin = await firstAdmin(shared());
  auditor = await personWith(shared(), admin, { email: 'eve@example.com', roles: ['auditor'] });
  await usePolicies(shared(), active);
});

const filesOf = (text: string) => [{ path: 'demo.policy', text }];

function compare(body: unknown, client: Client = auditor) {
  return client.send('/v1/policies/diff', { method: 'POST', body });
}

/** What `writ diff` prints of two folders that hold one file each. */
async function diffOf(before: string, after: string): Promise<unknown> {
  const root = mkdtempSync(join(tmpdir(), 'writ-compare-test-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [name, text] of [
    ['active', before],
    ['files', after],
  ] as const) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, 'demo.policy'), text);
  }
  const { stdout } = await writ(['diff', '--old', 'active', '--new', 'files', '--json'], { cwd: root });
  return JSON.parse(stdout.replaceAll(/"(active|files)\/demo\.policy/g, '"demo.policy'));
}

test.each([
  ['loosened', raised, 2, 0],
  ['stricter', blocking, 0, 2],
  ['the same in other words', active.replace('<= 1000 and', '<= 500 + 500 and'), 0, 0],
])('says what `writ diff` prints of the same texts: %s', async (_name, text, loosened, stricter) => {
  const { status, body } = await compare({ files: filesOf(text) });
  expect(status).toBe(200);
  expect(body.diff).toEqual(await diffOf(active, text));
  expect(body.diff).toMatchObject({ loosened, stricter, undecided: 0, limits: [] });
});

test('returns for each finding a request that the active policies and the files decide as it says', async () => {
  const { body } = await compare({ files: filesOf(raised) });
  expect(body.diff.findings.length).toBeGreaterThan(1);
  expect(body.requests.length).toBe(body.diff.findings.length);
  for (const [at, { example }] of body.diff.findings.entries()) {
    const decided = async (files: readonly object[]) => {
      const options = { method: 'POST', body: { files, request: body.requests[at] } };
      const tried = await auditor.send('/v1/policies/try', options);
      return [tried.body.issues, tried.body.decision.decision];
    };
    expect(await decided([])).toEqual([[], example.old.decision]);
    expect(await decided(filesOf(raised))).toEqual([[], example.new.decision]);
  }
  expect(body.diff.guarantees).toMatchObject([{ name: 'ceiling', old: 'proved', new: 'refuted' }]);
});

test('without files nothing changes', async () => {
  const { body } = await compare({ files: [] });
  expect(body).toMatchObject({ diff: { findings: [], limits: [] }, requests: [] });
  expect(body.diff.old.digest).toBe(body.diff.new.digest);
});

test('files with errors return the diagnostics and no comparison', async () => {
  const { status, body } = await compare({ files: filesOf(active.replace('by finance', 'by fnance')) });
  expect([status, body.diff, body.requests]).toEqual([200, null, []]);
  expect(body.diagnostics).toContainEqual(
    expect.objectContaining({
      file: 'demo.policy',
      severity: 'error',
      line: 6,
      help: 'did you mean `finance`',
    }),
  );
});

test.each([
  [{}, ''],
  [{ files: [{ path: '../demo.policy', text: '' }] }, '/files/0/path'],
  [{ files: [1, 2].map(() => ({ path: 'a.policy', text: '' })) }, '/files/1/path'],
  [{ files: [], request: {} }, '/request'],
])('takes no body that is not one: %j', async (body, pointer) => {
  const reply = await compare(body);
  expect([reply.status, reply.body.type]).toEqual([400, 'urn:writ:error:invalid_body']);
  expect(reply.body.errors[0].pointer).toContain(pointer);
});

test('is permitted to everybody who is signed in, and records nothing', async () => {
  const approver = await personWith(shared(), admin, {
    email: 'fin@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const before = await auditor.send('/v1/requests?limit=200');
  expect((await compare({ files: filesOf(raised) }, approver)).status).toBe(200);
  expect((await auditor.send('/v1/requests?limit=200')).body).toEqual(before.body);
  const stranger = await fetch(`${shared().url}/v1/policies/diff`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ files: [] }),
  });
  expect(stranger.status).toBe(401);
});

const script = new URL('../../analysis/playground/failing-playground.ts', import.meta.url);

test.each([
  ['hang', 3_000, 'within 3 seconds'],
  ['memory', 30_000, 'more than 192 MB'],
] as const)(
  'a comparison that does not end (%s) is 503 and says why; deciding goes on',
  async (fault, timeoutMs, why) => {
    const service = await startService({ playground: { script, timeoutMs, memoryMegabytes: 192 } });
    const client = await personWith(service, await firstAdmin(service), {
      email: 'eve@example.com',
      roles: ['auditor'],
    });
    const failing = compare(
      { files: [{ path: 'f.policy', text: `# fault: ${fault}\nlist faults = ["${fault}"]\n` }] },
      client,
    );
    expect(await (await authorize(service)).json()).toMatchObject({ decision: 'ALLOW' });
    const { status, body } = await failing;
    expect([status, body.type]).toEqual([503, 'urn:writ:error:playground_failed']);
    expect(body.detail).toContain(why);
    const next = await compare({ files: filesOf(policyText.replace('risk base_risk', 'risk base')) }, client);
    expect(next.body.diff).toMatchObject({ loosened: 0, stricter: 0, undecided: 0 });
  },
);

test('replaces an earlier waiting comparison of the same person, and leaves their trial decision', async () => {
  const service = await startService({ playground: { script } });
  const client = await personWith(service, await firstAdmin(service), {
    email: 'eve@example.com',
    roles: ['auditor'],
  });
  const pause = () => new Promise((resolve) => setTimeout(resolve, 300));
  const slow = compare(
    { files: [{ path: 'f.policy', text: '# fault: slow\nlist faults = ["slow"]\n' }] },
    client,
  );
  await pause();
  const trying = client.send('/v1/policies/try', { method: 'POST', body: {} });
  const waiting = compare({ files: [] }, client);
  await pause();
  const latest = compare({ files: [] }, client);
  const replies = await Promise.all([slow, trying, waiting, latest]);
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 429, 200]);
});
