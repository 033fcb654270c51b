// Asks the service, with the key of an agent, to decide about calls. The key stays in this process; neither
// the client nor the server of a conversation sees it. INVARIANT: anything but a decision of the service
// throws or is a refusal.

import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { request as askHttp, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { request as askHttps, Agent as HttpsAgent } from 'node:https';
import {
  connect,
  type Decision,
  type GrantOutcome,
  type Plan,
  type PlanDraft,
  type PossibleAction,
  type RequestStatus,
  type Writ,
} from '../../typescript/client.ts';
import { callerName, type KeySource } from '../../typescript/credential.ts';
import type { Fetch, FetchReply } from '../../typescript/exchange.ts';
import type { JsonObject } from '../protocol/messages.ts';

// A `fetch` for one program that asks one service often. It keeps connections open, at half the cost of the
// platform's own `fetch`. INVARIANT: a reply that is cut off or has no end is an error; no other address gets
// what was sent; and whatever happens to the connection, there is an answer or an error.

/** More bytes than any reply of the service has. */
const replyBytesMax = 16 * 1024 * 1024;

/**
 * A model often thinks between its calls for longer than the platform's five seconds. The service keeps
 * connections for 72 seconds.
 */
const connectionOptions = { keepAlive: true, timeout: 60_000 } as const;
const ways = {
  'http:': { ask: askHttp, agent: new HttpAgent(connectionOptions) },
  'https:': { ask: askHttps, agent: new HttpsAgent(connectionOptions) },
} as const;

export const fetchOnKeptConnections: Fetch = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const { ask, agent } = ways[url.startsWith('https:') ? 'https:' : 'http:'];
    const request = ask(url, { method, agent, headers: { ...headers, ...length } });
    const stop = () => request.destroy(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    request.on('response', (response) => read(response, resolve, reject));
    request.on('error', reject);
    request.on('close', () => {
      signal.removeEventListener('abort', stop);
      // A connection that switches to another protocol reports nothing but its close.
      reject(new Error('the connection has ended before the reply'));
    });
    request.end(body);
  });

/** Resolves at the end of the reply, which comes before the close of the request. */
function read(
  response: IncomingMessage,
  resolve: (reply: FetchReply) => void,
  reject: (error: Error) => void,
): void {
  const { statusCode: status = 0, headers } = response;
  if (status >= 300 && status < 400) {
    response.resume();
    reject(new Error(`the reply leads elsewhere (${status})`));
    return;
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  response.on('data', (part: Buffer) => {
    bytes += part.length;
    if (bytes > replyBytesMax) response.destroy(new Error('the reply has no end'));
    else parts.push(part);
  });
  response.on('error', reject);
  response.on('end', () => {
    const text = Buffer.concat(parts).toString('utf8');
    resolve({
      status,
      headers: {
        get(name) {
          const value = headers[name];
          return value === undefined ? null : String(value);
        },
      },
      text: async () => text,
    });
  });
}

// Reports the outcomes of grants to the service, a few at a time, so that a call does not wait for the report
// of the one before. INVARIANT: an outcome is on its way within `laterMs`, even when the program ends.

/** Milliseconds before a report: short beside the life of a grant, long beside that of a call. */
const laterMs = 100;
/** The most outcomes in one report: few enough that the report takes no longer than a call. */
const togetherMax = 10;

/** Resolves when the report has been sent, or could not be sent. */
export type ReportOutcome = (outcome: GrantOutcome) => Promise<void>;

interface CallBatch {
  readonly outcomes: GrantOutcome[];
  readonly sent: PromiseWithResolvers<void>;
  readonly timer: NodeJS.Timeout;
}

export function createOutcomes({ reportAll }: Pick<Writ, 'reportAll'>): ReportOutcome {
  let gathered: CallBatch | null = null;

  function send(together: CallBatch): void {
    clearTimeout(together.timer);
    gathered = null;
    reportAll(together.outcomes).then(together.sent.resolve, together.sent.reject);
  }

  function begin(): CallBatch {
    const timer = setTimeout(() => gathered !== null && send(gathered), laterMs);
    return { outcomes: [], sent: Promise.withResolvers(), timer };
  }

  return (outcome) => {
    gathered ??= begin();
    const together = gathered;
    together.outcomes.push(outcome);
    if (together.outcomes.length >= togetherMax) send(together);
    return together.sent.promise;
  };
}

/** The keys by which an agent proves who it is. */
export interface Credential {
  /** The key of an agent or of an enforcement point, or the token of a workload. */
  readonly key: KeySource;
  /** The agent that an enforcement point asks for, by name or id; absent with the key of an agent. */
  readonly agent?: string;
  /** The secret by which the agent signs its requests; absent when it does not sign. */
  readonly signingSecret?: string;
}

/**
 * The session of a caller. It is the caller's and not the connection's: whoever connects again, by whichever
 * transport and to whichever server, goes on in the same session, so a new connection clears no meter. An
 * enforcement point has one session for each agent.
 */
export function sessionOf({ key, agent }: Pick<Credential, 'key' | 'agent'>): string {
  const caller = agent === undefined ? callerName(key) : `agent ${agent}`;
  return `agent-${createHash('sha256').update(caller).digest('base64url').slice(0, 22)}`;
}

export interface AskingOptions {
  /** Milliseconds to wait for people. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** The token of the person on whose behalf the agent asks. */
  readonly onBehalfOf: string | undefined;
  /** The span of the client's call; absent when it sends no traces. */
  readonly traceparent?: string | undefined;
}

export interface Authority {
  /** Decides a call. The same call gets the decision of the request that the agent already has for it. */
  decide(action: string, payload: JsonObject, options: AskingOptions): Promise<Decision>;
  /** Shows what would be decided for the steps, and asks people for them with `submit`. */
  plan(plan: PlanDraft, options: Omit<AskingOptions, 'waitMs'>): Promise<Plan>;
  /**
   * Reports whether a granted call was carried out, and its result when its action declares one. Never rejects.
   */
  report(requestId: string, isExecuted: boolean, result?: object): Promise<void>;
  withdraw(requestId: string): Promise<void>;
  getRequest(requestId: string): Promise<RequestStatus | null>;
  possible(prefix: string): Promise<readonly PossibleAction[]>;
}

export interface ServiceOptions {
  readonly url: string;
  readonly credential: Credential;
  readonly session: string;
  /** The audience of receipts; null when grants come without receipts. */
  readonly receiptsFor: string | null;
}

export function createServiceAuthority(options: ServiceOptions): Authority {
  const { url, credential, session, receiptsFor } = options;
  const spans = new AsyncLocalStorage<string | undefined>();
  const service = connect({
    url,
    ...credential,
    session,
    receipts: receiptsFor ?? false,
    traceparent: () => spans.getStore(),
    fetch: fetchOnKeptConnections,
  });
  const report = createOutcomes(service);
  return {
    decide: (action, payload, { waitMs: wait, traceparent, ...options }) =>
      spans.run(traceparent, () => service.authorize(action, payload, { wait, ...options })),
    plan: service.plan,
    // A report with a result is not gathered with others: the result is handed on only after it.
    report: (requestId, isExecuted, result) =>
      result === undefined
        ? report({ requestId, isExecuted })
        : service.report(requestId, isExecuted, result),
    withdraw: service.withdraw,
    getRequest: service.getRequest,
    possible: service.actions,
  };
}
