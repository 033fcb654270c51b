// Asks the service, with the key of an agent, to decide about calls. The key stays in this process; neither
// the client nor the server of a conversation sees it. INVARIANT: anything but a decision of the service
// throws or is a refusal.

import { createHash } from 'node:crypto';
import {
  connect,
  type Decision,
  type PossibleAction,
  type RequestStanding,
} from '../../typescript/client.ts';
import type { JsonObject } from '../protocol/messages.ts';
import { fetchOnKeptConnections } from './kept-connections.ts';
import { createOutcomes } from './outcomes.ts';

/** The keys by which an agent proves who it is. */
export interface Credential {
  /** The key of an agent, or of an enforcement point. */
  readonly key: string;
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
  const caller = agent === undefined ? `key ${key}` : `agent ${agent}`;
  return `agent-${createHash('sha256').update(caller).digest('base64url').slice(0, 22)}`;
}

export interface AskingOptions {
  /** Milliseconds to wait for people. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** The token of the person on whose behalf the agent asks. */
  readonly onBehalfOf: string | undefined;
}

export interface Authority {
  /** Decides a call. The same call gets the decision of the request that the agent already has for it. */
  decide(action: string, payload: JsonObject, options: AskingOptions): Promise<Decision>;
  /** Reports whether a granted call was carried out. Never rejects. */
  report(requestId: string, isExecuted: boolean): Promise<void>;
  withdraw(requestId: string): Promise<void>;
  look(requestId: string): Promise<RequestStanding | null>;
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
  const service = connect({
    url,
    ...credential,
    session,
    receipts: receiptsFor ?? false,
    fetch: fetchOnKeptConnections,
  });
  const report = createOutcomes(service);
  return {
    decide: (action, payload, { waitMs: wait, ...options }) =>
      service.authorize(action, payload, { wait, ...options }),
    report: (requestId, isExecuted) => report({ requestId, isExecuted }),
    withdraw: service.withdraw,
    look: service.look,
    possible: service.actions,
  };
}
