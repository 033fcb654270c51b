// Passkeys (WebAuthn): set up by somebody who is signed in, then good for signing in and for a step-up, with the person
// verified by the device. INVARIANT: an answer counts for the question of one purpose, once, and only from the
// service's own origin.

import type {
  AuthenticationResponseJSON,
  AuthenticatorTransport,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { nameProblem } from '../../language/value/visible-text.ts';
import type { Invalid } from './access.ts';
import { answeredOnce, createChallenge, isChallenge } from './challenges.ts';
import { asProved, type Directory } from './directory.ts';
import { type Notify, newNotice } from './notices.ts';
import { type Passkey, type Person, recordName } from './person.ts';

export interface PasskeyDeps {
  readonly directory: Directory;
  /** Questions are signed by it. */
  readonly masterKey: Uint8Array;
  /** Where people reach the service, such as `https://writ.example.com`. */
  readonly origin: string;
  readonly notify: Notify;
}

/** Loaded when somebody first uses a passkey: it is large. */
const webAuthn = () => import('@simplewebauthn/server');

export const passkeysMax = 20;
const nameLengthMax = 100;

/** What a browser's `navigator.credentials.create` takes, as JSON. */
export async function passkeyCreationOptions({ directory, masterKey, origin }: PasskeyDeps, person: Person) {
  const present = await directory.passkeys.list({ parent: person.id, countMax: passkeysMax });
  return await (await webAuthn()).generateRegistrationOptions({
    rpName: 'Writ',
    rpID: hostOf(origin),
    userID: new Uint8Array(Buffer.from(person.id)),
    userName: person.email,
    userDisplayName: person.name,
    challenge: bytesOf(createChallenge(masterKey, creationPurpose(person), directory.clock())),
    attestationType: 'none',
    excludeCredentials: present.map(({ value }) => ({ id: value.id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

export type PasskeyAdded =
  | { readonly kind: 'added'; readonly passkey: Passkey }
  | Invalid
  | { readonly kind: 'wrong' | 'too-many' };

export async function addPasskey(
  deps: PasskeyDeps,
  person: Person,
  { response, name }: { readonly response: unknown; readonly name: string },
): Promise<PasskeyAdded> {
  const { directory, origin, notify } = deps;
  const asked = expectAnswer(deps, creationPurpose(person));
  const ofName = nameProblem(name, nameLengthMax);
  if (ofName !== null) {
    return { kind: 'invalid', problems: [{ field: 'name', detail: `the name ${ofName}` }] };
  }
  const { verifyRegistrationResponse } = await webAuthn();
  const verified = await quietly(() =>
    verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge: asked.isExpected,
      expectedOrigin: origin,
      expectedRPID: hostOf(origin),
    }),
  );
  if (verified?.verified !== true) return { kind: 'wrong' };
  const passkeys = await directory.passkeys.list({ parent: person.id, countMax: passkeysMax });
  if (passkeys.length >= passkeysMax) return { kind: 'too-many' };
  const present = await asProved(directory, person);
  if (present === null) return { kind: 'wrong' };
  const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  const passkey: Passkey = {
    id,
    counter,
    transports,
    personId: person.id,
    name,
    publicKey: Buffer.from(publicKey).toString('base64url'),
    createdAtMs: Math.trunc(directory.clock()),
  };
  const notice = newNotice(directory, person, { what: 'passkey-added', name: passkey.name });
  const result = await directory.change(
    [
      directory.passkeys.put(passkey, 0),
      asked.answered(),
      directory.people.put(present.value, present.version),
      directory.notices.put(notice, 0),
    ],
    {
      who: recordName(person),
      what: 'passkey-added',
      subject: person.id,
      before: null,
      after: { name: passkey.name },
    },
  );
  if (result !== 'changed') return { kind: 'wrong' };
  notify(notice, person);
  return { kind: 'added', passkey };
}

/** What a browser's `navigator.credentials.get` takes; `purpose` is for what the answer counts. */
export async function passkeyRequestOptions({ directory, masterKey, origin }: PasskeyDeps, purpose: string) {
  return await (await webAuthn()).generateAuthenticationOptions({
    rpID: hostOf(origin),
    challenge: bytesOf(createChallenge(masterKey, purpose, directory.clock())),
    userVerification: 'required',
  });
}

/** Who answered, and by which passkey; null where nobody did. */
export async function checkPasskey(
  deps: PasskeyDeps,
  purpose: string,
  response: unknown,
): Promise<{ readonly person: Person; readonly passkey: Passkey } | null> {
  const { directory, origin } = deps;
  const answer = response as AuthenticationResponseJSON;
  const found = typeof answer?.id === 'string' ? await directory.passkeys.find(answer.id) : null;
  if (found === null) return null;
  const { value: passkey, version } = found;
  const asked = expectAnswer(deps, purpose);
  const { verifyAuthenticationResponse } = await webAuthn();
  const verified = await quietly(() =>
    verifyAuthenticationResponse({
      response: answer,
      expectedChallenge: asked.isExpected,
      expectedOrigin: origin,
      expectedRPID: hostOf(origin),
      credential: {
        id: passkey.id,
        publicKey: bytesOf(passkey.publicKey),
        counter: passkey.counter,
        transports: passkey.transports as AuthenticatorTransport[],
      },
    }),
  );
  if (verified?.verified !== true) return null;
  const used = { ...passkey, counter: verified.authenticationInfo.newCounter };
  const isFirst = await directory.documents.write(
    [directory.passkeys.put(used, version), asked.answered()],
    null,
  );
  if (isFirst !== 'changed') return null;
  const person = (await directory.people.find(passkey.personId))?.value;
  return person?.status === 'active' ? { person, passkey: used } : null;
}

export async function removePasskey(
  { directory, notify }: PasskeyDeps,
  person: Person,
  id: string,
): Promise<'removed' | 'unknown'> {
  const found = await directory.passkeys.find(id);
  const present = await asProved(directory, person);
  if (found === null || present === null || found.value.personId !== person.id) return 'unknown';
  const { name } = found.value;
  const notice = newNotice(directory, person, { what: 'passkey-removed', name });
  const result = await directory.change(
    [
      directory.passkeys.remove(found.value, found.version),
      directory.people.put(present.value, present.version),
      directory.notices.put(notice, 0),
    ],
    { who: recordName(person), what: 'passkey-removed', subject: person.id, before: { name }, after: null },
  );
  if (result !== 'changed') return 'unknown';
  notify(notice, person);
  return 'removed';
}

/** The one question that an answer names. */
function expectAnswer({ directory, masterKey }: PasskeyDeps, purpose: string) {
  let named = '';
  return {
    isExpected: (question: string): boolean => {
      named = question;
      return isChallenge(masterKey, question, { purpose, nowMs: directory.clock() });
    },
    /** Of an answer that was verified. */
    answered: () => answeredOnce(directory.documents, named, directory.clock()),
  };
}

function creationPurpose({ id }: Person): string {
  return `create ${id}`;
}

/** The library throws for whatever it does not like in what a client sent. */
async function quietly<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify();
  } catch {
    return null;
  }
}

function hostOf(origin: string): string {
  return new URL(origin).hostname;
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, 'base64url'));
}
