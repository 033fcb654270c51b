// Signatures in both forms, compared with an HMAC that the test computes by itself.

import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createNonceCache } from '../../../src/service/agents/nonces.ts';
import { deriveKey, seal } from '../../../src/service/agents/sealing.ts';
import {
  createSignatureVerifier,
  type SignatureInput,
  type VerifierOptions,
} from '../../../src/service/agents/signature.ts';
import type { NonceUse, SigningMode } from '../../../src/service/store/contract/records.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { agentRow, requestRow, startMs, temporaryFolder } from '../store/rows.ts';

const masterKey = randomBytes(32);
const secret = `writsec_${'s'.repeat(43)}`;
const body = Buffer.from('{"action_key":"payment.create","payload":{}}');
const path = '/v1/authorize';

function signingAgent(signing: SigningMode) {
  const agent = agentRow({ signing });
  return { ...agent, sealedSigningSecret: seal(deriveKey(masterKey, 'signing secrets'), agent.id, secret) };
}

const agent = signingAgent('optional');

const hmac = (text: string | Buffer, key = secret) => createHmac('sha256', key).update(text).digest('hex');

function signed(change: { t?: number | string; n?: string; v1?: string; key?: string } = {}): string {
  const { t = startMs / 1000, n = 'nonce-0001' } = change;
  return `t=${t},n=${n},v1=${change.v1 ?? hmac(`v1:${t}:${n}:POST:${path}:${body}`, change.key)}`;
}

function verifier(options: Partial<VerifierOptions> = {}) {
  const verify = createSignatureVerifier({ masterKey, isCompatibilityAllowed: true, ...options });
  return (header: string | undefined, change: Partial<SignatureInput> = {}) =>
    verify({ agent, header, path, body, nowMs: startMs, ...change });
}

describe('the recommended form', () => {
  test('is valid with digits in either case', () => {
    const verify = verifier();
    expect(verify(signed())).toBe('valid');
    expect(
      verify(signed({ n: 'nonce-0002' }).replace(/v1=(.*)/, (_, hex) => `v1=${hex.toUpperCase()}`)),
    ).toBe('valid');
  });

  test('it covers time, nonce, path, body and secret', () => {
    const verify = verifier();
    const mismatch = { invalid: 'the signature does not match' };
    expect(verify(signed({ key: 'writsec_other' }))).toEqual(mismatch);
    expect(verify(signed(), { path: '/v1/other' })).toEqual(mismatch);
    expect(verify(signed(), { body: Buffer.from(`${body} `) })).toEqual(mismatch);
    expect(verify(signed().replace('nonce-0001', 'nonce-0002'))).toEqual(mismatch);
    expect(verify(signed().replace(`t=${startMs / 1000}`, `t=${startMs / 1000 + 1}`))).toEqual(mismatch);
    expect(verify(signed())).toBe('valid');
  });

  test.each([-300, 300])('accepts a time that is %i seconds away', (skew) => {
    expect(verifier()(signed({ t: startMs / 1000 + skew }))).toBe('valid');
  });

  test.each([-301, 301])('refuses a time that is %i seconds away', (skew) => {
    expect(verifier()(signed({ t: startMs / 1000 + skew }))).toEqual({
      invalid: expect.stringContaining('300 seconds'),
    });
  });

  test('accepts a nonce once while its time is accepted', () => {
    const verify = verifier();
    const late = signed({ t: startMs / 1000 + 300 });
    expect(verify(late)).toBe('valid');
    expect(verify(late)).toEqual({ invalid: 'the nonce has been used' });
    expect(verify(late, { nowMs: startMs + 600_000 })).toEqual({ invalid: 'the nonce has been used' });
    expect(verify(signed({ t: startMs / 1000 + 601 }), { nowMs: startMs + 601_000 })).toBe('valid');
  });

  test('accepts no nonce twice when the clock goes back and forth, and keeps none for longer', () => {
    const verify = verifier({ nonces: createNonceCache({ countMax: 3 }) });
    const header = signed();
    expect(verify(header)).toBe('valid');
    const hourMs = 3_600_000;
    // The clock goes forward: the old nonce is forgotten and its time is over. A new nonce is accepted.
    const later = signed({ t: (startMs + hourMs) / 1000, n: 'nonce-0002' });
    expect(verify(later, { nowMs: startMs + hourMs })).toBe('valid');
    // The clock goes back: a forgotten nonce is not accepted again, although its time seems valid.
    expect(verify(header)).toEqual({ invalid: expect.stringContaining('300 seconds') });
    expect(verify(later, { nowMs: startMs + hourMs })).toEqual({ invalid: 'the nonce has been used' });
    for (let round = 1; round <= 20; round++) {
      const nowMs = startMs + hourMs + round * 700_000;
      for (const step of [0, 1]) {
        const n = `round-${round}-nonce-${step}`;
        expect(verify(signed({ t: nowMs / 1000, n }), { nowMs: nowMs - step * 5_000 })).toBe('valid');
      }
    }
  });

  test('a refused signature does not use its nonce, and agents have separate nonces', () => {
    const verify = verifier();
    verify(signed({ v1: '0'.repeat(64) }));
    expect(verify(signed())).toBe('valid');
    expect(verify(signed(), { agent: signingAgent('required') })).toBe('valid');
  });

  test('without room for nonces, signatures are refused until old ones are forgotten', () => {
    const verify = verifier({ nonces: createNonceCache({ countMax: 1 }) });
    expect(verify(signed())).toBe('valid');
    expect(verify(signed({ n: 'nonce-0002' }))).toEqual({ invalid: 'too many signed requests' });
    const nowMs = startMs + 600_001;
    expect(verify(signed({ n: 'nonce-0003', t: startMs / 1000 + 600 }), { nowMs })).toBe('valid');
  });
});

describe('the compatibility form', () => {
  test('covers only the body', () => {
    expect(verifier()(`sha256=${hmac(body)}`)).toBe('valid');
    expect(verifier()(`sha256=${hmac('other')}`)).toEqual({ invalid: 'the signature does not match' });
  });

  test('a setting forbids it', () => {
    const verify = verifier({ isCompatibilityAllowed: false });
    expect(verify(`sha256=${hmac(body)}`)).toEqual({ invalid: 'this form of signature is not accepted' });
    expect(verify(signed())).toBe('valid');
  });
});

test.each([
  '',
  'sha256=',
  `sha256=${'g'.repeat(64)}`,
  `sha256=${hmac(body)} `,
  `sha1=${hmac(body)}`,
  hmac(body),
  signed().replace(',n=', ', n='),
  signed().replace(/,n=[^,]*/, ''),
  signed({ n: 'short' }),
  signed({ n: 'a:b:c:d:e' }),
  signed({ n: 'x'.repeat(129) }),
  signed({ t: '-5' }),
  signed({ t: '1e9' }),
  signed({ t: '1000.5' }),
  signed({ t: '9'.repeat(13) }),
  `${signed()},v1=${'0'.repeat(64)}`,
  signed().slice(0, -1),
])('malformed is invalid also where signing is optional: %s', (header) => {
  expect(verifier()(header)).toEqual({ invalid: 'the signature is malformed' });
});

test('each setting of the agent', () => {
  const verify = verifier();
  expect(verify(undefined)).toBe('absent');
  expect(verify(undefined, { agent: signingAgent('required') })).toEqual({
    invalid: 'a signature is required',
  });
  expect(verify('nonsense', { agent: signingAgent('off') })).toBe('absent');
  expect(verify(signed(), { agent: signingAgent('off') })).toBe('absent');
});

test('without a secret that can be opened, no signature is valid', () => {
  const noSecret = { invalid: 'the agent has no signing secret' };
  expect(verifier()(signed(), { agent: agentRow({ signing: 'optional' }) })).toEqual(noSecret);
  expect(verifier({ masterKey: randomBytes(32) })(signed())).toEqual(noSecret);
});

describe('across a restart', () => {
  const request = { agent, header: signed(), path, body, nowMs: startMs };
  const openVerifier = async (file: string) => {
    const store = await openStore({ path: file });
    const verify = createSignatureVerifier({
      masterKey,
      isCompatibilityAllowed: true,
      nonces: createNonceCache({ store: store.nonces }),
    });
    // The nonces of an earlier run are read in the same turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    return { store, verify };
  };

  test('a request that was accepted is refused when it is sent again', async () => {
    const file = join(temporaryFolder(), 'writ.db');
    const first = await openVerifier(file);
    expect(first.verify(request)).toBe('valid');
    await first.store.close();
    const second = await openVerifier(file);
    onTestFinished(() => second.store.close());
    expect(second.verify(request)).toEqual({ invalid: 'the nonce has been used' });
    expect(second.verify({ ...request, header: signed({ n: 'nonce-0002' }) })).toBe('valid');
  });

  test('nothing in the same batch is stored before its nonce', async () => {
    const file = join(temporaryFolder(), 'writ.db');
    const { store, verify } = await openVerifier(file);
    onTestFinished(() => store.close());
    expect(verify(request)).toBe('valid');
    await store.requests.append(requestRow(), { openMax: 1 });
    const other = await openStore({ path: file });
    onTestFinished(() => other.close());
    expect(await other.nonces.list()).toMatchObject([{ usedAtMs: startMs, keptUntilMs: startMs + 600_000 }]);
  });

  test('until the nonces have been read, no signature with one is valid', async () => {
    let answer: (uses: readonly NonceUse[]) => void = () => {};
    const list = () =>
      new Promise<readonly NonceUse[]>((resolve) => {
        answer = resolve;
      });
    const nonces = { list, note: () => {}, validFromMs: async () => null };
    const verify = createSignatureVerifier({
      masterKey,
      isCompatibilityAllowed: true,
      nonces: createNonceCache({ store: nonces }),
    });
    const notYet = { invalid: 'the nonce cannot be checked yet: send the request again' };
    expect(verify(request)).toEqual(notYet);
    answer([{ nonce: `${agent.id} nonce-0001`, usedAtMs: startMs, keptUntilMs: startMs + 600_000 }]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(verify(request)).toEqual({ invalid: 'the nonce has been used' });
  });

  test('a signature that may be older than a restored backup is refused', async () => {
    const at = async (validFromMs: number) => {
      const nonces = { list: async () => [], note: () => {}, validFromMs: async () => validFromMs };
      const verify = createSignatureVerifier({
        masterKey,
        isCompatibilityAllowed: true,
        nonces: createNonceCache({ store: nonces }),
      });
      await new Promise((resolve) => setImmediate(resolve));
      return verify(request);
    };
    const timeMs = Math.floor(startMs / 1000) * 1000;
    expect(await at(timeMs - 300_000)).toBe('valid');
    expect(await at(timeMs - 299_999)).toEqual({
      invalid: 'the signature is from before the records were restored',
    });
  });

  test('a store that could not be read is read again at the next signature', async () => {
    const list = vi.fn().mockRejectedValueOnce(new Error('locked')).mockResolvedValue([]);
    const nonces = { list, note: () => {}, validFromMs: async () => null };
    const verify = createSignatureVerifier({
      masterKey,
      isCompatibilityAllowed: true,
      nonces: createNonceCache({ store: nonces }),
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(verify(request)).toEqual({ invalid: expect.stringContaining('yet') });
    await new Promise((resolve) => setImmediate(resolve));
    expect(verify(request)).toBe('valid');
  });
});
