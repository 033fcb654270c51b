// Reads what a passkey's device states about itself, in bytes and CBOR: for which site, that the person is
// there, and the key that it has made. Anything unexpected throws; the CBOR reader throws, too.

import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { decodeCBOR, decodePartialCBOR } from '@levischuck/tiny-cbor';

export class RefusedAnswer extends Error {}

/** How signatures of a kind of key are made; the numbers are those of COSE. */
interface Algorithm {
  readonly digest: 'sha256' | null;
  /** Returns the key as a JWK; null when the key is not of this kind. */
  readonly jwkOf: (key: ReadonlyMap<unknown, unknown>) => JsonWebKey | null;
}

const [keyType, curve, first, second, third] = [1, -1, -1, -2, -3];

/** In the order in which a device is asked for them: EdDSA, ES256, RS256. */
const algorithms: ReadonlyMap<unknown, Algorithm> = new Map<number, Algorithm>([
  [
    -8,
    {
      digest: null,
      jwkOf: (key) =>
        key.get(keyType) === 1 && key.get(curve) === 6
          ? { kty: 'OKP', crv: 'Ed25519', x: base64Of(key.get(second)) }
          : null,
    },
  ],
  [
    -7,
    {
      digest: 'sha256',
      jwkOf: (key) =>
        key.get(keyType) === 2 && key.get(curve) === 1
          ? { kty: 'EC', crv: 'P-256', x: base64Of(key.get(second)), y: base64Of(key.get(third)) }
          : null,
    },
  ],
  [
    -257,
    {
      digest: 'sha256',
      jwkOf: (key) =>
        key.get(keyType) === 3
          ? { kty: 'RSA', n: base64Of(key.get(first)), e: base64Of(key.get(second)) }
          : null,
    },
  ],
]);

/** The kinds of keys that a device is asked for, as `navigator.credentials.create` takes them. */
export const keyParameters = [...algorithms.keys()].map((alg) => ({ alg, type: 'public-key' }));

interface DeviceData {
  readonly counter: number;
  readonly credential: { readonly id: string; readonly publicKey: Uint8Array } | null;
}

const flag = {
  present: 0x01,
  verified: 0x04,
  canBeCopied: 0x08,
  isCopied: 0x10,
  key: 0x40,
  extensions: 0x80,
};
const [hostLength, headLength, makeLength] = [32, 37, 16];

/**
 * Returns what the device states for the site: its use counter, and the key if it has made one. Throws unless
 * the person is there and verified.
 */
export function deviceDataOf(bytes: Uint8Array, host: string): DeviceData {
  const data = Buffer.from(bytes);
  if (data.length < headLength || !data.subarray(0, hostLength).equals(sha256Of(host)))
    throw new RefusedAnswer();
  const flags = data[hostLength]!;
  const has = (one: number) => (flags & one) !== 0;
  if (!has(flag.present) || !has(flag.verified)) throw new RefusedAnswer();
  if (has(flag.isCopied) && !has(flag.canBeCopied)) throw new RefusedAnswer();
  let at = headLength;
  let credential: DeviceData['credential'] = null;
  if (has(flag.key)) {
    const idAt = at + makeLength + 2;
    const keyAt = idAt + data.readUInt16BE(idAt - 2);
    if (keyAt > data.length) throw new RefusedAnswer();
    at = keyAt + lengthOfCbor(data, keyAt);
    credential = { id: base64Of(data.subarray(idAt, keyAt)), publicKey: data.subarray(keyAt, at) };
  }
  if (has(flag.extensions)) at += lengthOfCbor(data, at);
  if (at !== data.length) throw new RefusedAnswer();
  return { counter: data.readUInt32BE(hostLength + 1), credential };
}

/** Decodes CBOR. The reader looks at the whole memory behind its input, so it gets a copy. */
export function readCbor(bytes: Uint8Array): unknown {
  return decodeCBOR(new Uint8Array(bytes));
}

function lengthOfCbor(bytes: Uint8Array, at: number): number {
  const [value, length] = decodePartialCBOR(new Uint8Array(bytes), at);
  mapOf(value);
  return length;
}

export function verifierOf(publicKey: Uint8Array): {
  readonly key: KeyObject;
  readonly digest: Algorithm['digest'];
} {
  const cose = mapOf(readCbor(publicKey));
  const algorithm = algorithms.get(cose.get(3));
  const jwk = algorithm?.jwkOf(cose) ?? null;
  if (algorithm === undefined || jwk === null) throw new RefusedAnswer();
  return { key: createPublicKey({ key: jwk, format: 'jwk' }), digest: algorithm.digest };
}

export function mapOf(value: unknown): ReadonlyMap<unknown, unknown> {
  if (!(value instanceof Map)) throw new RefusedAnswer();
  return value;
}

export function asBytes(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new RefusedAnswer();
  return value;
}

export function base64Of(value: unknown): string {
  return Buffer.from(asBytes(value)).toString('base64url');
}

export function sha256Of(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest();
}
