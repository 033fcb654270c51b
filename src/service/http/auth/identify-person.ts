// Turns a request's cookie or token into the person who sent it. INVARIANT: a change that is sent with a
// cookie carries the token that only the service's own pages can read; when a request carries both a cookie
// and a personal token, the personal token counts; a token that is bound to a key counts with a proof only.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor, Session } from '../../people/person.ts';
import { isCsrfToken, lookAtSession, whoseSession } from '../../people/sessions.ts';
import type { SignInDeps } from '../../people/sign-in.ts';
import { checkToken, type TokenCheck, whoseToken } from '../../people/tokens.ts';
import type { ProofChecker } from '../../workloads/proof.ts';
import { ProblemError } from '../contract/problem.ts';
import { requireProofOf } from './identify-workload.ts';
import { withAbsentPeople } from './request-rights.ts';
import type { SentToken } from './sent-token.ts';

export interface PersonIdentity {
  readonly actor: Actor;
  /** The person's session; null when a personal token was sent. */
  readonly session: Session | null;
}

const sessionCookie = 'writ_session';
const deviceCookie = 'writ_device';
const ssoCookie = 'writ_sso';
const ssoSeconds = 600;
/** The longest that browsers keep a cookie, in seconds. */
const deviceSeconds = 400 * 24 * 60 * 60;

const makeAnother = 'create a new token on your account page of the dashboard';
const tokenRefusals: Readonly<Record<Exclude<TokenCheck['kind'], 'good'>, string>> = {
  unknown: `the token is invalid or was removed: ${makeAnother}`,
  ended: `the token has expired: ${makeAnother}`,
  'person-inactive': 'the owner of the token no longer has access: ask an admin',
  'password-changed': `its owner has changed their password since the token was created: ${makeAnother}`,
  'earlier-version': `the token is from an earlier version of Writ that did not bind tokens to passwords: ${makeAnother}`,
};

/**
 * The person who sent the request. Throws a ProblemError when the sender is unknown, or when the request may
 * come from another site.
 */
export async function identifyPerson(
  deps: SignInDeps,
  proofs: ProofChecker,
  request: FastifyRequest,
): Promise<PersonIdentity> {
  const sent = personalToken(request);
  if (sent !== null) {
    const checked = await checkToken(deps.directory, sent.text);
    if (checked.kind !== 'good') throw notSignedIn(tokenRefusals[checked.kind]);
    const { actor, jkt } = checked;
    const isProved = sent.scheme === 'dpop';
    if (isProved !== (jkt !== null)) throw notSignedIn(isProved ? isNotBound : isBound);
    if (jkt !== null) await requireProofOf(proofs, { credential: sent.text, jkt }, request);
    return { actor: await withAbsentPeople(deps.directory, actor), session: null };
  }
  const secret = cookieOf(request);
  if (secret === null) throw notSignedIn('sign in, or send a personal token');
  const identified = await whoseSession(deps, secret);
  if (identified === null) throw notSignedIn('the session has ended: sign in again');
  if (isChange(request)) checkCsrf(deps, identified.session, request);
  const { session, ...actor } = identified;
  return { actor: await withAbsentPeople(deps.directory, actor), session };
}

/**
 * The sender of a request that was let in before, as they are now; null when they would no longer be let in.
 * The check does not count as a use of the session.
 */
export async function currentActor(deps: SignInDeps, request: FastifyRequest): Promise<Actor | null> {
  const sent = personalToken(request);
  if (sent !== null) return await whoseToken(deps.directory, sent.text);
  const secret = cookieOf(request);
  return secret === null ? null : await lookAtSession(deps, secret);
}

/**
 * Sets the cookies of a person who has signed in: one for the session, and one by which the browser is known
 * again.
 */
export function setSessionCookies(
  reply: FastifyReply,
  { secret, device }: { readonly secret: string; readonly device: string },
  isSecure: boolean,
): void {
  reply.header('set-cookie', [
    cookieText(sessionCookie, secret, isSecure),
    `${cookieText(deviceCookie, device, isSecure)}; Max-Age=${deviceSeconds}`,
  ]);
}

/** Removes the session's cookie. The device's cookie stays, because it lets nobody in. */
export function clearSessionCookie(reply: FastifyReply, isSecure: boolean): void {
  reply.header('set-cookie', `${cookieText(sessionCookie, '', isSecure)}; Max-Age=0`);
}

/** The text of a cookie that no script can read and that no request from another site carries. */
function cookieText(name: string, value: string, isSecure: boolean): string {
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}

/**
 * Sets the cookie that the browser keeps while it is at the provider. The browser returns from the provider,
 * so the cookie must also be sent with a link from another site.
 */
export function setSsoCookie(reply: FastifyReply, value: string, isSecure: boolean): void {
  reply.header('set-cookie', ssoCookieText(value, isSecure, ssoSeconds));
}

export function clearSsoCookie(reply: FastifyReply, isSecure: boolean): void {
  reply.header('set-cookie', ssoCookieText('', isSecure, 0));
}

function ssoCookieText(value: string, isSecure: boolean, seconds: number): string {
  const secure = isSecure ? '; Secure' : '';
  return `${ssoCookie}=${value}; Path=/sso; HttpOnly; SameSite=Lax${secure}; Max-Age=${seconds}`;
}

/**
 * What the browser has kept since it was sent to the provider of single sign-on; null when it has kept
 * nothing.
 */
export function ssoCookieOf(request: FastifyRequest): string | null {
  return cookieNamed(request, ssoCookie);
}

/** The value of the session's cookie; null when none was sent. */
export function cookieOf(request: FastifyRequest): string | null {
  return cookieNamed(request, sessionCookie);
}

/** What the browser has kept of an earlier sign-in; null when it has kept nothing. */
export function deviceOf(request: FastifyRequest): string | null {
  return cookieNamed(request, deviceCookie);
}

/**
 * The cookie's value; null when it is absent, or sent more than once, as each value could then be another
 * site's.
 */
function cookieNamed({ headers }: FastifyRequest, name: string): string | null {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  return values.length === 1 && values[0] !== '' ? (values[0] ?? null) : null;
}

const isBound = 'the token is bound to a key: send it as `Authorization: DPoP` with a proof';
const isNotBound = 'the token is not bound to a key: send it as `Authorization: Bearer`';

function personalToken({ headers }: FastifyRequest): SentToken | null {
  const [, scheme, text] = /^(bearer|dpop) +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
  if (scheme === undefined || text === undefined) return null;
  return { scheme: scheme.toLowerCase() === 'dpop' ? 'dpop' : 'bearer', text };
}

function isChange({ method }: FastifyRequest): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

function checkCsrf(deps: SignInDeps, session: Session, { headers }: FastifyRequest): void {
  const token = headers['x-csrf-token'];
  if (typeof token === 'string' && isCsrfToken(deps, session, token)) return;
  throw new ProblemError('cross_site_request', 'send the `csrf_token` of your session as `X-CSRF-Token`');
}

function notSignedIn(detail: string): ProblemError {
  return new ProblemError('not_signed_in', detail, { headers: { 'www-authenticate': 'Bearer' } });
}
