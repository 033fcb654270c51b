// The client of the service for programs in TypeScript and JavaScript: it asks before it acts, waits for people, says what
// became of it. It needs `fetch` and nothing else. INVARIANT: a tool runs under `allowed` and under nothing else, and an
// approval serves one run.

import {
  type Allowed,
  type Decision,
  type Denied,
  type PossibleAction,
  type RequestStanding,
  readDecision,
  readPossible,
  readStanding,
  refusal,
  type Waiting,
} from './decision.ts';
import { exchange, type Fetch, type Question, Unreachable, type WholeAnswer } from './exchange.ts';

export type { Allowed, Decision, Denied, PossibleAction, RequestStanding, Waiting };
export { Unreachable };

/** An access or ID token that the service's `users.issuer` has signed, or what yields the present one. */
export type UserToken = string | (() => string | undefined);

export interface Connection {
  /** Where the service is, such as `https://writ.example.com`. */
  readonly url: string;
  /** The agent's key, or that of an enforcement point. Keep it out of what a model reads. */
  readonly key: string;
  /** With the key of an enforcement point: the agent that it asks for, by name or id. */
  readonly agent?: string;
  /** Where the agent signs its requests. */
  readonly signingSecret?: string;
  /** What rules and meters know as the session. */
  readonly session?: string;
  /** How long a decision of people is waited for, in milliseconds; 50 seconds unless said otherwise. */
  readonly wait?: number;
  /** The token of the person for whom the agent asks, or where it is read for each call; nobody unless said otherwise. */
  readonly onBehalfOf?: UserToken | undefined;
  /** Whether grants come with receipts, and for whom; none unless said otherwise. */
  readonly receipts?: boolean | string;
  /** How long one answer may take beyond what is waited for, in milliseconds; 10 seconds unless said otherwise. */
  readonly timeout?: number;
  /** That of the platform unless said otherwise. */
  readonly fetch?: Fetch;
  readonly signal?: AbortSignal;
}

export interface AskOptions {
  /** Stands for this very call: the same key yields the same decision. A new one unless said otherwise. */
  readonly idempotencyKey?: string;
  /** In place of the connection's. */
  readonly wait?: number;
  /** In place of the connection's. */
  readonly onBehalfOf?: UserToken | undefined;
  readonly signal?: AbortSignal;
}

export interface GuardOptions<Args extends readonly unknown[], Payload> extends AskOptions {
  readonly action: string;
  /** What the policies read of a call; its first argument unless said otherwise. */
  readonly payload?: (...args: Args) => Payload;
  /** `hold` waits for people until the deadline, `throw` throws `WaitingError` after `wait`. */
  readonly onWait?: 'hold' | 'throw';
}

export interface GrantOutcome {
  readonly requestId: string;
  readonly isExecuted: boolean;
  /** What the call returned, where its action declares that. */
  readonly result?: object;
}

/** `Actions` are the payloads by action, as `writ types` writes them. */
export interface Writ<Actions extends object = Readonly<Record<string, object>>> {
  authorize<Key extends keyof Actions & string>(
    action: Key,
    payload: Actions[Key] & object,
    options?: AskOptions,
  ): Promise<Decision>;
  /** Decides, runs, and reports that it ran. Throws DeniedError, WaitingError or Unreachable, and then nothing ran. */
  run<Key extends keyof Actions & string, Result>(
    action: Key,
    payload: Actions[Key] & object,
    work: (grant: Allowed) => Result | Promise<Result>,
    options?: AskOptions,
  ): Promise<Result>;
  /** The tool that asks before each call. */
  guard<Args extends readonly unknown[], Result>(
    tool: (...args: Args) => Result | Promise<Result>,
    options: GuardOptions<Args, object>,
  ): (...args: Args) => Promise<Result>;
  /** Gives up a wait. */
  withdraw(requestId: string): Promise<void>;
  /** Says what became of a grant, and what the call returned, for callers that carry it out without `run`. What does not arrive is told to nobody. */
  report(requestId: string, isExecuted: boolean, result?: object): Promise<void>;
  /** The same for up to 100 grants together. */
  reportAll(outcomes: readonly GrantOutcome[]): Promise<void>;
  /**
   * How a request stands, once people have decided or `wait` is over: at once unless said otherwise. An approval is not used
   * by that. Null where the agent has no such request.
   */
  look(requestId: string, options?: Omit<AskOptions, 'idempotencyKey'>): Promise<RequestStanding | null>;
  /** What the agent can get for each action, before it asks. */
  actions(prefix?: string): Promise<readonly PossibleAction[]>;
}

/** The service, or a person, has refused. */
export class DeniedError extends Error {
  readonly decision: Denied;

  constructor(decision: Denied) {
    super(decision.message);
    this.name = 'DeniedError';
    this.decision = decision;
  }
}

/** People have not decided yet: the same call again goes on with the same request. */
export class WaitingError extends Error {
  readonly decision: Waiting;

  constructor(decision: Waiting) {
    super(`waits for ${decision.for} until ${decision.until.toISOString()}: ${decision.url}`);
    this.name = 'WaitingError';
    this.decision = decision;
  }
}

const waitMsDefault = 50_000;
const timeoutMsDefault = 10_000;
/** The service holds an answer no longer than 55 seconds. */
const heldMsMax = 50_000;

/** The service is not asked until something is to be decided. */
export function connect<Actions extends object = Readonly<Record<string, object>>>(
  connection: Connection,
): Writ<Actions> {
  const authorize = (action: string, payload: object, options: AskOptions = {}) =>
    ask(connection, { action, payload, ...options });

  async function run<Result>(
    action: string,
    payload: object,
    work: (grant: Allowed) => Result | Promise<Result>,
    options: AskOptions = {},
  ): Promise<Result> {
    const decision = await authorize(action, payload, options);
    if (decision.kind === 'waiting') throw new WaitingError(decision);
    if (decision.kind !== 'allowed') throw new DeniedError(decision);
    try {
      return await work(decision);
    } finally {
      // Work that failed half-way has used the grant, too.
      await report(connection, { requestId: decision.requestId, isExecuted: true });
    }
  }

  return {
    authorize,
    run,
    guard:
      (tool, { action, payload = firstOf, onWait = 'throw', ...options }) =>
      (...args) =>
        run(action, payload(...args), () => tool(...args), {
          ...options,
          ...(onWait === 'hold' ? { wait: Number.POSITIVE_INFINITY } : {}),
        }),
    async withdraw(requestId) {
      const answer = await exchange(question(connection, 'POST', `${pathOf(requestId)}/withdraw`));
      if (answer.status !== 200) throw new DeniedError(problemOf(answer));
    },
    report: (requestId, isExecuted, result) =>
      report(connection, { requestId, isExecuted, ...(result && { result }) }),
    reportAll: (outcomes) =>
      tell(connection, '/v1/outcomes', {
        outcomes: outcomes.map(({ requestId: request_id, isExecuted: executed, result }) => ({
          request_id,
          executed,
          ...(result && { result }),
        })),
      }),
    look: (requestId, options) => look(connection, requestId, options),
    actions: (prefix = '') => listActions(connection, prefix),
  };
}

function firstOf(...[first]: readonly unknown[]): object {
  return typeof first === 'object' && first !== null ? first : {};
}

interface Asked extends AskOptions {
  readonly action: string;
  readonly payload: object;
}

/** Asks until it is decided or the time is over. Each time it comes back for the request that it has. */
async function ask(connection: Connection, asked: Asked): Promise<Decision> {
  const { wait = connection.wait ?? waitMsDefault, idempotencyKey = crypto.randomUUID() } = asked;
  const endsAt = Date.now() + wait;
  for (;;) {
    const heldMs = Math.max(0, Math.min(endsAt - Date.now(), heldMsMax));
    const decision = await askHeld(connection, { ...asked, idempotencyKey }, heldMs);
    if (decision.kind !== 'waiting' || Date.now() >= endsAt) return decision;
    // A reply that was not held, as the service stops, is no reason to ask without end.
    await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, endsAt - Date.now())));
  }
}

const pollMs = 200;

async function askHeld(connection: Connection, asked: Asked, heldMs: number): Promise<Decision> {
  const { receipts = false } = connection;
  const wants = ['attach', `wait=${Math.ceil(heldMs / 1000)}`];
  if (receipts !== false) wants.push(receipts === true ? 'receipt' : `receipt=${receipts}`);
  const body = JSON.stringify({ action_key: asked.action, payload: asked.payload });
  const answer = await exchange({
    ...question(connection, 'POST', '/v1/authorize', heldMs, asked.signal),
    headers: {
      ...headersOf(connection),
      ...userHeader(asked.onBehalfOf ?? connection.onBehalfOf),
      'idempotency-key': asked.idempotencyKey ?? '',
      prefer: wants.join(', '),
    },
    body,
    sign: signer(connection),
  });
  if (answer.status !== 200) return problemOf(answer);
  return readDecision(answer.body, {
    base: connection.url,
    receipt: answer.headers.get('writ-receipt'),
    change: answer.headers.get('writ-change'),
    isReceiptNeeded: receipts !== false,
  });
}

function question(
  connection: Connection,
  method: Question['method'],
  path: string,
  heldMs = 0,
  signal: AbortSignal | undefined = connection.signal,
): Question {
  return {
    method,
    url: new URL(path, connection.url).href,
    headers: headersOf(connection),
    timeoutMs: heldMs + (connection.timeout ?? timeoutMsDefault),
    signal,
    fetch: connection.fetch ?? fetch,
  };
}

function headersOf({ key, agent, session }: Connection): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'x-agent-api-key': key,
    ...(agent === undefined ? {} : { 'x-writ-agent': agent }),
    ...(session === undefined ? {} : { 'x-agent-session': session }),
  };
}

function userHeader(given: UserToken | undefined): Readonly<Record<string, string>> {
  const token = typeof given === 'function' ? given() : given;
  return token === undefined ? {} : { 'x-on-behalf-of': token };
}

/** HMAC-SHA256 over time, nonce and body. */
function signer({ signingSecret }: Connection): Question['sign'] {
  if (signingSecret === undefined) return undefined;
  const bytes = new TextEncoder();
  return async (body) => {
    const [time, nonce] = [Math.trunc(Date.now() / 1000), crypto.randomUUID()];
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', bytes.encode(signingSecret), algorithm, false, ['sign']);
    const signed = bytes.encode(`v1:${time}:${nonce}:POST:/v1/authorize:${body}`);
    const code = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed));
    const hex = Array.from(code, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return `t=${time},n=${nonce},v1=${hex}`;
  };
}

/** An error reply (RFC 9457): nothing was granted. */
function problemOf({ status, body }: WholeAnswer): Denied {
  const { type, detail } = (typeof body === 'object' && body !== null ? body : {}) as {
    readonly type?: unknown;
    readonly detail?: unknown;
  };
  if (typeof type !== 'string') return refusal('unreadable', `the service answered with status ${status}`);
  return refusal(type.replace('urn:writ:error:', ''), typeof detail === 'string' ? detail : '');
}

function report(connection: Connection, { requestId, isExecuted, result }: GrantOutcome): Promise<void> {
  const said = { executed: isExecuted, ...(result && { result }) };
  return tell(connection, `${pathOf(requestId)}/outcome`, said);
}

/** What has run has run: that the report did not arrive changes nothing of it. */
async function tell(connection: Connection, path: string, report: object): Promise<void> {
  try {
    await exchange({ ...question(connection, 'POST', path), body: JSON.stringify(report) });
  } catch {
    // The grant ends by itself.
  }
}

function pathOf(requestId: string): string {
  return `/v1/requests/${encodeURIComponent(requestId)}`;
}

async function look(
  connection: Connection,
  requestId: string,
  { wait = 0, signal }: AskOptions = {},
): Promise<RequestStanding | null> {
  const endsAt = Date.now() + wait;
  for (;;) {
    const heldMs = Math.max(0, Math.min(endsAt - Date.now(), heldMsMax));
    const asked = question(connection, 'GET', pathOf(requestId), heldMs, signal);
    const prefer = `wait=${Math.ceil(heldMs / 1000)}`;
    const answer = await exchange({ ...asked, headers: { ...headersOf(connection), prefer } });
    if (answer.status === 404) return null;
    const standing = answer.status === 200 ? readStanding(answer.body) : null;
    if (standing === null) throw new DeniedError(problemOf(answer));
    if (standing.status !== 'pending' || Date.now() >= endsAt) return standing;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, endsAt - Date.now())));
  }
}

async function listActions(connection: Connection, prefix: string): Promise<readonly PossibleAction[]> {
  const answer = await exchange(
    question(connection, 'GET', `/v1/actions?prefix=${encodeURIComponent(prefix)}`),
  );
  if (answer.status !== 200) throw new DeniedError(problemOf(answer));
  return readPossible(answer.body);
}
