// A request's cookie or token into the person who sent it. INVARIANT: a change that comes by cookie carries the token
// that only the service's own pages can read; a request that carries both a cookie and a token counts by the token.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor, Session } from '../people/person.ts';
import { isCsrfToken, lookAtSession, type SignInDeps, whoseSession } from '../people/sign-in.ts';
import { tokenPrefix, whoseToken } from '../people/tokens.ts';
import { ProblemError } from './problem.ts';

export interface PersonIdentity {
  readonly actor: Actor;
  /** Null for a personal token. */
  readonly session: Session | null;
}

const sessionCookie = 'writ_session';

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

/** Whoever sent a request that was let in, as they are now; null where they would not be let in any more. No use of theirs. */
export async function stillIn(deps: SignInDeps, request: FastifyRequest): Promise<Actor | null> {
  const bearer = bearerToken(request);
  if (bearer !== null) return await whoseToken(deps.directory, bearer);
  const secret = cookieOf(request);
  return secret === null ? null : await lookAtSession(deps, secret);
}

/** The cookie that carries a session. It never reaches a script, nor another site's request. */
export function setSessionCookie(reply: FastifyReply, secret: string, isSecure: boolean): void {
  reply.header('set-cookie', cookieText(secret, isSecure));
}

export function clearSessionCookie(reply: FastifyReply, isSecure: boolean): void {
  reply.header('set-cookie', `${cookieText('', isSecure)}; Max-Age=0`);
}

function cookieText(value: string, isSecure: boolean): string {
  return `${sessionCookie}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}

/** The cookie's value; null where there is none, or more than one, of which any could be another site's. */
export function cookieOf({ headers }: FastifyRequest): string | null {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part.startsWith(`${sessionCookie}=`))
    .map((part) => part.slice(sessionCookie.length + 1));
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
