// Holds the conversations of clients over HTTP: one for each session, and one for each request in the
// stateless era. INVARIANT: a message of a server goes to one client, on one stream; nothing is begun for a key that
// the service does not know.

import { createHash, randomUUID } from 'node:crypto';
import { DeniedError } from '../../typescript/client.ts';
import type { Authority } from '../calls/authority.ts';
import type { Conversation } from '../calls/conversation.ts';
import type { Gate } from '../calls/gate.ts';
import {
  errorAnswer,
  errorCodes,
  type Id,
  isRequest,
  isResponse,
  type Message,
  type RpcRequest,
} from '../protocol/messages.ts';
import type { SchemaOf } from '../protocol/mirrored-headers.ts';
import { type Catalogue, createCatalogue } from '../review/catalogue.ts';
import { type Exchange, statusOf } from './http-exchange.ts';
import { NoSlotError, type Slot, type SlotPool } from './slot-pool.ts';

export interface OpenFor {
  readonly authority: Authority;
  readonly caller: string;
  readonly catalogue: Catalogue;
  readonly era: 'sessions' | 'stateless';
  readonly toClient: (message: Message, relatedTo: Id | null, status?: number) => void;
  readonly onEnd: () => void;
}

export interface SessionParts {
  readonly gate: Gate;
  readonly warn: (line: string) => void;
  readonly authorityOf: (key: string) => Authority;
  readonly openConversation: (options: OpenFor) => Conversation;
  /** The places for what the proxy keeps for its callers. */
  readonly slots: SlotPool;
}

export interface ClientSessions {
  take(exchange: Exchange, message: Message, key: string): Promise<void>;
  takeAlone(exchange: Exchange, request: RpcRequest, key: string): Promise<void>;
  listen(exchange: Exchange, key: string): void;
  end(exchange: Exchange, key: string): void;
  schemaOf(key: string): SchemaOf;
  close(): void;
}

interface Session {
  readonly caller: string;
  readonly slot: Slot;
  readonly conversation: Conversation;
  /** Open requests by id; each answer goes back on the request's own POST. */
  readonly exchanges: Map<Id, Exchange>;
  /** The stream for messages that belong to no request; null while the client does not listen. */
  listener: Exchange | null;
  usedMs: number;
}

/** The objects that all requests of one agent share in the stateless era. */
interface StatelessState {
  readonly authority: Authority;
  readonly catalogue: Catalogue;
}

const agentsMax = 1_000;
const idleMsMax = 30 * 60_000;
const sweepMs = 60_000;

export function createSessions(parts: SessionParts): ClientSessions {
  const open: OpenSessions = { parts, byId: new Map(), isKnown: createAdmission(parts) };
  const agents = new Map<string, StatelessState>();
  const alone = new Set<Conversation>();
  const sweep = setInterval(() => parts.slots.endIdle(Date.now() - idleMsMax), sweepMs).unref();
  const statelessOf = (key: string): StatelessState => {
    const caller = callerOf(key);
    const stateless = agents.get(caller) ?? {
      authority: parts.authorityOf(key),
      catalogue: createCatalogue(parts.gate.settings),
    };
    agents.set(caller, stateless);
    if (agents.size > agentsMax) agents.delete(agents.keys().next().value!);
    return stateless;
  };
  /** The session of a request. A wrong key gets the same answer as an unknown session. */
  const find = (exchange: Exchange, key: string): Session | null => {
    const id = exchange.request.headers['mcp-session-id'];
    const session = typeof id === 'string' ? open.byId.get(id) : undefined;
    if (id === undefined)
      exchange.refuse(400, errorCodes.invalidRequest, 'the header Mcp-Session-Id is missing');
    else if (session?.caller !== callerOf(key))
      exchange.refuse(404, errorCodes.invalidRequest, 'there is no such session');
    else return session;
    return null;
  };
  return {
    async take(exchange, message, key) {
      const isFirst = isRequest(message) && message.method === 'initialize';
      const session = isFirst ? await begin(open, { exchange, key }) : find(exchange, key);
      if (session !== null) pass(session, exchange, message);
    },
    async takeAlone(exchange, request, key) {
      const { authority, catalogue } = statelessOf(key);
      const caller = callerOf(key);
      if (!(await isAdmitted(open, exchange, { key, authority, id: request.id }))) return;
      const conversation = parts.openConversation({
        authority,
        caller,
        catalogue,
        era: 'stateless',
        toClient(message, _relatedTo, status) {
          if (!isResponse(message)) return exchange.stream(message);
          alone.delete(conversation);
          exchange.finish(message, status ?? statusOf(message));
        },
        onEnd: () => undefined,
      });
      alone.add(conversation);
      exchange.onLeave(() => {
        alone.delete(conversation);
        conversation.close();
      });
      conversation.fromClient(request, exchange.onBehalfOf);
    },
    listen(exchange, key) {
      const session = find(exchange, key);
      if (session === null) return;
      if (session.listener !== null)
        return exchange.refuse(409, errorCodes.invalidRequest, 'one stream is open already');
      session.listener = exchange;
      exchange.begin();
      exchange.onLeave(() => {
        session.listener = null;
      });
    },
    end(exchange, key) {
      const session = find(exchange, key);
      if (session === null) return;
      parts.slots.leave(session.slot);
      session.slot.end();
      exchange.accept();
    },
    schemaOf: (key) => statelessOf(key).catalogue.schemaOf,
    close() {
      clearInterval(sweep);
      for (const { conversation } of open.byId.values()) conversation.close();
      for (const conversation of alone) conversation.close();
    },
  };
}

/** An id of the caller: a digest of the key, and not the key itself. */
function callerOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

interface OpenSessions {
  readonly parts: SessionParts;
  readonly byId: Map<string, Session>;
  readonly isKnown: Admission;
}

/** Whether the service knows a key now. Rejects when the service cannot be asked. */
type Admission = (key: string, authority: Authority) => Promise<boolean>;

/** How long a key counts as known without being asked about again, in milliseconds. */
const knownMs = 60_000;

/** A key that the service does not know starts no server, and sees nothing of one. */
function createAdmission({ gate }: SessionParts): Admission {
  const untilMs = new Map<string, number>();
  return async (key, authority) => {
    const caller = callerOf(key);
    if ((untilMs.get(caller) ?? 0) > Date.now()) return true;
    untilMs.delete(caller);
    try {
      await authority.possible(`${gate.settings.as}.`);
    } catch (error) {
      if (error instanceof DeniedError) return false;
      throw error;
    }
    untilMs.set(caller, Date.now() + knownMs);
    if (untilMs.size > agentsMax) untilMs.delete(untilMs.keys().next().value!);
    return true;
  };
}

interface AuthenticatedClient {
  readonly key: string;
  readonly authority: Authority;
  readonly id: Id | null;
}

/** Answers the exchange itself when the caller is not let in. */
async function isAdmitted(
  { isKnown }: OpenSessions,
  exchange: Exchange,
  { key, authority, id }: AuthenticatedClient,
): Promise<boolean> {
  try {
    if (await isKnown(key, authority)) return true;
    const why = 'the service refuses this key: it is wrong, has ended, or its agent may not ask';
    exchange.answer(401, errorAnswer(id, errorCodes.invalidRequest, why));
  } catch (error) {
    const why = `authorization service unavailable: ${(error as Error).message}`;
    exchange.answer(503, errorAnswer(id, errorCodes.internal, why));
  }
  return false;
}

interface SessionRequest {
  readonly exchange: Exchange;
  readonly key: string;
}

/** Begins a session; null when the exchange has been refused. */
async function begin(open: OpenSessions, { exchange, key }: SessionRequest): Promise<Session | null> {
  const { parts, byId } = open;
  const authority = parts.authorityOf(key);
  if (!(await isAdmitted(open, exchange, { key, authority, id: null }))) return null;
  const id = randomUUID();
  const caller = callerOf(key);
  const slot: Slot = {
    caller,
    idleSinceMs: () => (session.exchanges.size > 0 ? null : session.usedMs),
    end() {
      byId.delete(id);
      session.conversation.close();
      session.listener?.end();
    },
  };
  let session: Session;
  try {
    parts.slots.take(slot);
    session = {
      caller,
      slot,
      conversation: converse(),
      exchanges: new Map(),
      listener: null,
      usedMs: Date.now(),
    };
  } catch (error) {
    parts.slots.leave(slot);
    const status = error instanceof NoSlotError && error.isOwn ? 429 : 503;
    exchange.refuse(status, errorCodes.internal, (error as Error).message);
    return null;
  }
  byId.set(id, session);
  exchange.setHeader('mcp-session-id', id);
  return session;

  function converse(): Conversation {
    return parts.openConversation({
      authority,
      caller,
      catalogue: createCatalogue(parts.gate.settings),
      era: 'sessions',
      toClient: (message, relatedTo) => sendBack(session, message, relatedTo),
      onEnd() {
        parts.slots.leave(slot);
        byId.delete(id);
        session.listener?.end();
      },
    });
  }
}

function pass(session: Session, exchange: Exchange, message: Message): void {
  session.usedMs = Date.now();
  if (!isRequest(message)) {
    exchange.accept();
    session.conversation.fromClient(message);
    return;
  }
  const { id } = message;
  if (session.exchanges.has(id)) {
    exchange.refuse(400, errorCodes.invalidRequest, 'the id is in use');
    return;
  }
  session.exchanges.set(id, exchange);
  exchange.onLeave(() => {
    session.exchanges.delete(id);
    session.conversation.abandon(id);
  });
  session.conversation.fromClient(message, exchange.onBehalfOf);
}

/**
 * Sends a message back on the POST that it belongs to, or on the client's listening stream, or on any POST
 * that waits.
 */
function sendBack({ exchanges, listener }: Session, message: Message, relatedTo: Id | null): void {
  if (isResponse(message)) {
    const exchange = message.id === null ? undefined : exchanges.get(message.id);
    if (message.id !== null) exchanges.delete(message.id);
    exchange?.finish(message, 200);
    return;
  }
  const related = relatedTo === null ? undefined : exchanges.get(relatedTo);
  const waiting = isRequest(message) || exchanges.size === 1 ? [...exchanges.values()].at(-1) : undefined;
  (related ?? waiting ?? listener)?.stream(message);
}
