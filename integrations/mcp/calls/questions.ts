// Sends the proxy's own requests to one side of a conversation, and hands each answer to the part that waits
// for it.

import { randomUUID } from 'node:crypto';
import {
  errorAnswer,
  errorCodes,
  type Id,
  type JsonObject,
  type Message,
  type RpcResponse,
} from '../protocol/messages.ts';

export interface Questions {
  /** Sends a request and resolves to its response. Rejects when the request could not be sent. */
  ask(send: (message: Message) => void, method: string, params: JsonObject): Promise<RpcResponse>;
  /** Takes a response. True when it answers one of these requests. */
  settle(response: RpcResponse): boolean;
  /** Ends all waits, because nobody will answer any more. */
  end(why: string): void;
}

export function createQuestions(): Questions {
  const open = new Map<Id, (response: RpcResponse) => void>();
  return {
    ask(send, method, params) {
      const id = `writ-${randomUUID()}`;
      return new Promise((resolve, reject) => {
        open.set(id, resolve);
        try {
          send({ jsonrpc: '2.0', id, method, params });
        } catch (error) {
          open.delete(id);
          reject(error);
        }
      });
    },
    settle(response) {
      const resolve = response.id === null ? undefined : open.get(response.id);
      if (response.id !== null) open.delete(response.id);
      resolve?.(response);
      return resolve !== undefined;
    },
    end(why) {
      for (const [id, resolve] of open) resolve(errorAnswer(id, errorCodes.internal, why));
      open.clear();
    },
  };
}
