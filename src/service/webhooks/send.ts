// Makes one attempt to deliver a message. Redirects are not followed and the answer's body is not read, so
// neither a slow nor a talkative receiver delays anything.

import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { lookupPublic, PrivateAddress } from './public-address.ts';
import { readTarget } from './target.ts';

export interface Attempt {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  /** Allows private addresses, and `http:` to them; only the operator's configuration may set this. */
  readonly arePrivateAddressesAllowed: boolean;
}

export type AttemptResult =
  | { readonly kind: 'delivered'; readonly status: number }
  /** `status` is null when there was no answer; `reason` names no address that the name resolved to. */
  | { readonly kind: 'failed'; readonly status: number | null; readonly reason: string };

/** Never rejects. */
export function send(attempt: Attempt): Promise<AttemptResult> {
  return new Promise((resolve) => {
    const failed = (reason: string, status: number | null = null): void =>
      resolve({ kind: 'failed', status, reason });
    const target = readTarget(attempt.url, attempt);
    if (target.kind === 'problem') return failed(target.detail);
    const request = open(attempt);
    const timer = setTimeout(() => request.destroy(new Error('no answer in time')), attempt.timeoutMs);
    request.on('response', (response) => {
      const status = response.statusCode ?? 0;
      clearTimeout(timer);
      response.destroy();
      if (status >= 200 && status < 300) resolve({ kind: 'delivered', status });
      else failed(`the receiver answered ${status}`, status);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      failed(error instanceof PrivateAddress ? error.message : (error.code ?? error.message));
    });
    request.end(attempt.body);
  });
}

function open({ url, headers, body, arePrivateAddressesAllowed }: Attempt): ClientRequest {
  const request = new URL(url).protocol === 'https:' ? requestHttps : requestHttp;
  return request(url, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'user-agent': 'Writ',
    },
    // A reused connection would rest on an earlier check of the address.
    agent: false,
    ...(arePrivateAddressesAllowed ? {} : { lookup: lookupPublic }),
  });
}
