// Shares one started server among the conversations of one caller in the stateless era. Ids of requests and of their
// progress are made unique on the way to the server, and restored on the way back. INVARIANT: messages that
// belong to a request reach only the conversation that asked.

import type { Upstream } from '../calls/conversation.ts';
import {
  type Id,
  isRequest,
  isResponse,
  type JsonObject,
  type Message,
  member,
} from '../protocol/messages.ts';
import type { UpstreamEvents } from './child-upstream.ts';

export type OpenUpstream = (
  events: UpstreamEvents,
  schemaOf: (tool: string) => JsonObject | null,
) => Upstream;

interface PendingCall {
  readonly by: UpstreamEvents;
  readonly id: Id;
  readonly progressToken: Id | undefined;
}

const subscription = 'io.modelcontextprotocol/subscriptionId';

export interface SharedUpstream {
  readonly open: OpenUpstream;
  /** Whether the server runs. */
  readonly isRunning: () => boolean;
  /** Whether a request is under way. */
  readonly isBusy: () => boolean;
  /** Ends the server; the next message starts it again. */
  readonly end: () => void;
}

export interface SharedEvents {
  /** Called before the server is started; may throw to prevent it. */
  readonly onStart: () => void;
  /** Called with each message to the server. */
  readonly onUse: () => void;
  /** Called when the server has ended by itself, or could not be started. */
  readonly onEnd: () => void;
}

export function shareUpstream(open: OpenUpstream, events: SharedEvents): SharedUpstream {
  const pendingCalls = new Map<string, PendingCall>();
  let count = 0;
  let server: Upstream | null = null;
  const start = (): Upstream => {
    events.onStart();
    try {
      return opened();
    } catch (error) {
      events.onEnd();
      throw error;
    }
  };
  const opened = (): Upstream => {
    const started = open(
      {
        onMessage: (message) => sendHome(pendingCalls, message),
        onEnd(why) {
          if (server !== started) return;
          server = null;
          events.onEnd();
          const those = new Set([...pendingCalls.values()].map(({ by }) => by));
          pendingCalls.clear();
          for (const one of those) one.onEnd(why);
        },
      },
      () => null,
    );
    return started;
  };
  const openShared: OpenUpstream = (by) => ({
    send(message) {
      events.onUse();
      server ??= start();
      if (!isRequest(message)) {
        server.send(renamed(pendingCalls, by, message));
        return;
      }
      count += 1;
      const id = `w${count}`;
      const token = member(message.params, '_meta', 'progressToken');
      pendingCalls.set(id, { by, id: message.id, progressToken: token as Id | undefined });
      try {
        server.send({ ...withToken(message, token === undefined ? undefined : id), id });
      } catch (error) {
        pendingCalls.delete(id);
        throw error;
      }
    },
    /** Gives up the open requests of this conversation; the server goes on for the others. */
    close() {
      for (const [own, one] of pendingCalls) {
        if (one.by !== by) continue;
        pendingCalls.delete(own);
        const params = { requestId: own, reason: 'the client has left' };
        server?.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
      }
    },
  });
  return {
    open: openShared,
    isRunning: () => server !== null,
    isBusy: () => pendingCalls.size > 0,
    end() {
      server?.close();
      server = null;
    },
  };
}

function withToken<Sent extends Message>(message: Sent, token: Id | undefined): Sent {
  const params = 'params' in message ? (message.params ?? {}) : {};
  if (token === undefined) return message;
  return {
    ...message,
    params: { ...params, _meta: { ...(params._meta as JsonObject), progressToken: token } },
  };
}

/** Replaces the client's own id of a request that the client cancels. */
function renamed(
  pendingCalls: ReadonlyMap<string, PendingCall>,
  by: UpstreamEvents,
  message: Message,
): Message {
  const requestId = 'params' in message ? member(message.params, 'requestId') : undefined;
  if (requestId === undefined || !('method' in message)) return message;
  for (const [own, one] of pendingCalls)
    if (one.by === by && one.id === requestId)
      return { ...message, params: { ...message.params, requestId: own } };
  return message;
}

function sendHome(pendingCalls: Map<string, PendingCall>, message: Message): void {
  if (isResponse(message)) {
    const one = pendingCalls.get(String(message.id));
    pendingCalls.delete(String(message.id));
    if (one === undefined) return;
    const result = message.result === undefined ? {} : { result: homeMeta(message.result, one.id) };
    one.by.onMessage({ ...message, id: one.id, ...result }, one.id);
    return;
  }
  const { params = {} } = message;
  const token = params.progressToken ?? member(params, '_meta', subscription);
  const only = pendingCalls.size === 1 ? [...pendingCalls.values()][0] : undefined;
  const one = token === undefined ? only : pendingCalls.get(String(token));
  if (one === undefined) return;
  const progress = params.progressToken === undefined ? {} : { progressToken: one.progressToken ?? one.id };
  one.by.onMessage({ ...message, params: { ...homeMeta(params, one.id), ...progress } }, one.id);
}

function homeMeta(object: JsonObject, id: Id): JsonObject {
  if (member(object, '_meta', subscription) === undefined) return object;
  return { ...object, _meta: { ...(object._meta as JsonObject), [subscription]: id } };
}
