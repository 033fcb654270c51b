// Fills a store through the HTTP API of a service, as agents and people do in some hours, and says what they
// know of it. INVARIANT: only the API and the start of the service are used, so that the code of any version
// can fill a store with this file.

import { createHmac, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { serve } from '../../../src/service/http/main.ts';
import { totpAt } from '../../../src/service/people/totp.ts';
import { setClockAhead } from './clock.ts';

/** What agents and people know of a store, so that they can go on with it. */
export interface KnownFacts {
  /** The time when the service was stopped, in milliseconds since 1970-01-01T00:00Z. */
  readonly stoppedAtMs: number;
  readonly agent: {
    readonly apiKey: string;
    readonly requestIds: Readonly<Record<RequestName, string>>;
    /** What the API said of each request at the end. */
    readonly requests: Readonly<Record<RequestName, unknown>>;
  };
  /** An agent that signs, and a request of its that was granted. */
  readonly signer: {
    readonly apiKey: string;
    readonly secret: string;
    readonly body: string;
    readonly signature: string;
  };
  /** A key that ended, one that was replaced and has not ended yet, and that of a disabled agent. */
  readonly otherKeys: Readonly<Record<'ended' | 'replaced' | 'disabled', string>>;
  readonly password: string;
  /** From which an app makes the one-time codes of the first admin. */
  readonly totpSecret: string;
  /** Recovery codes that have not been used. */
  readonly recoveryCodes: readonly string[];
  /** The headers of a session of the first admin. */
  readonly session: Readonly<Record<string, string>>;
  /** The link's end of an invitation that nobody has used yet. */
  readonly invitation: string;
  /** Tokens of an auditor: one that works, and one that has been removed. */
  readonly tokens: Readonly<Record<'working' | 'removed', string>>;
  /** A path of `/v1/overview` and what it answered, and the same for the hits of rules. */
  readonly statistics: readonly { readonly path: string; readonly answer: unknown }[];
}

export type RequestName = 'granted' | 'approved' | 'rejected' | 'withdrawn' | 'denied' | 'voted' | 'waiting';

export const people = {
  ann: 'ann@example.com',
  ben: 'ben@example.com',
  cleo: 'cleo@example.com',
  ada: 'ada@example.com',
  eve: 'eve@example.com',
} as const;

export const policies = join(import.meta.dirname, 'policies');
const minuteMs = 60 * 1000;
const hourMs = 60 * minuteMs;
const countsStoredEveryMs = 15_000;

/** Where a store is: the flags of the service that say so. */
export type StoreFlags = Readonly<Record<string, string>> & { readonly data: string };

export interface ServiceProcess {
  readonly url: string;
  readonly firstKey: string | null;
  readonly setUpUrl: string | null;
  stop(): Promise<void>;
}

export async function startOn(flags: StoreFlags): Promise<ServiceProcess> {
  const { data } = flags;
  const all = { port: 0, policies, 'log.level': 'silent', ...flags };
  return await serve({ directory: data, environment: {}, flags: all, print: () => undefined });
}

// biome-ignore lint/suspicious/noExplicitAny: the reply of an API whose shape is that of the version under test
type Body = any;

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON to send, or its text. */
  readonly body?: object | string;
}

export async function send(
  { url }: Pick<ServiceProcess, 'url'>,
  path: string,
  sending: RequestOptions = {},
): Promise<Reply> {
  const { body, headers = {}, method = body === undefined ? 'GET' : 'POST' } = sending;
  const reply = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await reply.text();
  const isJson = /json/.test(reply.headers.get('content-type') ?? '');
  return { status: reply.status, headers: reply.headers, body: isJson ? JSON.parse(text) : text };
}

/** Sends what must succeed; returns the body of the reply. */
async function get(service: ServiceProcess, path: string, sending?: RequestOptions): Promise<Body> {
  const { status, body } = await send(service, path, sending);
  if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Signs in; returns the headers of the session. */
export async function signIn(
  service: Pick<ServiceProcess, 'url'>,
  credentials: { readonly email: string; readonly password: string; readonly code?: string },
): Promise<Readonly<Record<string, string>>> {
  const { status, headers, body } = await send(service, '/v1/session', { body: credentials });
  if (status !== 200) throw new Error(`sign-in: ${status} ${JSON.stringify(body)}`);
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
  return { cookie, 'x-csrf-token': body.csrf_token };
}

export function ask(service: Pick<ServiceProcess, 'url'>, apiKey: string, amount: number): Promise<Reply> {
  return send(service, '/v1/authorize', {
    headers: { 'x-agent-api-key': apiKey },
    body: { action_key: 'pay.send', payload: { amount } },
  });
}

/** The header that signs a request for a decision. */
function sign(secret: string, nonce: string, body: string): string {
  const time = Math.floor(Date.now() / 1000);
  const text = `v1:${time}:${nonce}:POST:/v1/authorize:${body}`;
  return `t=${time},n=${nonce},v1=${createHmac('sha256', secret).update(text).digest('hex')}`;
}

const password = 'correct horse battery';

/** The store must be empty. The clock of this process and of the store's server is set by `setClock`. */
export async function fillStore(
  flags: StoreFlags,
  setClock: (aheadMs: number) => Promise<void> = async () => undefined,
): Promise<KnownFacts> {
  const setClocks = async (aheadMs: number) => {
    setClockAhead(aheadMs);
    await setClock(aheadMs);
  };
  await setClocks(-3 * hourMs);
  const first = await startOn(flags);
  const team = await makeTeam(first);
  const earlier = await spend(first, team);
  // The service looks twice at what is over before it stores the counts.
  await setClocks(-3 * hourMs + minuteMs * 10);
  await setTimeout(3 * countsStoredEveryMs);
  await first.stop();
  await setClocks(0);
  const second = await startOn(flags);
  // The sessions have ended meanwhile, because nobody has used them.
  const session = await signInAll(second);
  const known = await goOn(second, { ...team, session }, earlier);
  await second.stop();
  return { ...known, stoppedAtMs: Date.now() };
}

type Sessions = Readonly<Record<keyof typeof people, KnownFacts['session']>>;

async function signInAll(service: ServiceProcess): Promise<Sessions> {
  const all: Partial<Record<keyof typeof people, KnownFacts['session']>> = {};
  for (const [name, email] of Object.entries(people) as [keyof typeof people, string][])
    all[name] = await signIn(service, { email, password });
  return all as Sessions;
}

interface Team {
  readonly apiKey: string;
  readonly session: Sessions;
  readonly otherKeys: KnownFacts['otherKeys'];
  readonly signer: { readonly apiKey: string; readonly secret: string };
}

async function makeTeam(service: ServiceProcess): Promise<Team> {
  const token = service.setUpUrl?.split('token=')[1] ?? '';
  await get(service, '/v1/setup', { body: { token, email: people.ann, name: 'Ann', password } });
  const ann = await signIn(service, { email: people.ann, password });
  const join = async (email: string, roles: readonly string[], groups: readonly string[] = []) => {
    const body = { email, name: email.split('@')[0] ?? '', roles, groups };
    const invited = await get(service, '/v1/invitations', { headers: ann, body });
    await get(service, '/v1/invitations/accept', { body: { token: invited.token, password } });
    return await signIn(service, { email, password });
  };
  const ben = await join(people.ben, ['approver'], ['finance']);
  const cleo = await join(people.cleo, ['approver'], ['finance']);
  const ada = await join(people.ada, ['auditor']);
  const eve = await join(people.eve, ['operator']);
  const add = async (name: string) => {
    const body = { name, risk_tier: 'low', control_owner: people.eve, tags: ['kept'] };
    const { agent, api_key: apiKey } = await get(service, '/v1/agents', { headers: eve, body });
    return { id: agent.id as string, apiKey: apiKey as string };
  };
  const rotate = async (id: string, seconds: number) =>
    (await get(service, `/v1/agents/${id}/keys`, { headers: eve, body: { grace_seconds: seconds } })).api_key;
  const signer = await add('signer');
  const signing = await get(service, `/v1/agents/${signer.id}/signing`, {
    headers: eve,
    body: { mode: 'required' },
  });
  const rotated = await add('rotated');
  const replaced = await rotate(rotated.id, 0);
  await rotate(rotated.id, 30 * 24 * 60 * 60);
  const disabled = await add('disabled');
  await get(service, `/v1/agents/${disabled.id}/disable`, { headers: eve, body: {} });
  return {
    apiKey: service.firstKey ?? '',
    session: { ann, ben, cleo, ada, eve },
    otherKeys: { ended: rotated.apiKey, replaced, disabled: disabled.apiKey },
    signer: { apiKey: signer.apiKey, secret: signing.signing_secret },
  };
}

type Earlier = Pick<
  KnownFacts['agent']['requestIds'],
  'granted' | 'approved' | 'rejected' | 'withdrawn' | 'denied'
>;

async function spend(service: ServiceProcess, { apiKey, session, otherKeys }: Team): Promise<Earlier> {
  const id = async (amount: number): Promise<string> => (await ask(service, apiKey, amount)).body.request_id;
  const vote = (request: string, who: 'ben' | 'cleo', word: 'approve' | 'reject') =>
    get(service, `/v1/requests/${request}/${word}`, { headers: session[who], body: { comment: 'kept' } });
  const granted = await id(90);
  for (let more = 0; more < 3; more += 1) await id(90);
  const approved = await id(250);
  await vote(approved, 'ben', 'approve');
  await vote(approved, 'cleo', 'approve');
  const rejected = await id(200);
  await vote(rejected, 'ben', 'reject');
  const withdrawn = await id(100);
  await get(service, `/v1/requests/${withdrawn}/withdraw`, {
    headers: { 'x-agent-api-key': apiKey },
    body: {},
  });
  const denied = await id(5_000);
  await ask(service, otherKeys.disabled, 1);
  return { granted, approved, rejected, withdrawn, denied };
}

/** Signs a request and has it granted: just after a start, the nonces of before may not have been read yet. */
export async function signOnceReady(
  service: Pick<ServiceProcess, 'url'>,
  { apiKey, secret }: Pick<KnownFacts['signer'], 'apiKey' | 'secret'>,
  body: string,
): Promise<string> {
  for (;;) {
    const signature = sign(secret, randomUUID(), body);
    const headers = { 'x-agent-api-key': apiKey, 'x-service-signature': signature };
    const reply = await send(service, '/v1/authorize', { headers, body });
    if (reply.status === 200 && reply.body.decision === 'ALLOW') return signature;
    if (!/cannot be checked yet/.test(reply.body.detail)) throw new Error(JSON.stringify(reply.body));
    await setTimeout(100);
  }
}

async function goOn(
  service: ServiceProcess,
  { apiKey, session, otherKeys, signer }: Team,
  earlier: Earlier,
): Promise<Omit<KnownFacts, 'stoppedAtMs'>> {
  const voted = (await ask(service, apiKey, 250)).body.request_id;
  await get(service, `/v1/requests/${voted}/approve`, { headers: session.ben, body: { comment: 'kept' } });
  const waiting = (await ask(service, apiKey, 120)).body.request_id;
  await get(service, `/v1/requests/${waiting}/review-lock`, { headers: session.cleo, body: {} });
  await get(service, `/v1/requests/${waiting}/comments`, {
    headers: session.cleo,
    body: { kind: 'question', text: 'What is it for?' },
  });
  const requestIds = { ...earlier, voted, waiting };

  const body = JSON.stringify({ action_key: 'pay.send', payload: { amount: 1 } });
  const signature = await signOnceReady(service, signer, body);

  const makeToken = async (name: string) =>
    await get(service, '/v1/tokens', {
      headers: session.ada,
      body: { name, roles: ['auditor'], days: 366, password },
    });
  const [working, removed] = [await makeToken('working'), await makeToken('removed')];
  await get(service, `/v1/tokens/${removed.id}`, { method: 'DELETE', headers: session.ada });

  const { secret: totpSecret } = await get(service, '/v1/session/totp', { headers: session.ann, body: {} });
  const code = totpAt(totpSecret, Date.now());
  const confirmed = await get(service, '/v1/session/totp/confirm', {
    headers: session.ann,
    body: { secret: totpSecret, code, password },
  });
  const invited = await get(service, '/v1/invitations', {
    headers: session.ann,
    body: { email: 'new@example.com', name: 'New', roles: ['auditor'] },
  });

  const asAuditor = { authorization: `Bearer ${working.token}` };
  const [fromMs, untilMs] = [-4 * hourMs, -2 * hourMs].map((ms) => Date.now() + ms);
  const range = `from=${new Date(fromMs ?? 0).toISOString()}&to=${new Date(untilMs ?? 0).toISOString()}`;
  const statistics = [];
  for (const path of [`/v1/overview?${range}`, '/v1/policies/hits'])
    statistics.push({ path, answer: await get(service, path, { headers: asAuditor }) });
  const requests: Record<string, unknown> = {};
  for (const [name, id] of Object.entries(requestIds))
    requests[name] = await get(service, `/v1/requests/${id}`, { headers: asAuditor });
  return {
    agent: { apiKey, requestIds, requests: requests as KnownFacts['agent']['requests'] },
    signer: { ...signer, body, signature },
    otherKeys,
    password,
    totpSecret,
    recoveryCodes: confirmed.recovery_codes,
    session: session.ann,
    invitation: invited.token,
    tokens: { working: working.token, removed: removed.token },
    statistics,
  };
}
