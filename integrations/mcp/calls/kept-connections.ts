// `fetch` for one program that asks one service often: over connections that are kept open, at half the cost of the platform's
// own. INVARIANT: a reply that ends before its end is an error, and no other address is ever told what was sent.

import { request as askHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as askHttps } from 'node:https';
import type { Fetch, FetchReply } from '../../typescript/exchange.ts';

export const fetchOnKeptConnections: Fetch = (url, { method, headers, body, signal }) =>
  new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const ask = url.startsWith('https:') ? askHttps : askHttp;
    const options: RequestOptions = { method, signal, headers: { ...headers, ...length } };
    const request = ask(url, options, (response) => {
      read(response).then(resolve, reject);
    });
    request.on('error', reject);
    request.end(body);
  });

async function read(response: IncomingMessage): Promise<FetchReply> {
  const { statusCode: status = 0, headers } = response;
  const parts: Buffer[] = [];
  for await (const part of response as AsyncIterable<Buffer>) parts.push(part);
  if (status >= 300 && status < 400) throw new Error(`the reply leads elsewhere (${status})`);
  const text = Buffer.concat(parts).toString('utf8');
  return {
    status,
    headers: {
      get(name) {
        const value = headers[name];
        return value === undefined ? null : String(value);
      },
    },
    text: async () => text,
  };
}
