// The client of the service for programs in TypeScript and JavaScript: it asks before the program acts, waits
// for people, and reports the outcome. It needs `fetch` and nothing else. INVARIANT: a tool runs under
// `allowed` and under nothing else, and an approval serves one run.

import { failedCall, type ReturnedCall, resultOf } from '../../src/language/value/reported-result.ts';
import { type Holder, headersOfTry, type KeySource, type ProofKey } from './credential.ts';
import {
  type AllowedDecision,
  type Decision,
  type DeniedDecision,
  type PendingDecision,
  type PossibleAction,
  type RequestStatus,
  readDecision,
  readPossibleActions,
  readRequestStatus,
  refusal,
} from './decision.ts';
import { exchange, type Fetch, type Question, UnreachableError, type WholeAnswer } from './exchange.ts';
import {
  type AnyPlan,
  type Plan,
  type PlanDraft,
  type PlannedCall,
  type PlanStep,
  planBody,
  readPlan,
} from './plan.ts';

export type {
  AllowedDecision,
  Decision,
  DeniedDecision,
  PendingDecision,
  Plan,
  PlanDraft,
  PlannedCall,
  PlanStep,
  PossibleAction,
  RequestStatus,
};
export { UnreachableError };

/**
 * An access or ID token that the service's `users.issuer` has signed, or a function that returns the current
 * token.
 */
export type UserToken = string | (() => string | undefined);

/**
 * The `traceparent` of the span in which the agent calls the tool (W3C Trace Context), or a function that reads it for
 * each call. It decides nothing: what is no `traceparent`, and a function that throws, are as if absent.
 */
export type TraceParent = string | (() => string | undefined);

export interface Connection {
  /** The address of the service, such as `https://writ.example.com`. */
  readonly url: string;
  /**
   * The key of the agent or of an enforcement point, or the token of a workload; also a function that returns the
   * present one, such as `tokenFile` makes. Keep it out of what a model reads.
   */
  readonly key: KeySource;
  /** The key pair to which the token is bound (DPoP): ECDSA with P-256. Each request is then sent with a proof. */
  readonly proofKey?: ProofKey;
  /** The address of the service in its setting `public_url`, which proofs name; by default `url`. */
  readonly publicUrl?: string;
  /** The agent that an enforcement point asks for, by name or id; absent with the key of an agent. */
  readonly agent?: string;
  /** The secret by which the agent signs its requests; absent when it does not sign. */
  readonly signingSecret?: string;
  /** The session, as rules and meters see it. */
  readonly session?: string;
  /** Milliseconds to wait for a decision of people; 50 seconds by default. */
  readonly wait?: number;
  /**
   * The token of the person on whose behalf the agent asks, or a function that reads it for each call; nobody
   * by default.
   */
  readonly onBehalfOf?: UserToken | undefined;
  /** The span that the spans of the service belong to; absent when the agent sends no traces. */
  readonly traceparent?: TraceParent | undefined;
  /**
   * Whether grants come with receipts; a text names the tool that the receipts are for. No receipts by
   * default.
   */
  readonly receipts?: boolean | string;
  /**
   * Milliseconds that one answer may take in addition to the time that is waited for people; 10 seconds by
   * default.
   */
  readonly timeout?: number;
  /** The `fetch` to use; by default that of the platform. */
  readonly fetch?: Fetch;
  readonly signal?: AbortSignal;
  /**
   * Called when the service does not take a reported result, with the reason. The call then counts as executed
   * without a result, and meters on the result stay unknown.
   */
  readonly onRefusedResult?: (requestId: string, reason: string) => void;
}

/** A connection that may be of a sub-agent. */
interface OwnConnection extends Connection {
  /** The agent's key, where `key` is a delegated one: outcomes are reported and requests looked up with it. */
  readonly agentKey?: KeySource;
  /** The agent's proof key, where `key` is a delegated one. */
  readonly agentProofKey?: ProofKey | undefined;
}

export interface AskOptions {
  /** Identifies this very call: the same key gives the same decision. A new key by default. */
  readonly idempotencyKey?: string;
  /** Milliseconds to wait for a decision of people, in place of the connection's `wait`. */
  readonly wait?: number;
  /** The token of the person on whose behalf the agent asks, in place of the connection's. */
  readonly onBehalfOf?: UserToken | undefined;
  readonly signal?: AbortSignal;
}

export interface GuardOptions<Args extends readonly unknown[], Payload, Result = unknown>
  extends RunOptions<Result> {
  readonly action: string;
  /** Makes the payload that policies read; by default the call's first argument. */
  readonly payload?: (...args: Args) => Payload;
  /** `hold` waits for people until the deadline, `throw` throws `PendingError` after `wait`. */
  readonly onWait?: 'hold' | 'throw';
}

export interface RunOptions<Result> extends AskOptions {
  /**
   * Makes the fields of the reported result from what the call returned; by default the fields of that name.
   * Only fields that the action declares are reported.
   */
  readonly result?: (returned: Result) => Readonly<Record<string, unknown>>;
}

export interface GrantOutcome {
  readonly requestId: string;
  readonly isExecuted: boolean;
  /** The result of the call, when its action declares one. */
  readonly result?: object;
}

/** What a delegation passes on. */
export interface DelegationTerms {
  /** Rules read it as `request.delegate`. */
  readonly name: string;
  /** Keys of actions, or patterns such as `payment.*`. */
  readonly actions: readonly string[];
  /** A condition of the policy language over the request, such as `payload.amount <= 100 USD`. */
  readonly when?: string;
  /** At most 30 days away. */
  readonly until: Date;
  /** How many requests may come by it; any number by default. */
  readonly uses?: number;
  /** The session of all its requests. */
  readonly session?: string;
}

export interface SubAgent<Actions extends object> {
  readonly id: string;
  /** The key of the sub-agent, for a sub-agent in another process. Keep it out of what a model reads. */
  readonly key: string;
  /** The client for a sub-agent in this process. */
  readonly client: Writ<Actions>;
}

/** The client of a service. `Actions` holds the payloads by action, as `writ types` writes them. */
export interface Writ<Actions extends object = Readonly<Record<string, object>>> {
  authorize<Key extends keyof Actions & string>(
    action: Key,
    payload: Actions[Key] & object,
    options?: AskOptions,
  ): Promise<Decision>;
  /**
   * Decides, runs `work`, and reports that it ran, with the result that the action declares: what `work`
   * returned is handed on only after the report. Throws DeniedError, PendingError or UnreachableError when
   * nothing ran.
   */
  run<Key extends keyof Actions & string, Result>(
    action: Key,
    payload: Actions[Key] & object,
    work: (grant: AllowedDecision) => Result | Promise<Result>,
    options?: RunOptions<Result>,
  ): Promise<Result>;
  /** Returns a function that asks before each call of the tool. */
  guard<Args extends readonly unknown[], Result>(
    tool: (...args: Args) => Result | Promise<Result>,
    options: GuardOptions<Args, object, Result>,
  ): (...args: Args) => Promise<Result>;
  /** Withdraws a request that waits. */
  withdraw(requestId: string): Promise<void>;
  /**
   * Reports the outcome of a grant, and what the call returned, for callers that carry it out without `run`.
   * A report that does not arrive raises no error.
   */
  report(requestId: string, isExecuted: boolean, result?: object): Promise<void>;
  /** Reports the outcomes of up to 100 grants together. */
  reportAll(outcomes: readonly GrantOutcome[]): Promise<void>;
  /**
   * The state of a request, once people have decided or `wait` is over; by default at once. This does not
   * consume an approval. Null when the agent has no such request.
   */
  getRequest(requestId: string, options?: Omit<AskOptions, 'idempotencyKey'>): Promise<RequestStatus | null>;
  /**
   * Shows what would be decided for the steps of a task, and asks people for them with `submit`. Nothing is granted:
   * each step is asked for with `authorize`, `run` or `guard` when it is due, and goes on with its approved request.
   * Throws DeniedError when the service refuses the plan.
   */
  plan(plan: PlanDraft<Actions>, options?: Omit<AskOptions, 'wait'>): Promise<Plan>;
  /** A plan of the agent with the present state of its steps; null when the agent has no such plan. */
  getPlan(planId: string): Promise<Plan | null>;
  /**
   * Passes a part of what the agent may do to a sub-agent. Throws DeniedError when the service refuses the
   * terms.
   */
  delegate(terms: DelegationTerms): Promise<SubAgent<Actions>>;
  /** Revokes a delegation and everything below it. */
  revokeDelegation(id: string): Promise<void>;
  /** What the agent can get for each action whose key begins with `prefix`, before it asks. */
  actions(prefix?: string): Promise<readonly PossibleAction[]>;
}

/** The service or a person has refused the call. */
export class DeniedError extends Error {
  readonly decision: DeniedDecision;

  constructor(decision: DeniedDecision) {
    super(decision.message);
    this.name = 'DeniedError';
    this.decision = decision;
  }
}

/** People have not decided yet. The same call again goes on with the same request. */
export class PendingError extends Error {
  readonly decision: PendingDecision;

  constructor(decision: PendingDecision) {
    super(`waits for ${decision.for} until ${decision.until.toISOString()}: ${decision.url}`);
    this.name = 'PendingError';
    this.decision = decision;
  }
}

const waitMsDefault = 50_000;
const timeoutMsDefault = 10_000;
/**
 * Milliseconds for which the client lets the service hold an answer; the service holds none for longer than
 * 55 seconds.
 */
const heldMsMax = 50_000;

/** Makes a client. The service is not contacted before there is something to decide. */
export function connect<Actions extends object = Readonly<Record<string, object>>>(
  connection: Connection,
): Writ<Actions> {
  return clientOf(connection);
}

function clientOf<Actions extends object>(connection: OwnConnection): Writ<Actions> {
  const authorize = (action: string, payload: object, options: AskOptions = {}) =>
    ask(connection, { action, payload, ...options });

  async function run<Result>(
    action: string,
    payload: object,
    work: (grant: AllowedDecision) => Result | Promise<Result>,
    { result, ...options }: RunOptions<Result> = {},
  ): Promise<Result> {
    const decision = await authorize(action, payload, options);
    if (decision.kind === 'waiting') throw new PendingError(decision);
    if (decision.kind !== 'allowed') throw new DeniedError(decision);
    return reporting(
      (outcome) => report(connection, outcome),
      decision,
      () => work(decision),
      (value) => ({ value, isError: false, mapped: result?.(value) }),
    );
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
    plan: (plan, options = {}) => makePlan(connection, plan, options),
    getPlan: (planId) => getPlan(ofAgent(connection), planId),
    async delegate(terms) {
      const { id, key } = await delegate(connection, terms);
      return { id, key, client: clientOf<Actions>(delegatedConnection(connection, key, terms)) };
    },
    async revokeDelegation(id) {
      const path = `/v1/delegations/${encodeURIComponent(id)}`;
      const answer = await exchange(question(ofAgent(connection), 'DELETE', path));
      if (answer.status !== 200) throw new DeniedError(problemOf(answer));
    },
    async withdraw(requestId) {
      const answer = await exchange(question(ofAgent(connection), 'POST', `${pathOf(requestId)}/withdraw`));
      if (answer.status !== 200) throw new DeniedError(problemOf(answer));
    },
    report: (requestId, isExecuted, result) =>
      report(connection, { requestId, isExecuted, ...(result && { result }) }),
    async reportAll(outcomes) {
      await tell(connection, '/v1/outcomes', {
        outcomes: outcomes.map(({ requestId: request_id, isExecuted: executed, result }) => ({
          request_id,
          executed,
          ...(result && { result }),
        })),
      });
    },
    getRequest: (requestId, options) => getRequest(ofAgent(connection), requestId, options),
    actions: (prefix = '') => listActions(ofAgent(connection), prefix),
  };
}

/** The connection of the agent itself, which answers for its sub-agents. */
function ofAgent(connection: OwnConnection): Connection {
  const { agentKey: key, agentProofKey: proofKey } = connection;
  if (key === undefined) return connection;
  return { ...connection, key, ...(proofKey === undefined ? {} : { proofKey }) };
}

function delegatedConnection(
  { signingSecret: _, agent: __, proofKey, ...connection }: OwnConnection,
  key: string,
  { session }: DelegationTerms,
): OwnConnection {
  const { agentKey = connection.key, agentProofKey = proofKey } = connection;
  const own = { key, agentKey, agentProofKey };
  return { ...connection, ...own, ...(session === undefined ? {} : { session }) };
}

async function delegate(
  connection: Connection,
  { until, ...terms }: DelegationTerms,
): Promise<{ readonly id: string; readonly key: string }> {
  const answer = await exchange({
    ...question(connection, 'POST', '/v1/delegations'),
    body: JSON.stringify({ ...terms, until: until.toISOString() }),
  });
  if (answer.status !== 201) throw new DeniedError(problemOf(answer));
  const { delegation, api_key } = answer.body as {
    readonly delegation: { readonly id: string };
    readonly api_key: string;
  };
  return { id: delegation.id, key: api_key };
}

function firstOf(...[first]: readonly unknown[]): object {
  return typeof first === 'object' && first !== null ? first : {};
}

interface ActionRequest extends AskOptions {
  readonly action: string;
  readonly payload: object;
}

/** Asks until there is a decision or the time is over. Each try comes back to the same request. */
async function ask(connection: Connection, request: ActionRequest): Promise<Decision> {
  const { wait = connection.wait ?? waitMsDefault, idempotencyKey = crypto.randomUUID() } = request;
  const endsAt = Date.now() + wait;
  for (;;) {
    const heldMs = Math.max(0, Math.min(endsAt - Date.now(), heldMsMax));
    const decision = await askHeld(connection, { ...request, idempotencyKey }, heldMs);
    if (decision.kind !== 'waiting' || Date.now() >= endsAt) return decision;
    // While the service stops, it does not hold its replies. The pause keeps the client from asking without
    // end.
    await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, endsAt - Date.now())));
  }
}

const pollMs = 200;

async function makePlan(
  connection: Connection,
  plan: AnyPlan,
  { idempotencyKey = crypto.randomUUID(), onBehalfOf, signal }: Omit<AskOptions, 'wait'>,
): Promise<Plan> {
  const path = '/v1/plans';
  const answer = await exchange({
    ...question(connection, 'POST', path, 0, signal),
    headers: {
      ...headersOf(connection),
      ...userHeader(onBehalfOf ?? connection.onBehalfOf),
      'idempotency-key': idempotencyKey,
    },
    body: planBody(plan),
    headersOfTry: signedTry(connection, path),
  });
  return planOf(connection, answer);
}

async function getPlan(connection: Connection, planId: string): Promise<Plan | null> {
  const answer = await exchange(question(connection, 'GET', `/v1/plans/${encodeURIComponent(planId)}`));
  return answer.status === 404 ? null : planOf(connection, answer);
}

function planOf({ url }: Connection, answer: WholeAnswer): Plan {
  const plan = answer.status === 200 ? readPlan(answer.body, url) : null;
  if (plan === null) throw new DeniedError(problemOf(answer));
  return plan;
}

async function askHeld(connection: Connection, request: ActionRequest, heldMs: number): Promise<Decision> {
  const { receipts = false } = connection;
  const wants = ['attach', `wait=${Math.ceil(heldMs / 1000)}`];
  if (receipts !== false) wants.push(receipts === true ? 'receipt' : `receipt=${receipts}`);
  const body = JSON.stringify({ action_key: request.action, payload: request.payload });
  const answer = await exchange({
    ...question(connection, 'POST', '/v1/authorize', heldMs, request.signal),
    headers: {
      ...headersOf(connection),
      ...userHeader(request.onBehalfOf ?? connection.onBehalfOf),
      ...traceHeader(connection.traceparent),
      'idempotency-key': request.idempotencyKey ?? '',
      prefer: wants.join(', '),
    },
    body,
    headersOfTry: signedTry(connection, '/v1/authorize'),
  });
  if (answer.status !== 200) return problemOf(answer);
  return readDecision(answer.body, {
    base: connection.url,
    receipt: answer.headers.get('writ-receipt'),
    change: answer.headers.get('writ-change'),
    result: answer.headers.get('writ-result'),
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
  const url = new URL(path, connection.url).href;
  return {
    method,
    url,
    headers: headersOf(connection),
    headersOfTry: () => headersOfTry(holderOf(connection), { method, url }),
    timeoutMs: heldMs + (connection.timeout ?? timeoutMsDefault),
    signal,
    fetch: connection.fetch ?? fetch,
  };
}

function holderOf({ key, proofKey, publicUrl, url }: Connection): Holder {
  return { key, ...(proofKey === undefined ? {} : { proofKey }), publicUrl: publicUrl ?? url };
}

function headersOf({ agent, session }: Connection): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    ...(agent === undefined ? {} : { 'x-writ-agent': agent }),
    ...(session === undefined ? {} : { 'x-agent-session': session }),
  };
}

function userHeader(given: UserToken | undefined): Readonly<Record<string, string>> {
  const token = typeof given === 'function' ? given() : given;
  return token === undefined ? {} : { 'x-on-behalf-of': token };
}

const traceparentForm = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

function traceHeader(given: TraceParent | undefined): Readonly<Record<string, string>> {
  try {
    const text = typeof given === 'function' ? given() : given;
    return text !== undefined && traceparentForm.test(text) ? { traceparent: text } : {};
  } catch {
    return {};
  }
}

/** Makes the headers of a try that is signed, when the connection has a signing secret. */
function signedTry(connection: Connection, path: string): Question['headersOfTry'] {
  const sign = signer(connection, path);
  const target = { method: 'POST', url: new URL(path, connection.url).href };
  return async (body) => ({
    ...(await headersOfTry(holderOf(connection), target)),
    ...(sign && { 'x-service-signature': await sign(body) }),
  });
}

/** Signs a request: HMAC-SHA256 over time, nonce, path and body. */
function signer(
  { signingSecret }: Connection,
  path: string,
): ((body: string) => Promise<string>) | undefined {
  if (signingSecret === undefined) return undefined;
  const bytes = new TextEncoder();
  return async (body) => {
    const [time, nonce] = [Math.trunc(Date.now() / 1000), crypto.randomUUID()];
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', bytes.encode(signingSecret), algorithm, false, ['sign']);
    const signed = bytes.encode(`v1:${time}:${nonce}:POST:${path}:${body}`);
    const code = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed));
    const hex = Array.from(code, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return `t=${time},n=${nonce},v1=${hex}`;
  };
}

/** An error reply (RFC 9457): nothing was granted. */
function problemOf({ status, body }: WholeAnswer): DeniedDecision {
  const { type, detail } = (typeof body === 'object' && body !== null ? body : {}) as {
    readonly type?: unknown;
    readonly detail?: unknown;
  };
  if (typeof type !== 'string') return refusal('unreadable', `the service answered with status ${status}`);
  return refusal(type.replace('urn:writ:error:', ''), typeof detail === 'string' ? detail : '');
}

/**
 * Runs granted work and reports it, with the declared result, before what it returned is handed on. Work that
 * failed half-way has used the grant, too.
 */
export async function reporting<Result>(
  send: (outcome: GrantOutcome) => Promise<void>,
  grant: AllowedDecision,
  work: () => Result | Promise<Result>,
  describe: (returned: Result) => ReturnedCall,
): Promise<Result> {
  let returned: Result;
  try {
    returned = await work();
  } catch (error) {
    await reportReturned(send, grant, () => failedCall);
    throw error;
  }
  await reportReturned(send, grant, () => describe(returned));
  return returned;
}

/**
 * Reports granted work as done, with the declared result. A description that fails leaves the result unknown;
 * without a declared result, nothing is described.
 */
export function reportReturned(
  send: (outcome: GrantOutcome) => Promise<void>,
  { requestId, resultFields = [] }: AllowedDecision,
  describe: () => ReturnedCall,
): Promise<void> {
  let result: object | null = null;
  try {
    if (resultFields.length > 0) result = resultOf(resultFields, describe());
  } catch {
    // The call has run, and is reported without a result.
  }
  return send({ requestId, isExecuted: true, ...(result && { result }) });
}

/** Reports an outcome; when the service does not take the result, reports the outcome without one. */
async function report(
  connection: Connection,
  { requestId, isExecuted, result }: GrantOutcome,
): Promise<void> {
  const path = `${pathOf(requestId)}/outcome`;
  const reply = await tell(connection, path, { executed: isExecuted, ...(result && { result }) });
  if (result === undefined || reply === null || !refusedResults.has(reply.status)) return;
  connection.onRefusedResult?.(requestId, problemOf(reply).reason);
  await tell(connection, path, { executed: isExecuted });
}

/** Statuses of a report whose result the service does not take. */
const refusedResults: ReadonlySet<number> = new Set([400, 413, 422]);

/** Sends a report. Null when it did not arrive, which changes nothing about what has run. */
async function tell(connection: Connection, path: string, report: object): Promise<WholeAnswer | null> {
  try {
    const asked = question(ofAgent(connection), 'POST', path);
    return await exchange({ ...asked, body: JSON.stringify(report) });
  } catch {
    // A grant without a report ends by itself.
    return null;
  }
}

function pathOf(requestId: string): string {
  return `/v1/requests/${encodeURIComponent(requestId)}`;
}

async function getRequest(
  connection: Connection,
  requestId: string,
  { wait = 0, signal }: AskOptions = {},
): Promise<RequestStatus | null> {
  const endsAt = Date.now() + wait;
  for (;;) {
    const heldMs = Math.max(0, Math.min(endsAt - Date.now(), heldMsMax));
    const query = question(connection, 'GET', pathOf(requestId), heldMs, signal);
    const prefer = `wait=${Math.ceil(heldMs / 1000)}`;
    const answer = await exchange({ ...query, headers: { ...headersOf(connection), prefer } });
    if (answer.status === 404) return null;
    const status = answer.status === 200 ? readRequestStatus(answer.body) : null;
    if (status === null) throw new DeniedError(problemOf(answer));
    if (status.status !== 'pending' || Date.now() >= endsAt) return status;
    await new Promise((resolve) => setTimeout(resolve, Math.min(pollMs, endsAt - Date.now())));
  }
}

async function listActions(connection: Connection, prefix: string): Promise<readonly PossibleAction[]> {
  const answer = await exchange(
    question(connection, 'GET', `/v1/actions?prefix=${encodeURIComponent(prefix)}`),
  );
  if (answer.status !== 200) throw new DeniedError(problemOf(answer));
  return readPossibleActions(answer.body);
}
