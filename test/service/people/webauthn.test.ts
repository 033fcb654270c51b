// The law of passkey answers: a complete WebAuthn library accepts everything that this service accepts, for
// answers as devices give them and for answers with a changed bit or part.

import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/language/value/random.ts';
import {
  checkCreated,
  checkUsed,
  type PasskeyCredential,
} from '../../../src/service/people/passkeys/webauthn.ts';
import { type AuthenticatorOptions, createAuthenticator } from './authenticator.ts';

const origin = 'https://writ.example.com';
const challenge = Buffer.from('a question').toString('base64url');
const expected = { origin, isExpected: (question: string) => question === challenge };

interface Answer {
  readonly response: Readonly<Record<string, string>>;
}

async function takesCreated(answer: unknown): Promise<string | null> {
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: answer as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: 'writ.example.com',
    });
    return verified ? registrationInfo.credential.id : null;
  } catch {
    return null;
  }
}

async function takesUsed(
  answer: unknown,
  { id, publicKey, counter }: PasskeyCredential,
): Promise<number | null> {
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: answer as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: 'writ.example.com',
      credential: { id, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter },
    });
    return verified ? authenticationInfo.newCounter : null;
  } catch {
    return null;
  }
}

/** The answer with one bit of one of its parts changed, or a part cut. */
function changed(answer: Answer, random: ReturnType<typeof createRandom>): Answer {
  const parts = Object.keys(answer.response).filter((part) => part !== 'transports');
  const part = parts[random.below(parts.length)]!;
  const bytes = Buffer.from(answer.response[part]!, 'base64url');
  if (random.below(8) === 0) return withPart(answer, part, bytes.subarray(0, random.below(bytes.length)));
  bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
  return withPart(answer, part, bytes);
}

function withPart(answer: Answer, part: string, bytes: Buffer): Answer {
  return { ...answer, response: { ...answer.response, [part]: bytes.toString('base64url') } };
}

const rounds = 1_500;

describe.each(['ES256', 'EdDSA', 'RS256'] as const)('%s', (algorithm) => {
  const device = createAuthenticator({ origin, algorithm });
  const created = device.create({ challenge }) as Answer;
  const credential = checkCreated(created, expected)!;

  it('registers a passkey and authenticates with it', async () => {
    expect(credential).toMatchObject({ id: device.id, counter: 1 });
    expect(await takesCreated(created)).toBe(device.id);
    const used = device.get({ challenge });
    expect(checkUsed(used, credential, expected)).toEqual({ counter: 2 });
    expect(await takesUsed(used, credential)).toBe(2);
    expect(checkUsed(used, { ...credential, counter: 2 }, expected)).toBeNull();
  });

  it('accepts no changed response that the library refuses', async () => {
    const random = createRandom(1);
    const used = device.get({ challenge }) as Answer;
    for (let round = 0; round < rounds; round++) {
      const making = changed(created, random);
      // The library also accepts invalid keys, and an `id` that is not the device's, so the law holds in one
      // direction only.
      const made = checkCreated(making, expected);
      if (made !== null) expect(made.id, JSON.stringify(making)).toBe(await takesCreated(making));
      const answering = changed(used, random);
      // The library also accepts signatures that break DER.
      const own = checkUsed(answering, credential, expected);
      if (own !== null)
        expect(own.counter, JSON.stringify(answering)).toBe(await takesUsed(answering, credential));
    }
  });
});

describe('an answer', () => {
  const used = (options: Partial<AuthenticatorOptions> = {}) => {
    const device = createAuthenticator({ origin, ...options });
    const credential = { ...checkCreated(device.create({ challenge }), expected)! };
    return { device, credential };
  };

  it.each([
    ['of a person who was not verified', { isUserVerified: false }],
    ['for another site', { relyingParty: 'other.example.com' }],
    ['on another page', { origin: 'https://other.example.com', relyingParty: 'writ.example.com' }],
  ])('%s is refused', async (_, options) => {
    const device = createAuthenticator({ origin, ...options });
    const created = device.create({ challenge });
    expect([checkCreated(created, expected), await takesCreated(created)]).toEqual([null, null]);
  });

  it('to another challenge, by another passkey or of another kind is refused', () => {
    const { device, credential } = used();
    const other = Buffer.from('another').toString('base64url');
    expect(checkUsed(device.get({ challenge: other }), credential, expected)).toBeNull();
    expect(checkUsed(used().device.get({ challenge }), credential, expected)).toBeNull();
    expect(checkUsed(device.create({ challenge }), credential, expected)).toBeNull();
    expect(checkCreated(device.get({ challenge }), expected)).toBeNull();
    for (const nothing of [null, undefined, 1, 'a', [], {}, { id: 'a', rawId: 'a', type: 'public-key' }]) {
      expect(checkCreated(nothing, expected)).toBeNull();
      expect(checkUsed(nothing, credential, expected)).toBeNull();
    }
  });

  it('of any known attestation registers a passkey; of an unknown one it does not', () => {
    const made = (form: string) =>
      checkCreated(createAuthenticator({ origin, form }).create({ challenge }), expected);
    expect([made('packed') === null, made('other') === null]).toEqual([false, true]);
  });

  it('from inside a page of another site is refused', () => {
    const { device, credential } = used();
    const answer = device.get({ challenge }) as Answer;
    const said = JSON.parse(Buffer.from(answer.response.clientDataJSON!, 'base64url').toString());
    for (const more of [{ crossOrigin: true }, { topOrigin: origin }]) {
      const inside = withPart(answer, 'clientDataJSON', Buffer.from(JSON.stringify({ ...said, ...more })));
      expect(checkUsed(inside, credential, expected)).toBeNull();
    }
  });
});
