// Every document that the service fetches from another server, by each way in which that server can do harm:
// none takes more memory or time than its limit, and none leads elsewhere.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { boundedFetch, fetchDocument } from '../../../src/service/fetching/fetch-document.ts';
import { createProvider, type SsoSettings } from '../../../src/service/people/sso/provider.ts';
import { bundleSource } from '../../../src/service/policies/bundles/bundle-source.ts';
import { readKeys } from '../../../src/service/users/issuer-keys.ts';
import { send } from '../../../src/service/webhooks/send.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface Evil {
  readonly url: string;
  /** The bytes of bodies that the client has taken. */
  readonly taken: () => number;
  /** The paths that were asked for. */
  readonly asked: readonly string[];
}

async function serveEvil(answer: Answer): Promise<Evil> {
  const asked: string[] = [];
  let taken = 0;
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    request.socket.once('close', () => {
      taken += request.socket.bytesWritten;
    });
    response.on('error', () => undefined);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, taken: () => taken, asked };
}

/** Decompresses to 512 MB. */
const bomb = gzipSync(Buffer.alloc(512 * 1024 ** 2), { level: 1 });
const part = Buffer.alloc(64 * 1024, 0x20);

function writeOn(response: ServerResponse): void {
  while (!response.destroyed && response.write(part)) {
    // The buffer of the socket is filled.
  }
  if (!response.destroyed) response.once('drain', () => writeOn(response));
}

const harms = {
  'a small body that decompresses to a large one': (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
  },
  'a body without end': (_, response) => {
    response.writeHead(200);
    writeOn(response);
  },
  'a length that is too long': (_, response) => {
    response.writeHead(200, { 'content-length': 2 ** 40 }).write(part);
  },
  'a redirect to an address of this machine': ({ url }, response) => {
    if (url === '/secret') response.end('{}');
    else response.writeHead(302, { location: '/secret' }).end();
  },
  'no answer': () => undefined,
  'headers without a body': (_, response) => response.writeHead(200).flushHeaders(),
  'a byte now and then': (_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), 50);
    response.once('close', () => clearInterval(timer));
  },
} as const satisfies Record<string, Answer>;

type Harm = keyof typeof harms;

const stalls = [
  'no answer',
  'headers without a body',
  'a byte now and then',
] as const satisfies readonly Harm[];
const quickHarms = (Object.keys(harms) as Harm[]).filter((harm) => !stalls.some((stall) => stall === harm));

/** What the error says, where the harm takes no time to be seen. */
const words: Readonly<Record<Harm, RegExp>> = {
  'a small body that decompresses to a large one': /compressed/,
  'a body without end': /more than \d+ bytes/,
  'a length that is too long': /more than \d+ bytes/,
  'a redirect to an address of this machine': /redirects to http:\/\/127\.0\.0\.1:\d+\/secret/,
  // Keys of an issuer have a short time of their own.
  'no answer': /stalls: nothing came in|longer than 5 s/,
  'headers without a body': /stalls: nothing came in|longer than 5 s/,
  'a byte now and then': /stalls: .+ came in|longer than 5 s/,
};

const bytesMax = 1024 ** 2;
const rate = { withinMs: 300, bytes: 1_024 };
const limits = { bytesMax, timeoutMs: 60_000, rate };

const settings = {
  clientId: 'writ',
  clientSecret: null,
  name: 'Sign in',
  scopes: 'openid',
  groupsClaim: 'groups',
  rules: [],
  recheckMs: 60_000,
  isOnlyWay: false,
  scimToken: null,
  externalIdClaim: 'oid',
} as const satisfies Omit<SsoSettings, 'issuer'>;

/** Who fetches: rejects with an error, or resolves with its words where the caller gets no error. */
const fetches: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  'a bundle': (url) =>
    bundleSource(`${url}/policies.writ`, { bytesMax, rate })(null, new AbortController().signal),
  'keys of an issuer': (url) => readKeys({ issuer: url, keys: `${url}/keys` }, new AbortController().signal),
  'the discovery document of an issuer': (url) =>
    readKeys({ issuer: url, keys: null }, new AbortController().signal),
  'any document': (url) => fetchDocument(url, {}, limits),
  'an answer for a library': (url) => boundedFetch(limits)(url, { method: 'POST', body: 'a=b' }),
};

/** Bodies that were under way when the client left fill the buffers of sockets. */
const buffersMax = 16 * 1024 ** 2;
const memoryMax = 200 * 1024 ** 2;

/** Resolves with what `work` does, and fails when the memory of this process grows meanwhile. */
async function inLittleMemory<T>(work: () => Promise<T>): Promise<T> {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 5);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    expect(most - before).toBeLessThan(memoryMax);
  }
}

/** Each harm that is seen at once, and together those that take the whole time of a fetch. */
const harmsByTest: readonly (readonly [string, readonly Harm[]])[] = [
  ...quickHarms.map((harm) => [harm, [harm]] as const),
  ['a server that stalls', stalls],
];

for (const [name, fetchIt] of Object.entries(fetches))
  test.each(harmsByTest)(`${name}: %s`, async (_, together) => {
    await Promise.all(
      together.map(async (harm) => {
        const evil = await serveEvil(harms[harm]);
        await inLittleMemory(() => expect(fetchIt(evil.url)).rejects.toThrow(words[harm]));
        expect(evil.asked).toHaveLength(1);
        await expect.poll(evil.taken).toBeGreaterThanOrEqual(0);
        expect(evil.taken()).toBeLessThan(buffersMax);
      }),
    );
  });

test.each(harmsByTest)('a provider of single sign-on: %s', async (_, together) => {
  await Promise.all(
    together.map(async (harm) => {
      const evil = await serveEvil(harms[harm]);
      const provider = createProvider({ ...settings, issuer: evil.url }, Date.now);
      expect(await inLittleMemory(() => provider.begin('http://localhost/back'))).toBeNull();
      expect(evil.asked).toHaveLength(1);
      expect(evil.taken()).toBeLessThan(buffersMax);
    }),
  );
});

test.each(Object.keys(harms) as Harm[])('the receiver of a webhook: %s', async (harm) => {
  const evil = await serveEvil(harms[harm]);
  const attempt = {
    url: evil.url,
    headers: {},
    body: '{}',
    timeoutMs: 1_000,
    arePrivateAddressesAllowed: true,
  };
  const { kind } = await inLittleMemory(() => send(attempt));
  // A body is not read, so what it holds does no harm.
  expect(kind).toBe(/redirect|no answer/.test(harm) ? 'failed' : 'delivered');
  expect(evil.asked).toHaveLength(1);
  expect(evil.taken()).toBeLessThan(buffersMax);
});

test('a provider that answers a check of a session with harm decides nothing about the session', async () => {
  let harm: Answer = harms['a small body that decompresses to a large one'];
  const evil = await serveEvil((request, response) => {
    if (request.url?.includes('.well-known') !== true) return harm(request, response);
    const endpoint = (path: string) => `http://${request.headers.host}/${path}`;
    response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        issuer: endpoint('').slice(0, -1),
        authorization_endpoint: endpoint('authorize'),
        token_endpoint: endpoint('token'),
        jwks_uri: endpoint('keys'),
      }),
    );
  });
  const provider = createProvider({ ...settings, issuer: evil.url }, Date.now);
  for (const one of Object.values(harms).slice(0, 4)) {
    harm = one;
    expect(await inLittleMemory(() => provider.ask('refresh', 'ann'))).toMatchObject({ kind: 'away' });
  }
});

test('a document within its limits is read, asked for without compression', async () => {
  const evil = await serveEvil((request, response) => {
    const told = JSON.stringify([request.headers['accept-encoding'], request.headers.accept]);
    response.writeHead(200, { etag: '"a"' }).end(told);
  });
  const { status, headers, bytes } = await fetchDocument(evil.url, { accept: 'text/plain' }, limits);
  expect([status, headers.get('etag'), Buffer.from(bytes).toString()]).toEqual([
    200,
    '"a"',
    '["identity","text/plain"]',
  ]);
});

test('a server that is slow but sends on is waited for', async () => {
  const evil = await serveEvil((_, response) => {
    response.writeHead(200);
    let left = 8;
    const timer = setInterval(() => {
      left -= 1;
      response.write(Buffer.alloc(2_048));
      if (left > 0) return;
      clearInterval(timer);
      response.end();
    }, 100);
  });
  const slow = { ...limits, rate: { withinMs: 400, bytes: 1_024 } };
  expect((await fetchDocument(evil.url, {}, slow)).bytes).toHaveLength(8 * 2_048);
  const short = { ...slow, timeoutMs: 250 };
  await expect(fetchDocument(evil.url, {}, short)).rejects.toThrow('it took longer than 0.25 s');
});

test('a server that does not answer at all is named by what the network says', async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  await expect(fetchDocument(`http://127.0.0.1:${port}/`, {}, limits)).rejects.toThrow('ECONNREFUSED');
  const evil = await serveEvil((request) => request.socket.destroy());
  await expect(fetchDocument(evil.url, {}, limits)).rejects.toThrow(/other side closed|ECONNRESET/);
});

test('a fetch that is no longer wanted ends at once', async () => {
  const evil = await serveEvil(() => undefined);
  const ending = new AbortController();
  const fetching = fetchDocument(evil.url, {}, { ...limits, signal: ending.signal });
  await expect.poll(() => evil.asked.length).toBe(1);
  ending.abort(new Error('no longer wanted'));
  await expect(fetching).rejects.toThrow('no longer wanted');
});
