// A person and what belongs to one, as they are stored. INVARIANT: nothing here holds a password, a code's secret or a
// token in clear: they are hashed, or encrypted with the service's master key.

import { randomUUID } from 'node:crypto';
import type { Role } from './operations.ts';
import { digestOf } from './secrets.ts';

export interface Person {
  readonly id: string;
  /** Unique, upper and lower case taken as equal. */
  readonly email: string;
  readonly name: string;
  readonly roles: readonly Role[];
  /** Approval groups that the person belongs to. */
  readonly groups: readonly string[];
  readonly status: 'active' | 'disabled';
  /** In the PHC text form. */
  readonly passwordHash: string | null;
  readonly totp: Totp | null;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

interface ProvidedPerson {
  readonly email: string;
  /** Null where the provider gives none that people can be shown. */
  readonly name: string | null;
  readonly given: Pick<Person, 'roles' | 'groups'>;
  readonly nowMs: number;
}

/** Somebody whom an identity provider has named, and who signs in there. */
export function providedPerson({ email, name, given: { roles, groups }, nowMs }: ProvidedPerson): Person {
  return {
    id: randomUUID(),
    email,
    name: name ?? email,
    roles: [...roles],
    groups: [...groups],
    status: 'active',
    passwordHash: null,
    totp: null,
    createdAtMs: nowMs,
    changedAtMs: nowMs,
  };
}

export interface Totp {
  readonly sealedSecret: string;
  /** The step of the code that was taken last; no earlier one is good again. */
  readonly lastStep: number;
  readonly setUpAtMs: number;
}

export interface Passkey {
  /** The credential's, in base64url. */
  readonly id: string;
  readonly personId: string;
  readonly name: string;
  /** COSE, in base64url. */
  readonly publicKey: string;
  /** How often the device says that it was used; 0 for devices that do not count. */
  readonly counter: number;
  readonly createdAtMs: number;
}

/** By what somebody has signed in. */
export const signInWays = [
  'password',
  'password-and-code',
  'password-and-recovery-code',
  'passkey',
  'single-sign-on',
] as const;
export type SignInWay = (typeof signInWays)[number];

export interface Session {
  /** SHA-256 of the cookie's token. */
  readonly id: string;
  readonly personId: string;
  readonly createdAtMs: number;
  readonly seenAtMs: number;
  /** However much it is used. */
  readonly endsAtMs: number;
  readonly address: string;
  readonly way: SignInWay;
  /** Of the password that counted when it was made: with another one it is over. */
  readonly passwordDigest: string;
}

export interface PersonalToken {
  /** The eight characters after `writp_`. */
  readonly id: string;
  readonly personId: string;
  readonly name: string;
  /** SHA-256 of the whole token. */
  readonly digest: string;
  /** At most the person's own. */
  readonly roles: readonly Role[];
  readonly createdAtMs: number;
  readonly endsAtMs: number;
  /** Of the password that counted when it was made: with another one it is over. */
  readonly passwordDigest: string;
}

export interface Invitation {
  /** Says nothing of the link: lists show it. */
  readonly id: string;
  /** SHA-256 of the link's token. */
  readonly digest: string;
  readonly email: string;
  readonly name: string;
  readonly roles: readonly Role[];
  readonly groups: readonly string[];
  readonly createdAtMs: number;
  readonly endsAtMs: number;
  readonly invitedBy: string;
}

/** A link by which a person sets a new password. */
export interface ResetLink {
  readonly id: string;
  /** SHA-256 of the link's token. */
  readonly digest: string;
  readonly personId: string;
  readonly removesFactors: boolean;
  /** Of the password that it replaces: with another one it is over. */
  readonly passwordDigest: string;
  /** The admin; null where it was made on the machine. */
  readonly madeBy: string | null;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

export interface RecoveryCodes {
  /** The person's. */
  readonly id: string;
  /** Keyed, of those that were not used yet. */
  readonly digests: readonly string[];
  readonly createdAtMs: number;
}

/** Which person a subject of the provider is. */
export interface LinkedIdentity {
  /** SHA-256 of issuer and subject. */
  readonly id: string;
  readonly personId: string;
  readonly createdAtMs: number;
}

/** What the provider has said of a session by single sign-on. */
export interface SignOn {
  /** The session's. */
  readonly id: string;
  readonly personId: string;
  /** The provider's name of the person. */
  readonly subject: string;
  /** Null where the provider gives none: the session cannot be asked about again. */
  readonly sealedRefreshToken: string | null;
  /** When the provider last said yes. */
  readonly checkedAtMs: number;
  /** When a process last set out to ask. */
  readonly claimedAtMs: number;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

/** What the provider has said of a person by SCIM. */
export interface ProvisionedPerson {
  readonly id: string;
  /** Null until they have been let in for the first time. */
  readonly personId: string | null;
  /** Unique, upper and lower case taken as equal. */
  readonly userName: string;
  readonly externalId: string | null;
  readonly displayName: string | null;
  readonly formattedName: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly email: string | null;
  readonly isActive: boolean;
  /** What is deleted stays, so that a person who comes back is the same as before. */
  readonly isDeleted: boolean;
  /** What the provider's last word came to: it changes a status here only when it comes to something else. */
  readonly isLetIn: boolean;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

/** A group of the provider, as it came by SCIM. */
export interface ProvisionedGroup {
  readonly id: string;
  /** Unique, upper and lower case taken as equal; `sso.roles` names it. */
  readonly displayName: string;
  readonly externalId: string | null;
  /** Of provisioned people. */
  readonly memberIds: readonly string[];
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

export interface Application {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly reason: string;
  readonly createdAtMs: number;
  /** The operator answers within this time. */
  readonly dueAtMs: number;
  readonly status: 'open' | 'granted' | 'declined';
  readonly decidedAtMs: number | null;
  readonly decidedBy: string | null;
  /** Why it was declined. */
  readonly answer: string | null;
}

/** Who acts: a person by a session or a token, with the roles that count. */
export interface Actor {
  readonly person: Person;
  readonly roles: readonly Role[];
  /** True for a personal token. */
  readonly isToken?: boolean;
}

/** Changes with the password, and says nothing of it. */
export function passwordDigestOf({ passwordHash }: Pick<Person, 'passwordHash'>): string {
  return digestOf(passwordHash ?? '');
}

/** How records name a person: the id stays, the address tells people who it was. */
export function recordName({ id, email }: Pick<Person, 'id' | 'email'>): string {
  return `${email} (${id})`;
}

/** What records and replies show of a person. */
export function shownPerson({ id, email, name, roles, groups, status, totp }: Person) {
  return { id, email, name, roles: [...roles], groups: [...groups], status, has_totp: totp !== null };
}
