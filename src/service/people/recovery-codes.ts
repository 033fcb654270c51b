// Recovery codes: ten texts on paper for the day when the authenticator app is lost. Each replaces a one-time
// code once, to sign in and to prove a change of sign-in methods; never for a step-up. INVARIANT: only keyed
// digests are stored, and a code that was used is removed before anybody is let in by it.

import { createHmac, randomBytes } from 'node:crypto';
import { deriveKey } from '../agents/sealing.ts';
import type { DocumentPut } from '../store/contract/documents.ts';
import { asProved, type Directory } from './directory.ts';
import { newNotice } from './notices.ts';
import { type Person, type RecoveryCodes, recordName } from './person.ts';
import type { SignInDeps } from './sign-in.ts';

export const recoveryCodesMax = 10;
/** 32 characters, without letters that are easily confused. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const codeLength = 10;

/** `codes` are shown only this once; earlier codes stop working. */
export type NewRecoveryCodes =
  | { readonly kind: 'made'; readonly codes: readonly string[] }
  | { readonly kind: 'no-codes' | 'conflict' };

/** Makes ten new recovery codes. The caller has had the person prove who they are. */
export async function makeRecoveryCodes(deps: SignInDeps, person: Person): Promise<NewRecoveryCodes> {
  const { directory, notify } = deps;
  const storedPerson = await asProved(directory, person);
  if (storedPerson === null) return { kind: 'conflict' };
  if (storedPerson.value.totp === null) return { kind: 'no-codes' };
  const { codes, put } = await newRecoveryCodes(deps, person.id);
  const notice = newNotice(directory, person, { what: 'recovery-codes-made' });
  const writes = [
    put,
    directory.people.put(storedPerson.value, storedPerson.version),
    directory.notices.put(notice, 0),
  ];
  const result = await directory.change(writes, {
    who: recordName(person),
    what: 'recovery-codes-made',
    subject: person.id,
    before: null,
    after: { left: codes.length },
  });
  if (result !== 'changed') return { kind: 'conflict' };
  notify(notice, person);
  return { kind: 'made', codes };
}

/** Returns new codes, and the write that stores them. */
export async function newRecoveryCodes(
  { directory, masterKey }: Pick<SignInDeps, 'directory' | 'masterKey'>,
  personId: string,
): Promise<{ readonly codes: readonly string[]; readonly put: DocumentPut }> {
  const codes = Array.from({ length: recoveryCodesMax }, createRecoveryCode);
  const value: RecoveryCodes = {
    id: personId,
    digests: codes.map((code) => recoveryDigest(masterKey, personId, code)),
    createdAtMs: Math.trunc(directory.clock()),
  };
  const present = await directory.recoveryCodes.find(personId);
  return { codes, put: directory.recoveryCodes.put(value, present?.version ?? 0) };
}

export async function recoveryCodesLeft({ recoveryCodes }: Directory, personId: string): Promise<number> {
  return (await recoveryCodes.find(personId))?.value.digests.length ?? 0;
}

/** Uses a recovery code of the person and notifies them; returns false when the code is not one of theirs. */
export async function useRecoveryCode(
  { directory, masterKey, notify }: SignInDeps,
  person: Person,
  typed: string,
): Promise<boolean> {
  const storedRecoveryCodes = await directory.recoveryCodes.find(person.id);
  const digest = recoveryDigest(masterKey, person.id, typed);
  if (storedRecoveryCodes?.value.digests.includes(digest) !== true) return false;
  const digests = storedRecoveryCodes.value.digests.filter((one) => one !== digest);
  const notice = newNotice(directory, person, { what: 'recovery-code-used' });
  // If the same code is sent twice at once, the later write finds a newer version and fails.
  const writes = [
    directory.recoveryCodes.put({ ...storedRecoveryCodes.value, digests }, storedRecoveryCodes.version),
    directory.notices.put(notice, 0),
  ];
  const result = await directory.change(writes, {
    who: recordName(person),
    what: 'recovery-code-used',
    subject: person.id,
    before: { left: storedRecoveryCodes.value.digests.length },
    after: { left: digests.length },
  });
  if (result !== 'changed') return false;
  notify(notice, person);
  return true;
}

/** Returns a code such as `K7QPA-XM3DN`. */
function createRecoveryCode(): string {
  const letters = [...randomBytes(codeLength)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return `${letters.slice(0, codeLength / 2)}-${letters.slice(codeLength / 2)}`;
}

/**
 * The stored digest of a code. Codes have only 50 bits; the key keeps somebody who has the store, but not the
 * master key, from trying them.
 */
function recoveryDigest(masterKey: Uint8Array, personId: string, typed: string): string {
  const letters = typed.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  return createHmac('sha256', deriveKey(masterKey, 'recovery codes'))
    .update(JSON.stringify([personId, letters]))
    .digest('hex');
}
