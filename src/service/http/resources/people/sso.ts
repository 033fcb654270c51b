// Single sign-on: a browser goes to the provider and comes back with a session, or with a word for why there
// is none. INVARIANT: what a browser brings back counts once, and only in the browser that was sent; nobody
// is sent on to an address of another service.

import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { deriveKey, seal, unseal } from '../../../agents/sealing.ts';
import { reserveUnguessable } from '../../../people/sign-in-limits.ts';
import type { Provider, SsoSettings, Ticket } from '../../../people/sso/provider.ts';
import { enter, type SignOnRefusal } from '../../../people/sso/sign-on.ts';
import { clearSsoCookie, setSsoCookie, ssoCookieOf } from '../../auth/identify-person.ts';
import { type SignedInDeps, startedInBrowser } from './signed-in.ts';

export interface SsoPageDeps extends SignedInDeps {
  /** The provider of single sign-on; null when none is configured. */
  readonly sso: { readonly settings: SsoSettings; readonly provider: Provider } | null;
  /** The address at which people reach the service, without a path. */
  readonly origin: string;
  readonly log: Pick<FastifyBaseLogger, 'warn'>;
}

/** How long a browser may be away at the provider; what its cookie keeps is not valid for longer. */
const awayMs = 10 * 60_000;

interface PendingSignOn extends Ticket {
  readonly next: string;
  readonly endsAtMs: number;
}

/** Why single sign-on gave no session; the sign-in page has a sentence for each reason. */
export type SsoProblem = SignOnRefusal | 'off' | 'provider-away' | 'refused' | 'too-many-attempts';

export async function ssoPages(app: FastifyInstance, deps: SsoPageDeps): Promise<void> {
  const config = { isDocumented: false };
  app.get('/sso/start', { config }, (request, reply) => start(deps, request, reply));
  app.get('/sso/callback', { config }, (request, reply) => comeBack(deps, request, reply));
}

async function start(deps: SsoPageDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { sso, signInDeps, isSecure } = deps;
  reply.header('cache-control', 'no-store');
  if (sso === null) return back(reply, 'off');
  const begun = await sso.provider.begin(redirectUri(deps));
  if (begun === null) return back(reply, 'provider-away');
  const { next } = request.query as { readonly next?: unknown };
  const endsAtMs = signInDeps.directory.clock() + awayMs;
  const away: PendingSignOn = { ...begun.ticket, next: ownPath(next), endsAtMs };
  setSsoCookie(reply, seal(cookieKey(deps), cookieOwner, JSON.stringify(away)), isSecure);
  return reply.redirect(begun.url.href);
}

async function comeBack(
  deps: SsoPageDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { sso, signInDeps, isSecure, log } = deps;
  reply.header('cache-control', 'no-store');
  if (sso === null) return back(reply, 'off');
  const { attempts, directory } = signInDeps;
  const { clientAddress: address } = request;
  const attempt = reserveUnguessable(attempts, { what: 'link', address }, directory.clock());
  if (attempt.kind === 'wait') return back(reply, 'too-many-attempts');
  const away = awayOf(deps, request);
  clearSsoCookie(reply, isSecure);
  if (away === null) return back(reply, 'refused');
  const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : '';
  const answer = await sso.provider.finish(new URL(`${redirectUri(deps)}${query}`), away);
  if (answer.kind !== 'right') {
    log.warn({ reason: answer.reason }, 'a single sign-on attempt was refused');
    return back(reply, answer.kind === 'away' ? 'provider-away' : 'refused');
  }
  attempt.succeeded();
  const { masterKey } = signInDeps;
  const entered = await enter({ directory, masterKey, settings: sso.settings }, answer, address);
  if (entered.kind === 'no-access') {
    log.warn({ reason: entered.why }, 'a person from the identity provider was refused');
    return back(reply, entered.why);
  }
  await startedInBrowser(deps, entered, { request, reply });
  return reply.redirect(away.next);
}

/** Redirects to the sign-in page, which shows the problem. */
function back(reply: FastifyReply, problem: SsoProblem): FastifyReply {
  return reply.redirect(`/?sso=${problem}`);
}

function redirectUri({ origin }: SsoPageDeps): string {
  return `${origin}/sso/callback`;
}

const cookieOwner = 'a browser that is away';

function cookieKey({ signInDeps: { masterKey } }: SsoPageDeps): Uint8Array {
  return deriveKey(masterKey, 'single sign-on');
}

function awayOf(deps: SsoPageDeps, request: FastifyRequest): PendingSignOn | null {
  const text = unseal(cookieKey(deps), cookieOwner, ssoCookieOf(request) ?? '');
  if (text === null) return null;
  const away = JSON.parse(text) as PendingSignOn;
  return deps.signInDeps.directory.clock() < away.endsAtMs ? away : null;
}

/** A path of this service; `/` when `next` is anything else. */
function ownPath(next: unknown): string {
  if (typeof next !== 'string' || next.length > 2_000 || !/^\/(?![/\\])[\x21-\x7e]*$/.test(next)) return '/';
  return next.includes('\\') ? '/' : next;
}
