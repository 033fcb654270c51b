// People as clients of a running service: with a cookie and its CSRF token, as a browser would, or with a
// personal token.

import {
  acceptInvitation,
  createSetUpLink,
  invite,
  setUpFirstAdmin,
} from '../../../src/service/people/access.ts';
import { createAttempts } from '../../../src/service/people/attempts.ts';
import { confirmTotp } from '../../../src/service/people/codes.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { dismissNotice } from '../../../src/service/people/notices.ts';
import type { Role } from '../../../src/service/people/operations.ts';
import type { Person } from '../../../src/service/people/person.ts';
import type { SignInDeps } from '../../../src/service/people/sign-in.ts';
import { createToken } from '../../../src/service/people/tokens.ts';
import { totpAt } from '../../../src/service/people/totp.ts';
import type { Service } from './service.ts';

export const password = 'correct horse battery';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body of the reply: undefined when there is none, text when it is no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into what it got
  readonly body: any;
}

export interface Sending {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function send(
  { url }: Pick<Service, 'url'>,
  path: string,
  { method = 'GET', body, headers = {} }: Sending = {},
): Promise<Answer> {
  const reply = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  return {
    status: reply.status,
    headers: reply.headers,
    body: text === '' ? undefined : isJson(reply) ? JSON.parse(text) : text,
  };
}

function isJson({ headers }: Response): boolean {
  return /^application\/(problem\+)?json\b/.test(headers.get('content-type') ?? '');
}

export interface Client {
  /** The headers that authenticate the person. */
  readonly headers: Readonly<Record<string, string>>;
  send(path: string, sending?: Sending): Promise<Answer>;
}

export function client(service: Pick<Service, 'url'>, headers: Readonly<Record<string, string>>): Client {
  return {
    headers,
    send: (path, sending = {}) =>
      send(service, path, { ...sending, headers: { ...headers, ...sending.headers } }),
  };
}

/** Signs in as a browser would; returns a client with the session. */
export async function signedIn(service: Pick<Service, 'url'>, email: string, code?: string): Promise<Client> {
  const body = { email, password, ...(code === undefined ? {} : { code }) };
  const answer = await send(service, '/v1/session', { method: 'POST', body });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return client(service, { cookie: cookieOf(answer), 'x-csrf-token': answer.body.csrf_token });
}

export function cookieOf({ headers }: Answer): string {
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** The first admin of the service. */
export async function firstAdmin({ store }: Pick<Service, 'store'>): Promise<Person> {
  const directory = createDirectory(store.documents, Date.now);
  const secret = (await createSetUpLink(directory, { who: 'tests', when: 'replace' })) ?? '';
  const admin = { secret, email: 'ann@example.com', name: 'Ann', password };
  const result = await setUpFirstAdmin(directory, admin);
  if (result.kind !== 'joined') throw new Error(result.kind);
  return result.person;
}

/** A person with these roles and a token for them, made without HTTP. */
export async function personWith(
  service: Pick<Service, 'url' | 'store'>,
  admin: Person,
  { email, roles, groups = [] }: { email: string; roles: readonly Role[]; groups?: readonly string[] },
): Promise<Client & { readonly person: Person }> {
  const directory = createDirectory(service.store.documents, Date.now);
  const actor = { person: admin, roles: admin.roles };
  const invited = await invite(directory, actor, { email, name: email, roles, groups });
  if (invited.kind !== 'invited') throw new Error(JSON.stringify(invited));
  const joined = await acceptInvitation(directory, { secret: invited.secret, password });
  if (joined.kind !== 'joined') throw new Error(JSON.stringify(joined));
  return { person: joined.person, ...(await tokenClient(service, joined.person)) };
}

export async function tokenClient(
  service: Pick<Service, 'url' | 'store'>,
  person: Person,
  days = 1,
): Promise<Client> {
  const directory = createDirectory(service.store.documents, Date.now);
  const draft = { name: 'test', roles: person.roles, days };
  const made = await createToken(directory, { person, roles: person.roles }, draft);
  if (made.kind !== 'made') throw new Error(JSON.stringify(made));
  // The notice about the token comes from the test itself, so it is dismissed.
  await dismissNotice(directory, person, made.notice.id);
  return client(service, { authorization: `Bearer ${made.text}` });
}

/** What the sign-in functions need, without HTTP. */
export function signInDeps(
  { store, url }: Pick<Service, 'store' | 'url'>,
  clock: () => number = Date.now,
): SignInDeps {
  return {
    directory: createDirectory(store.documents, clock),
    attempts: createAttempts(),
    masterKey: store.masterKey,
    origin: url,
    newFactorMs: 60 * 60_000,
    isSsoOnly: false,
    notify: () => undefined,
  };
}

/** Sets up one-time codes with this secret for a person. */
export async function setUpCodes(
  service: Pick<Service, 'store' | 'url'>,
  person: Person,
  { secret, clock = Date.now }: { readonly secret: string; readonly clock?: () => number },
): Promise<void> {
  const sent = { secret, code: totpAt(secret, clock()) };
  const result = await confirmTotp(signInDeps(service, clock), person, sent);
  if (result.kind !== 'set-up') throw new Error(result.kind);
}
