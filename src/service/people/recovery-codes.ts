// Recovery codes: ten texts on paper for the day when the authenticator app is lost. Each stands once for a one-time code,
// to sign in and to prove a change of how one signs in; never for a step-up. INVARIANT: only keyed digests are stored, and a
// code that was taken is gone in the write that lets somebody in.

import { createHmac, randomBytes } from 'node:crypto';
import { deriveKey } from '../agents/sealing.ts';
import type { DocumentPut } from '../store/contract/documents.ts';
import { asProved, type Directory } from './directory.ts';
import { newNotice } from './notices.ts';
import { type Person, type RecoveryCodes, recordName } from './person.ts';
import type { SignInDeps } from './sign-in.ts';

export const recoveryCodesMax = 10;
/** Without letters that are taken for one another; 32 of them. */
const alphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const codeLength = 10;

/** `codes` are shown this once; earlier ones stop working. */
export type RecoveryCodesMade =
  | { readonly kind: 'made'; readonly codes: readonly string[] }
  | { readonly kind: 'no-codes' | 'conflict' };

/** Makes ten new ones. The caller has had the change proved. */
export async function makeRecoveryCodes(deps: SignInDeps, person: Person): Promise<RecoveryCodesMade> {
  const { directory, notify } = deps;
  const found = await asProved(directory, person);
  if (found === null) return { kind: 'conflict' };
  if (found.value.totp === null) return { kind: 'no-codes' };
  const { codes, put } = await newRecoveryCodes(deps, person.id);
  const notice = newNotice(directory, person, { what: 'recovery-codes-made' });
  const writes = [put, directory.people.put(found.value, found.version), directory.notices.put(notice, 0)];
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

/** New codes, and what stores them. */
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

/** Takes a code of the person, who is told of it; false where it is none of theirs. */
export async function useRecoveryCode(
  { directory, masterKey, notify }: SignInDeps,
  person: Person,
  typed: string,
): Promise<boolean> {
  const found = await directory.recoveryCodes.find(person.id);
  const digest = recoveryDigest(masterKey, person.id, typed);
  if (found?.value.digests.includes(digest) !== true) return false;
  const digests = found.value.digests.filter((one) => one !== digest);
  const notice = newNotice(directory, person, { what: 'recovery-code-used' });
  // Of two who send the same code at once, one finds another version.
  const writes = [
    directory.recoveryCodes.put({ ...found.value, digests }, found.version),
    directory.notices.put(notice, 0),
  ];
  const result = await directory.change(writes, {
    who: recordName(person),
    what: 'recovery-code-used',
    subject: person.id,
    before: { left: found.value.digests.length },
    after: { left: digests.length },
  });
  if (result !== 'changed') return false;
  notify(notice, person);
  return true;
}

/** Such as `K7QPA-XM3DN`. */
function createRecoveryCode(): string {
  const letters = [...randomBytes(codeLength)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return `${letters.slice(0, codeLength / 2)}-${letters.slice(codeLength / 2)}`;
}

/** Codes have 50 bits: somebody who has the store and not the master key cannot try them. */
function recoveryDigest(masterKey: Uint8Array, personId: string, typed: string): string {
  const letters = typed.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  return createHmac('sha256', deriveKey(masterKey, 'recovery codes'))
    .update(JSON.stringify([personId, letters]))
    .digest('hex');
}
