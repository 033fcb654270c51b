// Personal tokens for people's own programs: `writp_` and an id, a secret and a checksum, shown once.
// INVARIANT: a token can do no more than its person can at that moment, and no more than it was made for.

import { nameProblem } from '../../language/value/visible-text.ts';
import { createApiKey, isSameDigest, parseApiKey } from '../agents/keys.ts';
import type { FieldProblem, InvalidInput } from './access.ts';
import type { Directory } from './directory.ts';
import { type Notice, newNotice } from './notices.ts';
import { roles as allRoles, type Role } from './operations.ts';
import { type Actor, type PersonalToken, passwordDigestOf, recordName } from './person.ts';

const tokenPrefix = 'writp_';

const dayMs = 24 * 60 * 60 * 1000;
export const tokenDaysMax = 366;
const tokensMax = 50;
const nameLengthMax = 100;
/** SHA-256 in base64url. */
const thumbprintForm = /^[\w-]{43}$/;

export interface TokenDraft {
  readonly name: string;
  readonly roles: readonly Role[];
  /** How many days the token is valid. */
  readonly days: number;
  /** The thumbprint (RFC 7638) of the key to which the token is bound; absent to bind it to none. */
  readonly jkt?: string | undefined;
}

export type NewToken = {
  readonly kind: 'made';
  readonly token: PersonalToken;
  readonly text: string;
  readonly notice: Notice;
};

/**
 * Makes a token. The caller has checked that the person has just proved who they are in a session: no token
 * makes another.
 */
export async function createToken(
  directory: Directory,
  actor: Actor,
  draft: TokenDraft,
): Promise<NewToken | InvalidInput> {
  const problems = await draftProblems(directory, actor, draft);
  if (problems.length > 0) return { kind: 'invalid', problems };
  const { id, text, digest } = createApiKey(tokenPrefix);
  const createdAtMs = Math.trunc(directory.clock());
  const token: PersonalToken = {
    id,
    digest,
    personId: actor.person.id,
    name: draft.name,
    roles: [...draft.roles],
    createdAtMs,
    endsAtMs: createdAtMs + draft.days * dayMs,
    passwordDigest: passwordDigestOf(actor.person),
    ...(draft.jkt === undefined ? {} : { jkt: draft.jkt }),
  };
  const notice = newNotice(directory, actor.person, { what: 'token-made', name: token.name });
  await directory.change([directory.tokens.put(token, 0), directory.notices.put(notice, 0)], {
    who: recordName(actor.person),
    what: 'token-made',
    subject: id,
    before: null,
    after: {
      name: token.name,
      roles: [...token.roles],
      ends_at_ms: token.endsAtMs,
      ...(token.jkt === undefined ? {} : { dpop_jkt: token.jkt }),
    },
  });
  return { kind: 'made', token, text, notice };
}

async function draftProblems(
  { tokens }: Directory,
  { person, roles }: Actor,
  { name, roles: requestedRoles, days, jkt }: TokenDraft,
): Promise<readonly FieldProblem[]> {
  const present = await tokens.list({ parent: person.id, countMax: tokensMax });
  const ofName = nameProblem(name, nameLengthMax);
  const beyond = requestedRoles.filter((role) => !roles.includes(role));
  return [
    ...(ofName === null ? [] : [{ field: 'name', detail: `the name ${ofName}` }]),
    ...(requestedRoles.length === 0 ? [{ field: 'roles', detail: 'name at least one role' }] : []),
    ...beyond.map((role) => ({ field: 'roles', detail: `you do not have the role \`${role}\`` })),
    ...(Number.isInteger(days) && days >= 1 && days <= tokenDaysMax
      ? []
      : [{ field: 'days', detail: `write a whole number from 1 to ${tokenDaysMax}` }]),
    ...(jkt === undefined || thumbprintForm.test(jkt)
      ? []
      : [{ field: 'dpop_jkt', detail: 'a thumbprint has 43 letters, digits, `-` or `_`' }]),
    ...(present.length < tokensMax
      ? []
      : [{ field: 'name', detail: `remove one of your ${tokensMax} tokens first` }]),
  ];
}

export type TokenCheck =
  /** The person of the token, with the roles that both have. */
  | {
      readonly kind: 'good';
      readonly actor: Actor;
      /** The thumbprint of the key that the sender has to prove; null for a token that proves itself. */
      readonly jkt: string | null;
    }
  /**
   * `unknown` says that the token does not exist. All else is said only to whoever has the whole token:
   * `ended` by its time, `person-inactive`, `password-changed` since it was made, or `earlier-version` when it
   * was made by a version of Writ that did not keep with which password.
   */
  | {
      readonly kind: 'unknown' | 'ended' | 'person-inactive' | 'password-changed' | 'earlier-version';
    };

export async function checkToken(directory: Directory, text: string): Promise<TokenCheck> {
  const parsed = parseApiKey(text, tokenPrefix);
  if (parsed === null) return { kind: 'unknown' };
  const token = (await directory.tokens.find(parsed.id))?.value;
  if (token === undefined || !isSameDigest(token.digest, parsed.digest)) return { kind: 'unknown' };
  if (!(directory.clock() < token.endsAtMs)) return { kind: 'ended' };
  const person = (await directory.people.find(token.personId))?.value;
  if (person === undefined || person.status !== 'active') return { kind: 'person-inactive' };
  const { passwordDigest }: Partial<PersonalToken> = token;
  if (passwordDigest === undefined) return { kind: 'earlier-version' };
  if (passwordDigest !== passwordDigestOf(person)) return { kind: 'password-changed' };
  const roles = allRoles.filter((role) => token.roles.includes(role) && person.roles.includes(role));
  return { kind: 'good', actor: { person, roles, isToken: true }, jkt: token.jkt ?? null };
}

/** Returns the person of a token, with the roles that both have; null when the token lets nobody in. */
export async function whoseToken(directory: Directory, text: string): Promise<Actor | null> {
  const checked = await checkToken(directory, text);
  return checked.kind === 'good' ? checked.actor : null;
}

/** Removes one of the person's own tokens. */
export async function removeToken(
  directory: Directory,
  { person }: Actor,
  id: string,
): Promise<'removed' | 'unknown'> {
  const storedPersonalToken = await directory.tokens.find(id);
  if (storedPersonalToken === null || storedPersonalToken.value.personId !== person.id) return 'unknown';
  const result = await directory.change(
    [directory.tokens.remove(storedPersonalToken.value, storedPersonalToken.version)],
    {
      who: recordName(person),
      what: 'token-removed',
      subject: id,
      before: { name: storedPersonalToken.value.name },
      after: null,
    },
  );
  return result === 'changed' ? 'removed' : 'unknown';
}
