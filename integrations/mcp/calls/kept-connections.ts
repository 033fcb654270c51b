// A `fetch` for one program that asks one service often. It keeps connections open, at half the cost of the
// platform's own `fetch`. INVARIANT: a reply that is cut off or has no end is an error; no other address gets
// what was sent; and whatever happens to the connection, there is an answer or an error.

import { request as askHttp, Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { request as askHttps, Agent as HttpsAgent } from 'node:https';
import type { Fetch, FetchReply } from '../../typescript/exchange.ts';

/** More bytes than any reply of the service has. */
const replyBytesMax = 16 * 1024 * 1024;

/**
 * A model often thinks between its calls for longer than the platform's five seconds. The service keeps
 * connections for 72 seconds.
 */
const kept = { keepAlive: true, timeout: 60_000 } as const;
const ways = {
  'http:': { ask: askHttp, agent: new HttpAgent(kept) },
  'https:': { ask: askHttps, agent: new HttpsAgent(kept) },
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
