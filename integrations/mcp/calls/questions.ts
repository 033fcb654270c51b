// Requests of the proxy itself to one side of a conversation, and who waits for their answers.

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
  /** Rejects where it could not be sent. */
  ask(send: (message: Message) => void, method: string, params: JsonObject): Promise<RpcResponse>;
  /** Whether the response is to a question of these. */
  settle(response: RpcResponse): boolean;
  /** Nobody will answer. */
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
