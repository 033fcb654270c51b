// Holds the conversations of clients over HTTP: one for each session, and one for each request in the
// stateless era. INVARIANT: a message of a server goes to one client, on one stream.

import { createHash, randomUUID } from 'node:crypto';
import type { Authority } from '../calls/authority.ts';
import type { Conversation } from '../calls/conversation.ts';
import type { Gate } from '../calls/gate.ts';
import {
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
}

export interface ClientSessions {
  take(exchange: Exchange, message: Message, key: string): void;
  takeAlone(exchange: Exchange, request: RpcRequest, key: string): void;
  listen(exchange: Exchange, key: string): void;
  end(exchange: Exchange, key: string): void;
  schemaOf(key: string): SchemaOf;
  close(): void;
}

interface Session {
  readonly caller: string;
  readonly conversation: Conversation;
  /** Open requests by id; each answer goes back on the request's own POST. */
  readonly exchanges: Map<Id, Exchange>;
  /** The stream for messages that belong to no request; null while the client does not listen. */
  listener: Exchange | null;
  usedMs: number;
}

/** The objects that all requests of one agent share in the stateless era. */
interface Stateless {
  readonly authority: Authority;
  readonly catalogue: Catalogue;
}

const sessionsMax = 1_000;
const idleMsMax = 60 * 60_000;

export function createSessions(parts: SessionParts): ClientSessions {
  const sessions = new Map<string, Session>();
  const agents = new Map<string, Stateless>();
  const alone = new Set<Conversation>();
  const statelessOf = (key: string): Stateless => {
    const caller = callerOf(key);
    const known = agents.get(caller) ?? {
      authority: parts.authorityOf(key),
      catalogue: createCatalogue(parts.gate.settings),
    };
    agents.set(caller, known);
    if (agents.size > sessionsMax) agents.delete(agents.keys().next().value!);
    return known;
  };
  /** The session of a request. A wrong key gets the same answer as an unknown session. */
  const find = (exchange: Exchange, key: string): Session | null => {
    const id = exchange.request.headers['mcp-session-id'];
    const session = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id === undefined)
      exchange.refuse(400, errorCodes.invalidRequest, 'the header Mcp-Session-Id is missing');
    else if (session?.caller !== callerOf(key))
      exchange.refuse(404, errorCodes.invalidRequest, 'there is no such session');
    else return session;
    return null;
  };
  return {
    take(exchange, message, key) {
      const isFirst = isRequest(message) && message.method === 'initialize';
      const session = isFirst ? begin(parts, sessions, { exchange, key }) : find(exchange, key);
      if (session !== null) pass(session, exchange, message);
    },
    takeAlone(exchange, request, key) {
      const { authority, catalogue } = statelessOf(key);
      const caller = callerOf(key);
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
      session.conversation.close();
      for (const [id, one] of sessions) if (one === session) sessions.delete(id);
      session.listener?.end();
      exchange.accept();
    },
    schemaOf: (key) => statelessOf(key).catalogue.schemaOf,
    close() {
      for (const { conversation } of sessions.values()) conversation.close();
      for (const conversation of alone) conversation.close();
    },
  };
}

/** An id of the caller: a digest of the key, and not the key itself. */
function callerOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

interface Beginning {
  readonly exchange: Exchange;
  readonly key: string;
}

/** Begins a session; null when there are too many. */
function begin(
  parts: SessionParts,
  sessions: Map<string, Session>,
  { exchange, key }: Beginning,
): Session | null {
  forgetIdle(sessions);
  if (sessions.size >= sessionsMax) {
    exchange.refuse(503, errorCodes.internal, 'too many sessions are open');
    return null;
  }
  const id = randomUUID();
  const exchanges = new Map<Id, Exchange>();
  const conversation = parts.openConversation({
    authority: parts.authorityOf(key),
    caller: callerOf(key),
    catalogue: createCatalogue(parts.gate.settings),
    era: 'sessions',
    toClient: (message, relatedTo) => sendBack(session, message, relatedTo),
    onEnd() {
      sessions.delete(id);
      session.listener?.end();
    },
  });
  const session: Session = {
    caller: callerOf(key),
    conversation,
    exchanges,
    listener: null,
    usedMs: Date.now(),
  };
  sessions.set(id, session);
  exchange.setHeader('mcp-session-id', id);
  return session;
}

function forgetIdle(sessions: Map<string, Session>): void {
  for (const [id, { usedMs, listener, exchanges, conversation }] of sessions) {
    if (listener !== null || exchanges.size > 0 || Date.now() - usedMs < idleMsMax) continue;
    sessions.delete(id);
    conversation.close();
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
    const own = message.id === null ? undefined : exchanges.get(message.id);
    if (message.id !== null) exchanges.delete(message.id);
    own?.finish(message, 200);
    return;
  }
  const own = relatedTo === null ? undefined : exchanges.get(relatedTo);
  const waiting = isRequest(message) || exchanges.size === 1 ? [...exchanges.values()].at(-1) : undefined;
  (own ?? waiting ?? listener)?.stream(message);
}
