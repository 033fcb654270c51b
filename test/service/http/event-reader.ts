// Readers of /v1/events for tests. Each reader has a connection of its own.

import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Client } from './person-client.ts';
import type { Service } from './service.ts';

export interface ReceivedEvent {
  readonly kind: string;
  readonly at: string;
  /** When the event arrived, on the clock of `performance.now`. */
  readonly receivedAtMs: number;
}

export interface EventReader {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly received: readonly ReceivedEvent[];
  /** All text that has arrived. */
  readonly text: () => string;
  readonly hasEnded: () => boolean;
  /** Stops reading, and leaves the connection open. */
  pause(): void;
  close(): void;
}

/** Opens a stream of /v1/events as this person. */
export function readEvents(
  { port }: Pick<Service, 'port'>,
  { headers }: Pick<Client, 'headers'>,
): Promise<EventReader> {
  return new Promise((resolve, reject) => {
    const asked: ClientRequest = request(
      { host: '127.0.0.1', port, path: '/v1/events', headers, agent: false },
      (reply) => resolve(follow(asked, reply)),
    );
    asked.on('error', reject);
    asked.end();
    onTestFinished(() => void asked.destroy());
  });
}

function follow(asked: ClientRequest, reply: IncomingMessage): EventReader {
  const received: ReceivedEvent[] = [];
  let [text, rest] = ['', ''];
  let isOver = false;
  reply.setEncoding('utf8');
  reply.on('data', (chunk: string) => {
    text += chunk;
    rest += chunk;
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const [, kind = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(rest.slice(0, end)) ?? [];
      if (kind !== '') received.push({ kind, at: JSON.parse(data).at, receivedAtMs: performance.now() });
      rest = rest.slice(end + 2);
    }
  });
  const over = (): void => {
    isOver = true;
  };
  reply.on('end', over).on('close', over).on('error', over);
  asked.on('error', over);
  return {
    status: reply.statusCode ?? 0,
    headers: reply.headers,
    received,
    text: () => text,
    hasEnded: () => isOver,
    pause: () => void reply.pause(),
    close: () => void asked.destroy(),
  };
}
