// A person and what belongs to a person, as stored. INVARIANT: nothing here holds a password, a code's secret
// or a token in clear: they are hashed, or encrypted with the service's master key.

import { randomUUID } from 'node:crypto';
import type { ChatAccount } from '../store/contract/chat-account.ts';
import type { DocumentVersion } from '../store/contract/grant-precondition.ts';
import type { Role } from './operations.ts';
import { digestOf } from './secrets.ts';

export interface Person {
  readonly id: string;
  /** Unique; upper and lower case count as equal. */
  readonly email: string;
  readonly name: string;
  readonly roles: readonly Role[];
  /** Approval groups that the person belongs to. */
  readonly groups: readonly string[];
  readonly status: 'active' | 'disabled';
  /** The hash in the PHC text form; null when the person has no password. */
  readonly passwordHash: string | null;
  readonly totp: Totp | null;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

interface NewPersonData {
  readonly email: string;
  /** Null when the provider gives no name that can be shown to people. */
  readonly name: string | null;
  readonly given: Pick<Person, 'roles' | 'groups'>;
  readonly nowMs: number;
}

/** Makes a person whom an identity provider has named, and who signs in there. */
export function createPersonFromProvider({
  email,
  name,
  given: { roles, groups },
  nowMs,
}: NewPersonData): Person {
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
  /** The time step of the last accepted code; earlier steps are refused. */
  readonly lastStep: number;
  readonly setUpAtMs: number;
}

export interface Passkey {
  /** The credential's id, in base64url. */
  readonly id: string;
  readonly personId: string;
  readonly name: string;
  /** The COSE key, in base64url. */
  readonly publicKey: string;
  /** How often the passkey was used, as its device counts; 0 for devices that do not count. */
  readonly counter: number;
  readonly createdAtMs: number;
}

/** The ways in which a person can sign in. */
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
  /** When the session ends, however much it is used. */
  readonly endsAtMs: number;
  readonly address: string;
  readonly way: SignInWay;
  /** Digest of the password when the session was made; once the password changes, the session is over. */
  readonly passwordDigest: string;
}

export interface PersonalToken {
  /** The eight characters after `writp_`. */
  readonly id: string;
  readonly personId: string;
  readonly name: string;
  /** SHA-256 of the whole token. */
  readonly digest: string;
  /** At most the person's own roles. */
  readonly roles: readonly Role[];
  readonly createdAtMs: number;
  readonly endsAtMs: number;
  /** Digest of the password when the token was made; once the password changes, the token is over. */
  readonly passwordDigest: string;
  /** The thumbprint of the key that its sender has to prove (RFC 9449); absent for a token that proves itself. */
  readonly jkt?: string;
}

export interface Invitation {
  /** Does not reveal the link, so lists may show it. */
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
  /** Digest of the password that the link replaces; once that password changes, the link is over. */
  readonly passwordDigest: string;
  /** The id of the admin who made the link; null when it was made on the machine. */
  readonly madeBy: string | null;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

export interface RecoveryCodes {
  /** The person's id. */
  readonly id: string;
  /** Keyed digests of the codes that have not been used yet. */
  readonly digests: readonly string[];
  readonly createdAtMs: number;
}

/** Links a subject of the provider to a person. */
export interface LinkedIdentity {
  /** SHA-256 of issuer and subject. */
  readonly id: string;
  readonly personId: string;
  readonly createdAtMs: number;
}

/** The provider's latest answer about a session by single sign-on. */
export interface SignOn {
  /** The session's id. */
  readonly id: string;
  readonly personId: string;
  /** The provider's identifier for the person. */
  readonly subject: string;
  /**
   * Null when the provider gives no refresh token; the provider then cannot be asked about the session again.
   */
  readonly sealedRefreshToken: string | null;
  /** When the provider last confirmed the session. */
  readonly checkedAtMs: number;
  /** When a process last claimed the session to ask the provider. */
  readonly claimedAtMs: number;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

/** A person's data from the provider, by SCIM. */
export interface ProvisionedPerson {
  readonly id: string;
  /** Null until the person has had access for the first time. */
  readonly personId: string | null;
  /** Unique; upper and lower case count as equal. */
  readonly userName: string;
  readonly externalId: string | null;
  readonly displayName: string | null;
  readonly formattedName: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
  readonly email: string | null;
  readonly isActive: boolean;
  /** Deleted entries are kept, so that a person who comes back is the same as before. */
  readonly isDeleted: boolean;
  /**
   * Whether the provider's latest data give the person access; the person's status here changes only when
   * this changes.
   */
  readonly hasAccess: boolean;
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

/** A group of the provider, from SCIM. */
export interface ProvisionedGroup {
  readonly id: string;
  /** Unique; upper and lower case count as equal. `sso.roles` names groups by this. */
  readonly displayName: string;
  readonly externalId: string | null;
  /** Ids of provisioned people. */
  readonly memberIds: readonly string[];
  readonly createdAtMs: number;
  readonly changedAtMs: number;
}

/** Links a chat account to a person. */
export interface ChatLink {
  /** Derived from the account, of which there is at most one link. */
  readonly id: string;
  readonly personId: string;
  readonly account: ChatAccount;
  /** The name of the account in the chat when it was linked. */
  readonly name: string;
  readonly createdAtMs: number;
}

/** A code by which a person links a chat account. */
export interface ChatLinkDraft {
  readonly id: string;
  /** SHA-256 of the code. */
  readonly digest: string;
  readonly personId: string;
  /** The account that has entered the code; null while none has. */
  readonly claim: { readonly account: ChatAccount; readonly name: string } | null;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

/** Somebody who may vote in a person's place for one group until a date. */
export interface StandIn {
  readonly id: string;
  /** The person who has named the stand-in. */
  readonly personId: string;
  readonly standInId: string;
  readonly group: string;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
  /** The admin who has confirmed it, and when; null before that. */
  readonly confirmed: { readonly who: string; readonly atMs: number } | null;
}

/** A person for whom somebody may vote now, for one group, and the documents on which that rests. */
export interface AbsentPerson {
  readonly group: string;
  readonly person: Pick<Person, 'id' | 'email' | 'name'>;
  readonly documents: readonly DocumentVersion[];
}

export interface Application {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly reason: string;
  readonly createdAtMs: number;
  /** The time by which an operator answers. */
  readonly dueAtMs: number;
  readonly status: 'open' | 'granted' | 'declined';
  readonly decidedAtMs: number | null;
  readonly decidedBy: string | null;
  /** Why the application was declined; null otherwise. */
  readonly answer: string | null;
}

/** The person who acts, by a session or a token, with the roles that apply. */
export interface Actor {
  readonly person: Person;
  readonly roles: readonly Role[];
  /** True for a personal token. */
  readonly isToken?: boolean;
  /** For whom the person may vote now besides themselves; absent where no request is decided. */
  readonly standsInFor?: readonly AbsentPerson[];
}

/** Returns a digest that changes with the password and does not reveal it. */
export function passwordDigestOf({ passwordHash }: Pick<Person, 'passwordHash'>): string {
  return digestOf(passwordHash ?? '');
}

/** Returns how records name a person: the id stays the same, and the address tells people who it was. */
export function recordName({ id, email }: Pick<Person, 'id' | 'email'>): string {
  return `${email} (${id})`;
}

/** Returns what records and replies show of a person. */
export function personSummary({ id, email, name, roles, groups, status, totp }: Person) {
  return { id, email, name, roles: [...roles], groups: [...groups], status, has_totp: totp !== null };
}
