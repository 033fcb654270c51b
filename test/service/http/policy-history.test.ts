// The history of policies over HTTP: every set that becomes active is in the history once, with its texts
// while they are kept. Two sets compare as if the files of one were laid over the other.

import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  createPolicyHistory,
  type PolicyHistoryOptions,
} from '../../../src/service/policies/policy-history.ts';
import { rollBackFiles } from '../../../src/service/policies/roll-back.ts';
import type { SetTexts } from '../../../src/service/policies/texts.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { isOnPostgres } from '../store/place.ts';
import { temporaryFolder } from '../store/rows.ts';
import { type Client, firstAdmin, personWith, tokenClient } from './person-client.ts';
import { shareService, startService } from './service.ts';
import { codeOf, usePolicies } from './written-policies.ts';

const policies = (limit: number): string => `# How much is small.
action pay.make { amount: number 0.01.. }
policy p on pay.make {
  allow small when payload.amount <= ${limit}
  deny huge when payload.amount > 10_000
}
`;

const shared = shareService();
let eve: Client;

// biome-ignore lint/suspicious/noExplicitAny: a test looks into what it got
async function history(): Promise<readonly any[]> {
  const { items } = (await eve.send('/v1/policies/history')).body;
  return items;
}

/** The history, as soon as the active policies are in it. */
async function noted(): ReturnType<typeof history> {
  for (;;) {
    const items = await history();
    if (items[0]?.digest === shared().policies.current().digest) return items;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

beforeAll(async () => {
  const admin = await firstAdmin(shared());
  eve = await personWith(shared(), admin, { email: 'eve@example.com', roles: ['owner'] });
  await noted();
  for (const limit of [100, 5_000]) {
    await usePolicies(shared(), policies(limit));
    await noted();
  }
});

const compareAddress = (old: string, now: string): string => `/v1/policies/diff?old=${old}&new=${now}`;

test('has each set that became active once, the latest first', async () => {
  const before = await history();
  expect(before).toMatchObject([
    { digest: shared().policies.current().digest, policies: 1, actions: 1, has_texts: true, commit: null },
    { policies: 1, has_texts: true },
    { actions: expect.any(Number), has_texts: true },
  ]);
  expect(before.map((one) => one.activated_at)).toEqual(
    before
      .map((one) => one.activated_at)
      .toSorted()
      .toReversed(),
  );
  // A changed note leaves the digest as it is; the new text is compared and shown from now on.
  await usePolicies(shared(), policies(5_000).replace('# How', '# Says how'));
  await noted();
  expect(await history()).toEqual(before);
});

test('comparing two sets equals comparing the files of one as edits of the other', async () => {
  const [{ digest: now }, { digest: old }] = (await history()) as [{ digest: string }, { digest: string }];
  const { status, body } = await eve.send(compareAddress(now, old));
  expect(status).toBe(200);
  const files = [{ path: 'demo.policy', text: policies(100) }];
  const laid = await eve.send('/v1/policies/diff', { method: 'POST', body: { files } });
  const { diff } = laid.body;
  expect(diff).toMatchObject({ stricter: 1, loosened: 0 });
  expect(body.diff).toEqual({
    ...diff,
    old: { ...diff.old, name: 'old' },
    new: { ...diff.new, name: 'new' },
  });
  expect(body.requests).toEqual(laid.body.requests);
  expect(body.files).toEqual([
    {
      path: 'demo.policy',
      old: shared().policies.current().texts && expect.any(String),
      new: policies(100),
      is_complete: true,
    },
  ]);
  const back = (await eve.send(compareAddress(old, now))).body;
  expect(back.diff).toMatchObject({ stricter: 0, loosened: 1 });
  expect(back.files).toMatchObject([{ old: policies(100), new: body.files[0].old }]);
  const same = (await eve.send(compareAddress(now, now))).body;
  expect([same.files, same.diff.findings]).toEqual([[], []]);
});

test('two sets are compared as plain sentences', async () => {
  const [{ digest: now }, { digest: old }] = (await history()) as [{ digest: string }, { digest: string }];
  const said = async (from: string, to: string) =>
    (await eve.send(`/v1/policies/summary/diff?old=${from}&new=${to}&actions=pay.make`)).body;
  const { items, is_complete: isWhole } = await said(old, now);
  expect(isWhole).toBe(true);
  expect(items).toMatchObject([{ subject: 'pay.make' }]);
  expect(items[0].removed.join()).toContain('at most 100');
  expect(items[0].added.join()).toContain('at most 5,000');
  const [back] = (await said(now, old)).items;
  expect([back.removed, back.added]).toEqual([items[0].added, items[0].removed]);
  expect((await said(now, now)).items).toEqual([]);
});

test.each([
  ['/v1/policies/diff', 400, 'invalid_query'],
  ['/v1/policies/diff?old=x', 400, 'invalid_query'],
  [compareAddress('sha256:0', 'sha256:1'), 404, 'not_found'],
  ['/v1/policies/history?limit=1', 400, 'invalid_query'],
  ['/v1/policies/summary/diff?old=x&new=y', 400, 'invalid_query'],
  ['/v1/policies/summary/diff?old=x&new=y&actions=pay.make', 404, 'not_found'],
])('%s is %i %s', async (address, status, code) => {
  expect(codeOf(await eve.send(address))).toEqual([status, code]);
});

interface Kept {
  readonly note: (text: string, digest?: string) => Promise<void>;
  readonly failures: unknown[];
  readonly history: ReturnType<typeof createPolicyHistory>;
}

async function keep(options: Partial<PolicyHistoryOptions> = {}): Promise<Kept> {
  const store = await openStore({ path: `${temporaryFolder()}/writ.db` });
  onTestFinished(() => store.close());
  const failures: unknown[] = [];
  let current = { digest: '', text: '' };
  const history = createPolicyHistory({
    documents: store.documents,
    current: () => ({
      digest: current.digest,
      commit: null,
      texts: textsOf(current.text),
      about: () => ({ ...shared().policies.current().about() }),
    }),
    clock: () => 5,
    onNoted: () => undefined,
    onFailure: (error) => failures.push(error),
    ...options,
  });
  const note = (text: string, digest = text): Promise<void> => {
    current = { text, digest };
    return history.note();
  };
  return { note, failures, history };
}

function textsOf(text: string): SetTexts {
  const bytes = new SharedArrayBuffer(Buffer.byteLength(text));
  Buffer.from(bytes).write(text);
  return {
    bytes,
    index: JSON.stringify([{ path: 'a.policy', kind: 'policy', start: 0, end: bytes.byteLength }]),
  };
}

const random = (length: number): string =>
  Array.from({ length }, (_, at) => String.fromCharCode(33 + ((at * 7919 + length * 31) % 90))).join('');

test('keeps no more sets and texts than its limits, the latest first', async () => {
  const { note, history, failures } = await keep({ limits: { activationsMax: 4, textBytesMax: 200 } });
  for (const name of ['a', 'b', 'c', 'b', 'd', 'e']) await note(name + random(80));
  expect(failures).toEqual([]);
  const activations = await history.activations();
  const names = activations.slice(0, 4).map(({ digest, hasTexts }) => [digest[0], hasTexts]);
  expect(names.map(([name]) => name)).toEqual(['e', 'd', 'b', 'c']);
  for (const { digest, hasTexts } of activations) {
    const texts = await history.texts(digest);
    expect([digest[0], texts !== null]).toEqual([digest[0], hasTexts]);
    if (texts !== null) expect(texts).toEqual(textsOf(digest));
  }
  expect(names.filter(([, isKept]) => isKept).length).toBeGreaterThan(0);
  expect(names.filter(([, isKept]) => !isKept).length).toBeGreaterThan(0);
  expect(await history.texts(`a${random(80)}`)).toBe(null);
});

test('returns the latest texts of a digest; a store that fails is reported and blocks nobody', async () => {
  const { note, history } = await keep();
  await note('# one', 'x');
  await note('# two', 'x');
  expect(await history.texts('x')).toEqual(textsOf('# two'));
  expect((await history.activations()).length).toBe(1);
  const broken = {
    list: () => Promise.reject(new Error('no disk')),
  } as unknown as PolicyHistoryOptions['documents'];
  const failing = await keep({ documents: broken });
  await failing.note('# one');
  expect(failing.failures).toEqual([new Error('no disk')]);
});

test('an admin rolls back to an earlier set, with the reason on record, and the replaced set stays in the history', async () => {
  const service = await startService({ isInFile: true });
  const first = await firstAdmin(service);
  const admin = await tokenClient(service, first);
  const ben = await personWith(service, first, { email: 'ben@example.com', roles: ['operator'] });
  const send = (client: Client, body: object) =>
    client.send('/v1/policies/roll-back', { method: 'POST', body });
  const settled = async () => {
    for (;;) {
      const { items } = (await ben.send('/v1/policies/history')).body;
      if (items[0]?.digest === service.policies.current().digest) return items;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  await usePolicies(service, policies(100));
  await settled();
  const old = service.policies.current().digest;
  await usePolicies(service, policies(5_000));
  const more = join(dirname(service.policyFile), 'more.policy');
  writeFileSync(more, 'policy q on pay.make { deny odd when payload.amount == 13 }\n');
  await service.policies.reload();
  await settled();
  const now = service.policies.current().digest;
  const asked = { digest: old, active_digest: now, reason: 'it let too much through' };
  expect(codeOf(await send(ben, asked))).toEqual([403, 'not_allowed']);
  expect(codeOf(await send(admin, { ...asked, active_digest: old }))).toEqual([409, 'conflict']);
  expect(codeOf(await send(admin, { ...asked, digest: 'sha256:0' }))).toEqual([404, 'not_found']);
  // A text that no set in the history holds is not overwritten.
  writeFileSync(more, 'policy broken {');
  const stale = await send(admin, asked);
  expect([codeOf(stale), stale.body.detail]).toEqual([
    [409, 'conflict'],
    expect.stringContaining('would be lost'),
  ]);
  expect(readFileSync(more, 'utf8')).toBe('policy broken {');
  writeFileSync(more, 'policy q on pay.make { deny odd when payload.amount == 13 }\n');
  await service.policies.reload();
  symlinkSync(`${service.policyFile}.elsewhere`, `${more}.link`);
  const { status, body } = await send(admin, asked);
  expect([status, body.digest, body.status]).toEqual([200, old, 'current']);
  expect(readFileSync(service.policyFile, 'utf8')).toBe(policies(100));
  expect(readdirSync(dirname(service.policyFile)).sort()).toEqual(['demo.policy', 'more.policy.link']);
  const items = await settled();
  expect(items.slice(0, 2)).toMatchObject([{ digest: old }, { digest: now, has_texts: true }]);
  const [change] = await service.store.chain.changes({ beforeSequence: null, countMax: 1 });
  expect(change).toMatchObject({ what: 'policies-rolled-back', subject: old });
  expect(JSON.parse(change?.afterJson ?? '')).toEqual({
    digest: old,
    reason: 'it let too much through',
    files: ['demo.policy', 'more.policy'],
  });
  expect((await admin.send('/v1/policies/history')).body.no_roll_back).toBeNull();
  // Going forward again brings back the file that was removed.
  expect((await send(admin, { digest: now, active_digest: old, reason: 'it was right' })).body.digest).toBe(
    now,
  );
  expect(readFileSync(more, 'utf8')).toContain('payload.amount == 13');
});

// `npm run test:postgres` runs this one.
if (isOnPostgres) {
  test('a roll-back is refused where several processes may serve the store', async () => {
    const service = await startService();
    const first = await firstAdmin(service);
    const admin = await tokenClient(service, first);
    const before = readFileSync(service.policyFile, 'utf8');
    const { digest } = service.policies.current();
    const asked = { digest, active_digest: digest, reason: 'it let too much through' };
    const refused = await admin.send('/v1/policies/roll-back', { method: 'POST', body: asked });
    expect([codeOf(refused), refused.body.detail]).toEqual([
      [409, 'conflict'],
      expect.stringContaining('several processes may serve this store'),
    ]);
    expect((await admin.send('/v1/policies/history')).body.no_roll_back).toBe(refused.body.detail);
    expect(readFileSync(service.policyFile, 'utf8')).toBe(before);
  });
}

test('a symbolic link, or a place that is not writable, is left unchanged', async () => {
  const folder = temporaryFolder();
  const texts = (text: string) => textsOf(text);
  writeFileSync(join(folder, 'real.policy'), '# one');
  symlinkSync(join(folder, 'real.policy'), join(folder, 'a.policy'));
  const change = { directory: folder, present: texts('# one'), target: texts('# two') };
  await expect(rollBackFiles(change)).rejects.toThrow('is a symbolic link');
  expect(readFileSync(join(folder, 'real.policy'), 'utf8')).toBe('# one');
  rmSync(join(folder, 'a.policy'));
  writeFileSync(join(folder, 'a.policy'), '# other');
  await expect(rollBackFiles(change)).rejects.toThrow('has changed since it was read');
  await expect(rollBackFiles({ ...change, directory: join(folder, 'nowhere') })).rejects.toThrow(
    'is not there',
  );
  writeFileSync(join(folder, 'a.policy'), '# one');
  expect(await rollBackFiles(change)).toEqual(['a.policy']);
  expect(readFileSync(join(folder, 'a.policy'), 'utf8')).toBe('# two');
  expect(readdirSync(folder).sort()).toEqual(['a.policy', 'real.policy']);
});
