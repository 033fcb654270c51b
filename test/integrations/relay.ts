// A relay between programs and the service that stops a message at a chosen moment, so that either side can
// be killed at that moment. The number `n` in the payload of a request identifies its messages.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listening } from '../service/http/listening.ts';

/**
 * A message to stop: a request for a decision, or a report of an outcome. It is stopped before the service
 * gets it, while the service handles it, or after the service has answered.
 */
export interface Stop {
  readonly message: 'ask' | 'outcome';
  readonly when: 'before' | 'meanwhile' | 'after';
}

export interface Relay {
  readonly url: string;
  /** The address of the service; null while the service is away. */
  target: string | null;
  /** Resolves when a message of `n` has reached the stop; the message goes no further. */
  readonly stopAt: (n: number, stop: Stop) => Promise<void>;
  /** Breaks the connections of the stopped messages. */
  readonly cut: () => void;
}

interface Stopped extends Stop {
  readonly reached: () => void;
}

export async function openRelay(): Promise<Relay> {
  const stops = new Map<number, Stopped>();
  const numbers = new Map<string, number>();
  const held: ServerResponse[] = [];

  /** Whether the message goes no further. */
  function isStopped(
    n: number,
    message: Stop['message'],
    when: Stop['when'],
    response: ServerResponse,
  ): boolean {
    const stop = stops.get(n);
    if (stop === undefined || stop.message !== message || stop.when !== when) return false;
    stops.delete(n);
    held.push(response);
    stop.reached();
    return true;
  }

  async function carry(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    const message = request.url === '/v1/authorize' ? 'ask' : 'outcome';
    const n = message === 'ask' ? Number(JSON.parse(body).payload.n) : numberIn(`${request.url} ${body}`);
    if (isStopped(n, message, 'before', response)) return;
    if (relay.target === null) return void response.destroy();
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    if (stops.get(n)?.when === 'meanwhile')
      setTimeout(() => void isStopped(n, message, 'meanwhile', response), 200);
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
    const reply = await fetch(`${relay.target}${request.url}`, {
      method: request.method ?? 'GET',
      signal: gone.signal,
      headers: headers as Record<string, string>,
      ...(body === '' ? {} : { body }),
    });
    const text = await reply.text();
    if (message === 'ask') numbers.set(String(JSON.parse(text).request_id), n);
    if (isStopped(n, message, 'after', response)) return;
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(text);
  }

  function numberIn(text: string): number {
    for (const [id, n] of numbers) if (text.includes(id)) return n;
    return Number.NaN;
  }

  const server = createServer((request, response) => {
    carry(request, response).catch(() => response.destroy());
  });
  const relay: Relay = {
    url: await listening(server),
    target: null,
    stopAt: (n, stop) => new Promise((resolve) => stops.set(n, { ...stop, reached: resolve })),
    cut() {
      for (const response of held.splice(0)) response.destroy();
    },
  };
  return relay;
}
