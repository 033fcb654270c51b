// Proof that a person is still the same, here and now: by password and one-time code, or by a passkey. A
// session may have been stolen, so changes of sign-in methods ask for proof, and so does a step-up.
// INVARIANT: a second factor that is set up is asked for, and a passkey that was just added proves nothing.

import { checkPasskey, passkeysMax } from './passkeys.ts';
import type { Person, Session } from './person.ts';
import { checkCredentials, type SignInDeps, type SignInRefusal } from './sign-in.ts';
import { reserveUnguessable } from './sign-in-limits.ts';

/**
 * What a person shows as proof: `password` and `code`, or `passkey`, which is the browser's answer to a
 * question.
 */
export interface ProofFactors {
  readonly password?: string;
  readonly code?: string;
  readonly passkey?: unknown;
}

export interface ProofInput {
  readonly shown: ProofFactors;
  /** The purpose of the question that the passkey answers. */
  readonly purpose: string;
  /** The client's address. */
  readonly address: string;
  /** The person's session; null for a personal token. */
  readonly session: Session | null;
  /**
   * Whether a recovery code may replace a one-time code. A recovery code is a way back in, and never steps
   * up.
   */
  readonly takesRecoveryCode: boolean;
}

/** `factorSinceMs` is when the second factor shown was set up; null when none was shown. */
export type ReauthenticationResult =
  | {
      readonly kind: 'right';
      readonly person: Person;
      readonly factorSinceMs: number | null;
      /** The name of the passkey shown; null when none was. */
      readonly passkey: string | null;
    }
  | SignInRefusal
  | { readonly kind: 'nothing-shown' };

export async function reauthenticate(
  deps: SignInDeps,
  person: Person,
  { shown: { password, code, passkey }, purpose, address, session, takesRecoveryCode }: ProofInput,
): Promise<ReauthenticationResult> {
  const { directory, attempts } = deps;
  if (passkey !== undefined) {
    const reserved = reserveUnguessable(attempts, { what: 'passkey', address }, directory.clock());
    if (reserved.kind === 'wait') return reserved;
    const answered = await checkPasskey(deps, purpose, passkey);
    if (answered === null || answered.person.id !== person.id) return { kind: 'wrong' };
    reserved.succeeded();
    const { name, createdAtMs } = answered.passkey;
    return { kind: 'right', person: answered.person, factorSinceMs: createdAtMs, passkey: name };
  }
  if (password === undefined) return { kind: 'nothing-shown' };
  const storedPerson = await directory.people.find(person.id);
  const deviceName = session === null ? null : `session ${session.id}`;
  const credentials = { email: person.email, password, code: code ?? null, address };
  const checked = await checkCredentials(deps, storedPerson, {
    ...credentials,
    known: deviceName,
    takesRecoveryCode,
  });
  if (checked.kind !== 'right') return checked;
  const { person: checkedPerson } = checked;
  const factorSinceMs = checkedPerson.totp?.setUpAtMs ?? null;
  return { kind: 'right', person: checkedPerson, factorSinceMs, passkey: null };
}

export type ProofResult =
  | { readonly kind: 'right'; readonly person: Person }
  | SignInRefusal
  | { readonly kind: 'nothing-shown' | 'passkey-needed' | 'passkey-too-new' };

/** Proves a change of the person's sign-in methods. */
export async function prove(
  deps: SignInDeps,
  person: Person,
  showing: Omit<ProofInput, 'takesRecoveryCode'>,
): Promise<ProofResult> {
  const result = await reauthenticate(deps, person, { ...showing, takesRecoveryCode: true });
  if (result.kind !== 'right') return result;
  if (showing.shown.passkey !== undefined) {
    return isNew(deps, result.factorSinceMs ?? 0) ? { kind: 'passkey-too-new' } : result;
  }
  const hasCodes = result.factorSinceMs !== null;
  return !hasCodes && (await hasPasskey(deps, person)) ? { kind: 'passkey-needed' } : result;
}

/** Returns the purpose of the question that a passkey answers to prove a change in a session. */
export function proofPurpose({ id, personId }: Session): string {
  return `prove a change by ${personId} in ${id}`;
}

/** From when on a person's second factors can be used for a step-up, in milliseconds since 1970. */
interface StepUpFactors {
  /** Null when one-time codes are not set up. */
  readonly codesFromMs: number | null;
  /** When the oldest passkey can be used; null without passkeys. */
  readonly passkeyFromMs: number | null;
}

export async function stepUpFactors(
  { directory, newFactorMs }: Pick<SignInDeps, 'directory' | 'newFactorMs'>,
  { id, totp }: Person,
): Promise<StepUpFactors> {
  const passkeys = await directory.passkeys.list({ parent: id, countMax: passkeysMax });
  const addedMs = passkeys.map(({ value }) => value.createdAtMs);
  return {
    codesFromMs: totp === null ? null : totp.setUpAtMs + newFactorMs,
    passkeyFromMs: addedMs.length === 0 ? null : Math.min(...addedMs) + newFactorMs,
  };
}

/** Whether a second factor was set up too recently to prove anything. */
export function isNew({ directory, newFactorMs }: SignInDeps, sinceMs: number): boolean {
  return directory.clock() - sinceMs < newFactorMs;
}

async function hasPasskey(deps: SignInDeps, { id }: Person): Promise<boolean> {
  const passkeys = await deps.directory.passkeys.list({ parent: id, countMax: passkeysMax });
  return passkeys.some(({ value }) => !isNew(deps, value.createdAtMs));
}
