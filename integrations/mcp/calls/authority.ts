// Who decides about calls: the service, asked with the key of an agent. The key stays in this process; neither the client nor
// the server of a conversation sees it. INVARIANT: whatever is not a decision of the service throws or is a refusal.

import {
  connect,
  type Decision,
  type PossibleAction,
  type RequestStanding,
} from '../../typescript/client.ts';
import type { JsonObject } from '../protocol/messages.ts';
import { fetchOnKeptConnections } from './kept-connections.ts';
import { createOutcomes } from './outcomes.ts';

/** How an agent proves who it is. */
export interface Credential {
  /** Of the agent, or of an enforcement point. */
  readonly key: string;
  /** With the key of an enforcement point: the agent that it asks for, by name or id. */
  readonly agent?: string;
  /** Where the agent signs its requests. */
  readonly signingSecret?: string;
}

export interface AskingOptions {
  /** How long people are waited for, in milliseconds. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** The token of the person for whom the agent asks. */
  readonly onBehalfOf: string | undefined;
}

export interface Authority {
  /** Comes back to the request that the agent has for the same call. */
  decide(action: string, payload: JsonObject, options: AskingOptions): Promise<Decision>;
  /** Never rejects. */
  report(requestId: string, isExecuted: boolean): Promise<void>;
  withdraw(requestId: string): Promise<void>;
  look(requestId: string): Promise<RequestStanding | null>;
  possible(prefix: string): Promise<readonly PossibleAction[]>;
}

export interface ServiceOptions {
  readonly url: string;
  readonly credential: Credential;
  readonly session: string;
  /** The audience of receipts; null where grants come without. */
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
