// Passkeys (WebAuthn): set up by a person who is signed in, then used to sign in and for a step-up, with the
// person verified by the device. INVARIANT: an answer counts for the question of one purpose, once, and only
// from the service's own origin.

import { nameProblem } from '../../language/value/visible-text.ts';
import type { DocumentPut } from '../store/contract/documents.ts';
import type { InvalidInput } from './access.ts';
import { answeredOnce, createChallenge, isChallenge } from './challenges.ts';
import { asProved, type Directory } from './directory.ts';
import { type Notify, newNotice } from './notices.ts';
import { keyParameters } from './passkeys/device-data.ts';
import { checkCreated, checkUsed, type ExpectedAnswer } from './passkeys/webauthn.ts';
import { type Passkey, type Person, recordName } from './person.ts';

export interface PasskeyDeps {
  readonly directory: Directory;
  /** The key that signs questions is derived from this. */
  readonly masterKey: Uint8Array;
  /** Where people reach the service, such as `https://writ.example.com`. */
  readonly origin: string;
  readonly notify: Notify;
}

export const passkeysMax = 20;
/** Milliseconds for which a browser asks the person. */
const timeout = 60_000;
const nameLengthMax = 100;

/** Returns the argument of a browser's `navigator.credentials.create`, as JSON. */
export async function passkeyCreationOptions({ directory, masterKey, origin }: PasskeyDeps, person: Person) {
  const present = await directory.passkeys.list({ parent: person.id, countMax: passkeysMax });
  return {
    challenge: createChallenge(masterKey, creationPurpose(person), directory.clock()),
    rp: { name: 'Writ', id: hostOf(origin) },
    user: {
      id: Buffer.from(person.id).toString('base64url'),
      name: person.email,
      displayName: person.name,
    },
    pubKeyCredParams: keyParameters,
    timeout,
    attestation: 'none',
    excludeCredentials: present.map(({ value }) => ({ id: value.id, type: 'public-key' })),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification: 'required',
    },
  };
}

export type PasskeyResult =
  | { readonly kind: 'added'; readonly passkey: Passkey }
  | InvalidInput
  | { readonly kind: 'wrong' | 'too-many' };

export async function addPasskey(
  deps: PasskeyDeps,
  person: Person,
  { response, name }: { readonly response: unknown; readonly name: string },
): Promise<PasskeyResult> {
  const { directory, notify } = deps;
  const challenge = expectAnswer(deps, creationPurpose(person));
  const ofName = nameProblem(name, nameLengthMax);
  if (ofName !== null) {
    return { kind: 'invalid', problems: [{ field: 'name', detail: `the name ${ofName}` }] };
  }
  const credential = checkCreated(response, challenge);
  if (credential === null) return { kind: 'wrong' };
  const passkeys = await directory.passkeys.list({ parent: person.id, countMax: passkeysMax });
  if (passkeys.length >= passkeysMax) return { kind: 'too-many' };
  const present = await asProved(directory, person);
  if (present === null) return { kind: 'wrong' };
  const passkey: Passkey = {
    ...credential,
    personId: person.id,
    name,
    createdAtMs: Math.trunc(directory.clock()),
  };
  const notice = newNotice(directory, person, { what: 'passkey-added', name: passkey.name });
  const result = await directory.change(
    [
      directory.passkeys.put(passkey, 0),
      challenge.answered(),
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

/**
 * Returns the argument of a browser's `navigator.credentials.get`; `purpose` names what the answer counts
 * for.
 */
export function passkeyRequestOptions({ directory, masterKey, origin }: PasskeyDeps, purpose: string) {
  return {
    rpId: hostOf(origin),
    challenge: createChallenge(masterKey, purpose, directory.clock()),
    timeout,
    userVerification: 'required',
  };
}

/** Returns the person who answered, and the passkey used; null when the answer is not valid. */
export async function checkPasskey(
  deps: PasskeyDeps,
  purpose: string,
  response: unknown,
): Promise<{ readonly person: Person; readonly passkey: Passkey } | null> {
  const { directory } = deps;
  const { id } = (response ?? {}) as { readonly id?: unknown };
  const storedPasskey = typeof id === 'string' ? await directory.passkeys.find(id) : null;
  if (storedPasskey === null) return null;
  const { value: passkey, version } = storedPasskey;
  const challenge = expectAnswer(deps, purpose);
  const answered = checkUsed(response, passkey, challenge);
  if (answered === null) return null;
  const used = { ...passkey, counter: answered.counter };
  const isFirst = await directory.documents.write(
    [directory.passkeys.put(used, version), challenge.answered()],
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
  const storedPasskey = await directory.passkeys.find(id);
  const present = await asProved(directory, person);
  if (storedPasskey === null || present === null || storedPasskey.value.personId !== person.id)
    return 'unknown';
  const { name } = storedPasskey.value;
  const notice = newNotice(directory, person, { what: 'passkey-removed', name });
  const result = await directory.change(
    [
      directory.passkeys.remove(storedPasskey.value, storedPasskey.version),
      directory.people.put(present.value, present.version),
      directory.notices.put(notice, 0),
    ],
    { who: recordName(person), what: 'passkey-removed', subject: person.id, before: { name }, after: null },
  );
  if (result !== 'changed') return 'unknown';
  notify(notice, person);
  return 'removed';
}

interface SingleUseChallenge extends ExpectedAnswer {
  /**
   * Returns a write that goes together with what the answer allows; it conflicts when the question has been
   * answered before.
   */
  readonly answered: () => DocumentPut;
}

/** Expects an answer to a question of one purpose, and keeps the question that the answer names. */
function expectAnswer({ directory, masterKey, origin }: PasskeyDeps, purpose: string): SingleUseChallenge {
  let named = '';
  return {
    origin,
    isExpected: (question: string): boolean => {
      named = question;
      return isChallenge(masterKey, question, { purpose, nowMs: directory.clock() });
    },
    answered: () => answeredOnce(directory.documents, named, directory.clock()),
  };
}

function creationPurpose({ id }: Person): string {
  return `create ${id}`;
}

function hostOf(origin: string): string {
  return new URL(origin).hostname;
}
