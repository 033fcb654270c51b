// Policies from a bundle, in a file and at an address: which become active, which never do, and how a start
// handles each.

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compileToProgram } from '../../../src/pipeline.ts';
import { bundleContents } from '../../../src/service/policies/bundles/bundle-contents.ts';
import { openBundledPolicies } from '../../../src/service/policies/bundles/bundled-policies.ts';
import { sourcesOf } from '../../../src/service/policies/bundles/read-sources.ts';
import { type BundleSigner, writeBundle } from '../../../src/service/policies/compiled/bundle.ts';
import { BrokenPolicies, type PolicyHost } from '../../../src/service/policies/policy-host.ts';
import { createFolder, until } from './folder.ts';
import { allows, limit } from './limit-policy.ts';

interface Signer {
  readonly key: string;
  readonly privateKey: KeyObject;
}

function createSigner(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { key: publicKey.export({ format: 'jwk' }).x ?? '', privateKey };
}

const [ours, theirs] = [createSigner(), createSigner()];
const commit = 'c'.repeat(40);

interface Made {
  readonly madeMs: number;
  readonly signer?: Signer | null;
  /** The policy text in the bundle; the text that the program is made from when absent. */
  readonly told?: string;
  readonly path?: string;
}

function bundleOf(
  text: string,
  { madeMs, signer = ours, told = text, path = 'a.policy' }: Made,
): Promise<Uint8Array> {
  const { packed } = compileToProgram({
    files: [{ path: 'a.policy', text }],
    readListFile: () => ({ code: 'list-file-missing', message: 'no lists' }),
  });
  return writeBundle(
    { madeMs, commit, texts: [{ path, kind: 'policy', text: told }], program: packed! },
    signedBy(signer),
  );
}

function signedBy(signer: Signer | null): BundleSigner | null {
  return signer === null ? null : { key: signer.key, sign: (bytes) => sign(null, bytes, signer.privateKey) };
}

/** A bundle as `writ build` makes it. */
async function wholeBundleOf(
  text: string,
  { madeMs, signer = ours, told = text }: Made,
): Promise<Uint8Array> {
  const read = sourcesOf({ texts: [{ path: 'a.policy', kind: 'policy', text }] });
  const { facts, ...contents } = bundleContents(read, compileToProgram(read.sources))!;
  const texts = [{ path: 'a.policy', kind: 'policy', text: told } as const];
  const content = { hash: sourcesOf({ texts }).contentHash([]), listFiles: [] };
  return await writeBundle(
    { ...contents, madeMs, commit, texts, facts: { ...facts!, content } },
    signedBy(signer),
  );
}

interface Place {
  readonly folder: string;
  readonly file: string;
  put(bytes: Uint8Array): void;
}

function createPlace(): Place {
  const folder = createFolder();
  const file = join(folder, 'policies.writ');
  return {
    folder: join(folder, 'var'),
    file,
    put: (bytes) => {
      writeFileSync(`${file}.new`, bytes);
      renameSync(`${file}.new`, file);
    },
  };
}

async function open(
  place: Place,
  settings: Partial<Parameters<typeof openBundledPolicies>[0]> = {},
): Promise<PolicyHost> {
  const host = await openBundledPolicies({
    source: place.file,
    key: ours.key,
    isOlderAllowed: false,
    pollMs: 20,
    bytesMax: 1024 ** 2,
    folder: place.folder,
    ...settings,
  });
  onTestFinished(() => host.close());
  return host;
}

describe('a first start', () => {
  const started = (place: Place, settings = {}) =>
    open(place, { keptIn: join(place.folder, 'compiled.writ'), ...settings });

  it('decides by what the bundle holds before anything is compiled', async () => {
    const place = createPlace();
    const flag = join(createFolder(), 'flag');
    writeFileSync(flag, '');
    place.put(await wholeBundleOf(`# fault: exit while ${flag}\n${limit(10)}`, { madeMs: 1_000 }));
    const host = await started(place, { compilerScript: new URL('./failing-compiler.ts', import.meta.url) });
    expect([allows(host, 10), allows(host, 11)]).toEqual([true, false]);
    await until(() => host.state().failure?.cause === 'compiler');
    expect([allows(host, 10), allows(host, 11)]).toEqual([true, false]);
  });

  it('of a bundle without a required signature decides only by its texts', async () => {
    const place = createPlace();
    place.put(await wholeBundleOf(limit(99), { madeMs: 1_000, signer: null, told: limit(10) }));
    const host = await started(place, { key: null });
    expect([allows(host, 10), allows(host, 99)]).toEqual([true, false]);
  });

  it('is replaced by the compiled texts of the bundle', async () => {
    const place = createPlace();
    place.put(await wholeBundleOf(limit(99), { madeMs: 1_000, told: limit(10) }));
    const host = await started(place);
    await until(() => !allows(host, 99));
    expect([allows(host, 10), host.state().status]).toEqual([true, 'current']);
  });

  it('is the only one to: after an earlier bundle, one whose texts do not compile is not used', async () => {
    const place = createPlace();
    place.put(await wholeBundleOf(limit(10), { madeMs: 1_000 }));
    await (await started(place)).close();
    place.put(await wholeBundleOf(limit(99), { madeMs: 2_000, told: 'policy p on a.b { alow x }\n' }));
    const host = await started(place);
    expect([allows(host, 10), allows(host, 11), host.state().status]).toEqual([true, false, 'stale']);
  });
});

const summaryOf = (host: PolicyHost) => host.state().failure?.summary ?? '';

describe('a bundle in a file', () => {
  it.each([
    ['with its compiled set', wholeBundleOf],
    ['compiled anew', bundleOf],
  ])('says up to which risk a group may decide by chat, %s', async (_how, made) => {
    const place = createPlace();
    const groups = 'approvers ops "Operations" by chat up to risk 40\napprovers legal "Legal"\n';
    const rule = 'policy q on a.b {\n  escalate odd to ops and legal\n    when payload.n == 3\n}\n';
    place.put(await made(`${groups}${limit(10)}${rule}`, { madeMs: 1_000 }));
    const host = await open(place);
    expect([...host.current().chatLimits()]).toEqual([['ops', { maxRisk: 40 }]]);
  });

  it('decides as its texts say, names its commit, and is replaced by a later one', async () => {
    const place = createPlace();
    place.put(await bundleOf(limit(10), { madeMs: 1_000 }));
    const host = await open(place);
    expect([allows(host, 10), allows(host, 11)]).toEqual([true, false]);
    expect(host.state()).toMatchObject({ status: 'current', location: place.file, directory: null, commit });
    place.put(await bundleOf(limit(20), { madeMs: 2_000 }));
    await until(() => allows(host, 20));
    expect(host.state().failure).toBeNull();
    expect(readdirSync(join(place.folder, 'sets'))).toHaveLength(1);
  });

  it('is refused with any bit flipped, by another key, or by none: the last good one serves', async () => {
    const place = createPlace();
    place.put(await bundleOf(limit(10), { madeMs: 1_000 }));
    const host = await open(place);
    const good = await bundleOf(limit(99), { madeMs: 2_000 });
    const flipped = [0, 9, 40, good.length >> 1, good.length - 80, good.length - 1].map((at) => {
      const bytes = Uint8Array.from(good);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      return bytes;
    });
    const bad = [
      ...flipped,
      good.slice(0, -1),
      new Uint8Array(),
      await bundleOf(limit(99), { madeMs: 2_000, signer: theirs }),
      await bundleOf(limit(99), { madeMs: 2_000, signer: null }),
    ];
    for (const bytes of bad) {
      place.put(bytes);
      await host.reload();
      expect(host.state()).toMatchObject({ status: 'stale', failure: { cause: 'bundle' } });
      expect([allows(host, 10), allows(host, 99)]).toEqual([true, false]);
    }
    expect(summaryOf(host)).toBe('the bundle is not signed');
    place.put(good);
    await until(() => allows(host, 99));
    expect(host.state().failure).toBeNull();
  });

  it('is refused where it is older than the active one, over a start too, unless that is allowed', async () => {
    const place = createPlace();
    const older = await bundleOf(limit(10), { madeMs: 1_000 });
    place.put(await bundleOf(limit(20), { madeMs: 2_000 }));
    const host = await open(place);
    place.put(older);
    await host.reload();
    expect(summaryOf(host)).toContain('before the active one');
    expect(allows(host, 20)).toBe(true);
    await host.close();
    const again = await open(place);
    expect([allows(again, 20), summaryOf(again)]).toEqual([true, expect.stringContaining('allow_older')]);
    await again.close();
    const allowed = await open(place, { isOlderAllowed: true });
    expect([allows(allowed, 20), allowed.state().failure]).toEqual([false, null]);
  });

  it('that does not compile, or leads out of its folder, never takes over; the active one put back is right again', async () => {
    const place = createPlace();
    const good = await bundleOf(limit(10), { madeMs: 1_000 });
    place.put(good);
    const host = await open(place);
    place.put(await bundleOf(limit(20), { madeMs: 2_000, told: 'policy p on a.b { alow x }' }));
    await host.reload();
    expect(host.state()).toMatchObject({ status: 'stale', failure: { cause: 'policies' } });
    expect(JSON.stringify(host.state().failure)).not.toContain(place.folder);
    expect(allows(host, 10)).toBe(true);
    place.put(await bundleOf(limit(20), { madeMs: 3_000, path: '../../../b.policy' }));
    await host.reload();
    expect(summaryOf(host)).toContain('outside its directory');
    expect(allows(host, 10)).toBe(true);
    place.put(good);
    await host.reload();
    expect(host.state()).toMatchObject({ status: 'current', failure: null });
  });

  it('a start uses the last good one if it is missing, broken, or has errors', async () => {
    const place = createPlace();
    place.put(await bundleOf(limit(10), { madeMs: 1_000 }));
    await (await open(place)).close();
    const faults = [
      () => rmSync(place.file),
      () => place.put(new TextEncoder().encode('no bundle')),
      async () => place.put(await bundleOf(limit(20), { madeMs: 2_000, told: 'nonsense' })),
    ];
    for (const fault of faults) {
      await fault();
      const host = await open(place);
      expect(host.state()).toMatchObject({ status: 'stale', failure: { cause: 'bundle' } });
      expect([allows(host, 10), allows(host, 11)]).toEqual([true, false]);
      await host.close();
    }
  });

  it('refuses to start without one, with what was kept damaged, or with what was kept by another key', async () => {
    const place = createPlace();
    await expect(open(place)).rejects.toThrow(/cannot be read: it does not exist/);
    place.put(await bundleOf(limit(10), { madeMs: 1_000 }));
    await (await open(place)).close();
    rmSync(place.file);
    await expect(open(place, { key: theirs.key })).rejects.toThrow(BrokenPolicies);
    const kept = join(place.folder, 'last.writ');
    const bytes = readFileSync(kept);
    bytes[200] = (bytes[200] ?? 0) ^ 1;
    writeFileSync(kept, bytes);
    await expect(open(place)).rejects.toThrow(BrokenPolicies);
  });
});

describe('a bundle at an address', () => {
  it('is asked for with its tag, and a server that is away or wrong changes nothing', async () => {
    let answer: (request: IncomingMessage, reply: ServerResponse) => void = () => undefined;
    const asked: (string | undefined)[] = [];
    const server = createServer((request, reply) => {
      asked.push(request.headers['if-none-match']);
      answer(request, reply);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const serve = (bytes: Uint8Array, etag: string) => {
      answer = (request, reply) => {
        if (request.headers['if-none-match'] === etag) return reply.writeHead(304).end();
        return reply.writeHead(200, { etag }).end(bytes);
      };
    };
    const place = createPlace();
    const { port } = server.address() as AddressInfo;
    serve(await bundleOf(limit(10), { madeMs: 1_000 }), '"one"');
    const host = await open(place, { source: `http://127.0.0.1:${port}/policies.writ` });
    await until(() => asked.filter((tag) => tag === '"one"').length > 2);
    expect(asked[0]).toBeUndefined();
    const changes: (string | undefined)[] = [];
    host.onChange(({ failure }) => changes.push(failure?.summary));
    const faults: readonly (typeof answer)[] = [
      (_request, reply) => reply.writeHead(500).end(),
      (_request, reply) => reply.socket?.destroy(),
      (_request, reply) => {
        reply.writeHead(200, { 'content-length': '100' }).write('half');
        reply.socket?.destroy();
      },
      (_request, reply) => reply.writeHead(200, { etag: '"page"' }).end('<html>sign in</html>'),
    ];
    for (const fault of faults) {
      answer = fault;
      await host.reload();
      expect(host.state()).toMatchObject({ status: 'stale', failure: { cause: 'bundle' } });
      expect([allows(host, 10), allows(host, 11)]).toEqual([true, false]);
    }
    expect(summaryOf(host)).toBe('this is not a policy bundle');
    serve(await bundleOf(limit(20), { madeMs: 2_000 }), '"two"');
    await until(() => changes.length > 3 && changes.at(-1) === undefined);
    expect([allows(host, 20), host.state().status]).toEqual([true, 'current']);
  });

  it('whose server stalls, compresses it or redirects is reported, and the next poll finds the right one', async () => {
    let answer: (reply: ServerResponse) => void = () => undefined;
    const server = createServer((_request, reply) => answer(reply));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const place = createPlace();
    const { port } = server.address() as AddressInfo;
    const address = `http://127.0.0.1:${port}/policies.writ`;
    const good = await bundleOf(limit(10), { madeMs: 1_000 });
    answer = (reply) => reply.end(good);
    const rate = { withinMs: 200, bytes: 1_024 };
    const host = await open(place, { source: address, rate });
    const faults: readonly (readonly [typeof answer, RegExp])[] = [
      [() => undefined, /the server stalls: nothing came in 0\.2 s/],
      [(reply) => reply.writeHead(200).flushHeaders(), /the server stalls/],
      [(reply) => reply.writeHead(302, { location: '/other' }).end(), /redirects to http:\S+\/other/],
      [(reply) => reply.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(good)), /compressed/],
      [(reply) => reply.end(Buffer.alloc(1024 ** 2 + 1)), /more than 1048576 bytes \(bundle\.bytes_max\)/],
    ];
    for (const [fault, words] of faults) {
      answer = fault;
      await until(() => words.test(summaryOf(host) ?? ''));
      expect([allows(host, 10), allows(host, 11)]).toEqual([true, false]);
    }
    const next = await bundleOf(limit(20), { madeMs: 2_000 });
    answer = (reply) => reply.end(next);
    await until(() => allows(host, 20));
    expect(host.state().status).toBe('current');
  });
});
