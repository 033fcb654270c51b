// From a password, and a one-time code if codes are set up, to a session. INVARIANT: each attempt is reserved
// before it is judged, a code is good once, and neither the answer nor its timing reveals whether an address
// is known.

import { deriveKey, unseal } from '../agents/sealing.ts';
import type { ReadDocument } from '../store/contract/collection.ts';
import type { Attempts, Reservation, RetryDelay } from './attempts.ts';
import { knownDevice } from './device.ts';
import type { PasskeyDeps } from './passkeys.ts';
import { checkPassword } from './passwords.ts';
import type { Person, SignInWay } from './person.ts';
import { useRecoveryCode } from './recovery-codes.ts';
import { type SignedIn, startSession } from './sessions.ts';
import { blockOf, type Guess, reserveCode, reservePassword } from './sign-in-limits.ts';
import { acceptTotp } from './totp.ts';

export interface SignInDeps extends PasskeyDeps {
  readonly attempts: Attempts;
  /** The service's master key. */
  readonly masterKey: Uint8Array;
  /**
   * Milliseconds during which a newly set-up second factor cannot be used for a step-up, nor a new passkey as
   * proof of a change.
   */
  readonly newFactorMs: number;
  /** Whether passwords and passkeys let in only admins; everybody else then signs in at the provider. */
  readonly isSsoOnly: boolean;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** The six digits, or a recovery code; null when none were sent. */
  readonly code: string | null;
  /** The client's address, for limits on guessing. */
  readonly address: string;
}

/**
 * `wrong`: the address, the password or the code is wrong. `code-needed`: the password is right, and the
 * person has one-time codes set up. `code-used`: the code was right, and has been used before.
 */
export type SignInRefusal = { readonly kind: 'wrong' | 'code-needed' | 'code-used' } | RetryDelay;

export type SignInSuccess = { readonly kind: 'right'; readonly person: Person; readonly way: SignInWay };

/** Too many passwords wait to be hashed; the caller may try again in a moment. */
const busy: RetryDelay = { kind: 'wait', waitMs: 1_000 };

/**
 * Signs a person in. `device` is what the browser has kept from an earlier sign-in; null when it has kept
 * nothing.
 */
export async function signIn(
  deps: SignInDeps,
  { device = null, ...credentials }: Credentials & { readonly device?: string | null },
): Promise<SignedIn | SignInRefusal | { readonly kind: 'sso-only' }> {
  const storedPerson = await deps.directory.people.findByName(credentials.email);
  const name = storedPerson === null ? null : knownDevice(deps.masterKey, storedPerson.value, device);
  const deviceName = name === null ? null : `device ${name}`;
  const checked = await checkCredentials(deps, storedPerson, {
    ...credentials,
    known: deviceName,
    takesRecoveryCode: true,
  });
  if (checked.kind !== 'right') return checked;
  if (!mayUseLocalWay(deps, checked.person)) return { kind: 'sso-only' };
  return await startSession(deps, checked.person, { address: credentials.address, way: checked.way });
}

/** Whether a password or a passkey lets this person in. */
export function mayUseLocalWay({ isSsoOnly }: Pick<SignInDeps, 'isSsoOnly'>, { roles }: Person): boolean {
  return !isSsoOnly || roles.includes('admin');
}

export interface CheckedCredentials extends Credentials {
  /** The device or session that has shown before to be this person's; null for a stranger. */
  readonly known: string | null;
  /** Whether a recovery code may replace a one-time code. */
  readonly takesRecoveryCode: boolean;
}

export async function checkCredentials(
  deps: SignInDeps,
  person: ReadDocument<Person> | null,
  { known, takesRecoveryCode, ...credentials }: CheckedCredentials,
): Promise<SignInSuccess | SignInRefusal> {
  const { email: account, address, password } = credentials;
  const guess: Guess = { account, isAccount: person !== null, address, knownSource: known };
  const reserved = reservePassword(deps.attempts, guess, deps.directory.clock());
  if (reserved.kind === 'wait') return reserved;
  const inLine = { key: blockOf(address), isKnown: known !== null };
  const isPassword = await checkPassword(password, person?.value.passwordHash ?? null, inLine);
  if (isPassword === 'busy') {
    reserved.giveBack();
    return busy;
  }
  if (person === null || isPassword === 'no' || person.value.status !== 'active') return { kind: 'wrong' };
  if (person.value.totp === null) return right(reserved, person.value, 'password');
  if (credentials.code === null) {
    reserved.giveBack();
    return { kind: 'code-needed' };
  }
  return await checkCode(deps, person, { reserved, guess, takesRecoveryCode, code: credentials.code });
}

interface CodeGuess {
  readonly reserved: Reservation;
  readonly guess: Guess;
  readonly code: string;
  readonly takesRecoveryCode: boolean;
}

async function checkCode(
  deps: SignInDeps,
  { value: person, version }: ReadDocument<Person>,
  { reserved, guess, code, takesRecoveryCode }: CodeGuess,
): Promise<SignInSuccess | SignInRefusal> {
  const { directory, attempts } = deps;
  const nowMs = directory.clock();
  const ofCodes = reserveCode(attempts, guess, nowMs);
  if (ofCodes.kind === 'wait') {
    reserved.giveBack();
    return ofCodes;
  }
  if (person.totp === null) throw new Error('one-time codes are not set up');
  if (!/^\d{6}$/.test(code)) {
    if (!takesRecoveryCode || !(await useRecoveryCode(deps, person, code))) return { kind: 'wrong' };
    ofCodes.succeeded();
    return right(reserved, person, 'password-and-recovery-code');
  }
  const step = acceptTotp(code, { ...openTotp(deps, person.id, person.totp), nowMs });
  if (step === 'wrong') return { kind: 'wrong' };
  if (step === 'used') return { kind: 'code-used' };
  const used: Person = { ...person, totp: { ...person.totp, lastStep: step } };
  // If the same code is sent twice at once, the later write finds a newer version and fails: the code has
  // been used.
  const put = directory.people.put(used, version);
  if ((await directory.documents.write([put], null)) !== 'changed') return { kind: 'wrong' };
  ofCodes.succeeded();
  return right(reserved, used, 'password-and-code');
}

function right(reserved: Reservation, person: Person, way: SignInWay): SignInSuccess {
  reserved.succeeded();
  return { kind: 'right', person, way };
}

function openTotp(
  { masterKey }: SignInDeps,
  personId: string,
  { sealedSecret, lastStep }: NonNullable<Person['totp']>,
) {
  const secret = unseal(deriveKey(masterKey, totpPurpose), personId, sealedSecret);
  if (secret === null) throw new Error('the sealed secret of the one-time codes cannot be opened');
  return { secret, lastStep };
}

export const totpPurpose = 'one-time codes';
