// An authenticator in software: makes a key pair for a site and answers its challenges as a device would
// (WebAuthn, ES256 unless set otherwise, no attestation). Its flags and counter can be set wrong on purpose.

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface Authenticator {
  readonly id: string;
  /** The result of `navigator.credentials.create`. */
  create(options: { readonly challenge: string }): unknown;
  /** The result of `navigator.credentials.get`. */
  get(options: { readonly challenge: string }, userHandle?: string): unknown;
}

export interface AuthenticatorOptions {
  readonly origin: string;
  readonly isUserVerified?: boolean;
  /** The relying party that the device names, in place of the origin's host. */
  readonly relyingParty?: string;
  readonly algorithm?: Algorithm;
  /** The attestation format; the attestation itself is empty. */
  readonly form?: string;
}

type Algorithm = 'ES256' | 'EdDSA' | 'RS256';

function makeKeys(algorithm: Algorithm) {
  switch (algorithm) {
    case 'ES256':
      return generateKeyPairSync('ec', { namedCurve: 'P-256' });
    case 'EdDSA':
      return generateKeyPairSync('ed25519');
    case 'RS256':
      return generateKeyPairSync('rsa', { modulusLength: 2048 });
  }
}

export function createAuthenticator({
  origin,
  isUserVerified = true,
  relyingParty = new URL(origin).hostname,
  algorithm = 'ES256',
  form = 'none',
}: AuthenticatorOptions): Authenticator {
  const { privateKey, publicKey } = makeKeys(algorithm);
  const rawId = randomBytes(32);
  const id = rawId.toString('base64url');
  let counter = 0;

  const clientData = (type: string, challenge: string): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));

  const authenticatorData = (credential: Buffer): Buffer => {
    counter += 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const flags = 0x01 | (isUserVerified ? 0x04 : 0) | (credential.length > 0 ? 0x40 : 0);
    return Buffer.concat([sha256(relyingParty), Buffer.from([flags]), count, credential]);
  };

  const common = { id, rawId: id, type: 'public-key', clientExtensionResults: {} };
  return {
    id,
    create: ({ challenge }) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(rawId.length);
      const credential = Buffer.concat([Buffer.alloc(16), length, rawId, coseKey(publicKey)]);
      const attestation = cborMap([
        [cborText('fmt'), cborText(form)],
        [cborText('attStmt'), cborMap(form === 'none' ? [] : [[cborText('sig'), cborBytes(randomBytes(8))]])],
        [cborText('authData'), cborBytes(authenticatorData(credential))],
      ]);
      return {
        ...common,
        response: {
          clientDataJSON: clientData('webauthn.create', challenge).toString('base64url'),
          attestationObject: attestation.toString('base64url'),
          transports: ['internal'],
        },
      };
    },
    get: ({ challenge }, userHandle) => {
      const data = authenticatorData(Buffer.alloc(0));
      const client = clientData('webauthn.get', challenge);
      const digest = algorithm === 'EdDSA' ? null : 'sha256';
      const signature = sign(digest, Buffer.concat([data, sha256(client)]), privateKey);
      return {
        ...common,
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: signature.toString('base64url'),
          ...(userHandle === undefined ? {} : { userHandle }),
        },
      };
    },
  };
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}

/** The public key in COSE format. */
function coseKey(publicKey: KeyObject): Buffer {
  const { kty, x = '', y = '', n = '', e = '' } = publicKey.export({ format: 'jwk' });
  const bytes = (text: string) => cborBytes(Buffer.from(text, 'base64url'));
  const entries: Readonly<Record<string, readonly (readonly [number, Buffer])[]>> = {
    EC: [
      [1, cborInteger(2)],
      [3, cborInteger(-7)],
      [-1, cborInteger(1)],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ],
    OKP: [
      [1, cborInteger(1)],
      [3, cborInteger(-8)],
      [-1, cborInteger(6)],
      [-2, bytes(x)],
    ],
    RSA: [
      [1, cborInteger(3)],
      [3, cborInteger(-257)],
      [-1, bytes(n)],
      [-2, bytes(e)],
    ],
  };
  return cborMap(entries[kty!]!.map(([key, value]) => [cborInteger(key), value]));
}

function cborHead(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255]);
}

function cborInteger(value: number): Buffer {
  return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
}

function cborBytes(bytes: Buffer): Buffer {
  return Buffer.concat([cborHead(2, bytes.length), bytes]);
}

function cborText(text: string): Buffer {
  return Buffer.concat([cborHead(3, text.length), Buffer.from(text)]);
}

function cborMap(entries: readonly (readonly [Buffer, Buffer])[]): Buffer {
  return Buffer.concat([cborHead(5, entries.length), ...entries.flat()]);
}
