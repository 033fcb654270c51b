// A request's cookie or token into the person who sent it. INVARIANT: a change that comes by cookie carries the token
// that only the service's own pages can read; a request that carries both a cookie and a token counts by the token.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor, Session } from '../../people/person.ts';
import { isCsrfToken, lookAtSession, whoseSession } from '../../people/sessions.ts';
import type { SignInDeps } from '../../people/sign-in.ts';
import { tokenPrefix, whoseToken } from '../../people/tokens.ts';
import { ProblemError } from '../contract/problem.ts';

export interface PersonIdentity {
  readonly actor: Actor;
  /** Null for a personal token. */
  readonly session: Session | null;
}

const sessionCookie = 'writ_session';
const deviceCookie = 'writ_device';
const ssoCookie = 'writ_sso';
const ssoSeconds = 600;
/** How long browsers keep a cookie at most. */
const deviceSeconds = 400 * 24 * 60 * 60;

/** Who sent this. Throws ProblemError where nobody is known, or the request may come from another site. */
export async function identifyPerson(deps: SignInDeps, request: FastifyRequest): Promise<PersonIdentity> {
  const bearer = bearerToken(request);
  if (bearer !== null) {
    const actor = bearer.startsWith(tokenPrefix) ? await whoseToken(deps.directory, bearer) : null;
    if (actor === null) throw notSignedIn('the token is not valid, or not any more');
    return { actor, session: null };
  }
  const secret = cookieOf(request);
  if (secret === null) throw notSignedIn('sign in, or send a personal token');
  const found = await whoseSession(deps, secret);
  if (found === null) throw notSignedIn('the session has ended: sign in again');
  if (isChange(request)) checkCsrf(deps, found.session, request);
  const { session, ...actor } = found;
  return { actor, session };
}

/** The person who sent a request that was let in, as they are now; null where they would not be let in any more. No use of theirs. */
export async function stillIn(deps: SignInDeps, request: FastifyRequest): Promise<Actor | null> {
  const bearer = bearerToken(request);
  if (bearer !== null) return await whoseToken(deps.directory, bearer);
  const secret = cookieOf(request);
  return secret === null ? null : await lookAtSession(deps, secret);
}

/** The cookies of a person who has signed in: the session, and what the browser keeps to be known again. */
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

/** The device stays known: it lets nobody in. */
export function clearSessionCookie(reply: FastifyReply, isSecure: boolean): void {
  reply.header('set-cookie', `${cookieText(sessionCookie, '', isSecure)}; Max-Age=0`);
}

/** No cookie reaches a script, nor another site's request. */
function cookieText(name: string, value: string, isSecure: boolean): string {
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}

/** What a browser keeps while it is at the provider. It comes back from there, so another site's link must carry it. */
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

/** What the browser has kept since it was sent to the provider; null where there is nothing. */
export function ssoCookieOf(request: FastifyRequest): string | null {
  return cookieNamed(request, ssoCookie);
}

/** The session's cookie; null where there is none. */
export function cookieOf(request: FastifyRequest): string | null {
  return cookieNamed(request, sessionCookie);
}

/** What the browser has kept of an earlier sign-in; null where there is nothing. */
export function deviceOf(request: FastifyRequest): string | null {
  return cookieNamed(request, deviceCookie);
}

/** The cookie's value; null where there is none, or more than one, of which any could be another site's. */
function cookieNamed({ headers }: FastifyRequest, name: string): string | null {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${name}=`))
    .map((part) => part.slice(name.length + 1));
  return values.length === 1 && values[0] !== '' ? (values[0] ?? null) : null;
}

function bearerToken({ headers }: FastifyRequest): string | null {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

function isChange({ method }: FastifyRequest): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

function checkCsrf(deps: SignInDeps, session: Session, { headers }: FastifyRequest): void {
  const token = headers['x-csrf-token'];
  if (typeof token === 'string' && isCsrfToken(deps, session, token)) return;
  throw new ProblemError('cross_site_request', 'send `csrf_token` of your session as `X-CSRF-Token`');
}

function notSignedIn(detail: string): ProblemError {
  return new ProblemError('not_signed_in', detail, { headers: { 'www-authenticate': 'Bearer' } });
}
