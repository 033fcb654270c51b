// Chooses the rate limits of a sign-in attempt. Known devices and sessions have separate limits from
// strangers, and accounts from addresses. INVARIANT: whatever strangers send, the service checks attempts
// from a known device of a person, and the first attempt from a network that has not guessed at the account.
// The number of strangers' guesses per account and day is bounded.

import type { AttemptSubject, Attempts, Limit, Reservation, RetryDelay } from './attempts.ts';

export interface Guess {
  /** Address of the account, as sent. */
  readonly account: string;
  /** Whether the account exists: made-up accounts must not push real ones out of the tables. */
  readonly isAccount: boolean;
  /** The client's address. */
  readonly address: string;
  /** The device or session that has shown before to be this person's; null for a stranger. */
  readonly knownSource: string | null;
}

const dayMs = 24 * 60 * 60_000;

const backoff: Limit = { kind: 'backoff', free: 5, firstWaitMs: 2_000, longestWaitMs: 15 * 60_000 };
/** Guesses judged from each network, however many others guess at the account. */
const firstOfNetwork: Limit = { kind: 'budget', size: 3, everyMs: dayMs / 3 };
/** Guesses of one address at any accounts. */
const fromAddress: Limit = { kind: 'budget', size: 30, everyMs: 60_000 };
/** Guesses of all strangers at one account, beyond the first ones of each network. */
const ofStrangers: Limit = { kind: 'budget', size: 200, everyMs: dayMs / 200 };
/**
 * Guesses of all strangers at one account, the first ones of each network included. Up to this limit, a
 * guesser gets more guesses only from more networks.
 */
const ofEverybody: Limit = { kind: 'budget', size: 2_500, everyMs: dayMs / 2_500 };
/** Codes that strangers who know the password may try; six digits are few. */
const codesOfStrangers: Limit = { kind: 'budget', size: 50, everyMs: dayMs / 50 };
/** Passwords that somebody rates while typing one; this limit only bounds the work. */
const ratings: Limit = { kind: 'budget', size: 60, everyMs: 1_000 };
/** Links and passkeys cannot be guessed; this limit only bounds the work. */
const unguessable: Limit = { kind: 'budget', size: 30, everyMs: 2_000 };

/** Reserves an attempt at a password. */
export function reservePassword(attempts: Attempts, guess: Guess, nowMs: number): Reservation | RetryDelay {
  const { address, knownSource: known } = guess;
  const account = accountKey(guess);
  if (known !== null) return attempts.reserve([subject('known', `${known} ${account}`, backoff)], nowMs);
  const space = guess.isAccount ? 'account' : 'nobody';
  const always = [
    subject(`${space} block`, `${account} ${blockOf(address)}`, backoff),
    subject(`${space} all`, account, ofEverybody),
  ];
  const network = subject(`${space} network`, `${account} ${networkOf(address)}`, firstOfNetwork);
  const first = attempts.reserve([...always, network], nowMs);
  if (first.kind === 'reserved') return first;
  const shared = [subject(space, account, ofStrangers), subject('address', blockOf(address), fromAddress)];
  return attempts.reserve([...always, ...shared], nowMs);
}

/** Reserves an attempt at a one-time code, once the password was right. */
export function reserveCode(attempts: Attempts, guess: Guess, nowMs: number): Reservation | RetryDelay {
  const subjects = guess.knownSource === null ? [subject('codes', accountKey(guess), codesOfStrangers)] : [];
  return attempts.reserve(subjects, nowMs);
}

/** Reserves an attempt by a link or a passkey. */
export function reserveUnguessable(
  attempts: Attempts,
  { what, address }: { readonly what: 'link' | 'passkey'; readonly address: string },
  nowMs: number,
): Reservation | RetryDelay {
  return attempts.reserve([subject(what, blockOf(address), unguessable)], nowMs);
}

/** Reserves the rating of a password; its caller never gives the reservation back. */
export function reserveRating(attempts: Attempts, address: string, nowMs: number): Reservation | RetryDelay {
  return attempts.reserve([subject('rating', blockOf(address), ratings)], nowMs);
}

/** Reserves an application for access; its caller never gives the reservation back. */
export function reserveApplication(
  attempts: Attempts,
  address: string,
  nowMs: number,
): Reservation | RetryDelay {
  return attempts.reserve([subject('application', blockOf(address), backoff)], nowMs);
}

function subject(space: string, key: string, limit: Limit): AttemptSubject {
  return { space, key, limit };
}

function accountKey({ account }: Guess): string {
  return account.toLowerCase();
}

/** Returns what one customer of a provider has: an IPv4 address, or a /64 of IPv6. */
export function blockOf(address: string): string {
  return prefixOf(address, { bytes: 4, groups: 4 });
}

/** Returns what is allocated together: a /24 of IPv4, or a /48 of IPv6. */
export function networkOf(address: string): string {
  return prefixOf(address, { bytes: 3, groups: 3 });
}

function prefixOf(address: string, { bytes, groups }: { bytes: number; groups: number }): string {
  const ip4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (ip4 !== undefined) return ip4.split('.').slice(0, bytes).join('.');
  return fullGroups(address).slice(0, groups).join(':');
}

/** The eight groups of an IPv6 address; for any other text, the groups that it has. */
function fullGroups(address: string): readonly string[] {
  const [head = '', tail] = address.replace(/%.*$/, '').toLowerCase().split('::');
  const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const zeros = Array.from({ length: missing }, () => '0');
  return [...before, ...zeros, ...after].map((group) => group.replace(/^0+(?=.)/, ''));
}
