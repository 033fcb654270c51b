// Posts a batch to an HTTPS receiver and reads its answer, within limits of time and bytes. Redirects are not followed.
// INVARIANT: only a whole 2xx answer counts as delivered; a status that blames the content counts as refused, and all
// other answers as failed, to be tried again.

import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Delivery, reasonText, type TlsFiles, tlsOptions } from './delivery.ts';

export interface HttpsOptions {
  readonly url: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly timeoutMs: number;
  readonly isCompressed: boolean;
  readonly tls: TlsFiles;
}

export interface HttpsBatch {
  readonly body: string;
  readonly contentType: string;
  /** Judges the text of a 2xx answer; null when it has nothing to say against the delivery. */
  readonly problemIn: (answer: string) => string | null;
}

export interface HttpsSender {
  /** Never rejects. */
  send(batch: HttpsBatch): Promise<Delivery>;
  close(): void;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

const answerBytesMax = 64 * 1024;
const compress = promisify(gzip);

/** Statuses after which the same batch is of no use: malformed, too large, not processable. */
const contentStatuses: ReadonlySet<number> = new Set([400, 413, 422]);

export function createHttpsSender(options: HttpsOptions): HttpsSender {
  const isTls = new URL(options.url).protocol === 'https:';
  const agentOptions = { keepAlive: true, maxSockets: 1 };
  const agent = isTls
    ? new HttpsAgent({ ...agentOptions, ...tlsOptions(options.tls) })
    : new HttpAgent(agentOptions);
  const post = (body: Uint8Array, contentType: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const request = (isTls ? requestHttps : requestHttp)(options.url, {
        method: 'POST',
        agent,
        headers: {
          ...Object.fromEntries(options.headers),
          'content-type': contentType,
          'content-length': body.byteLength,
          ...(options.isCompressed ? { 'content-encoding': 'gzip' } : {}),
          'user-agent': 'Writ',
        },
      });
      const timer = setTimeout(() => request.destroy(new Error('no answer in time')), options.timeoutMs);
      request.on('close', () => clearTimeout(timer));
      request.on('error', reject);
      request.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          if (text.length > answerBytesMax) request.destroy(new Error('the answer is too long'));
        });
        response.on('error', reject);
        response.on('close', () => {
          const { statusCode: status = 0, headers, complete } = response;
          if (complete) resolve({ status, retryAfter: headers['retry-after'], text });
          else reject(new Error('the answer was cut off'));
        });
      });
      request.end(body);
    });
  return {
    async send({ body, contentType, problemIn }) {
      try {
        const bytes = options.isCompressed ? await compress(body) : Buffer.from(body);
        return deliveryOf(await post(bytes, contentType), problemIn);
      } catch (error) {
        return { kind: 'failed', reason: faultText(error), retryAfterMs: null };
      }
    },
    close: () => agent.destroy(),
  };
}

function deliveryOf({ status, retryAfter, text }: Answer, problemIn: HttpsBatch['problemIn']): Delivery {
  const reason = reasonText(`the receiver answered ${status}: ${text}`);
  if (status >= 200 && status < 300) {
    const problem = problemIn(text);
    return problem === null ? { kind: 'delivered' } : { kind: 'refused', reason: reasonText(problem) };
  }
  if (contentStatuses.has(status)) return { kind: 'refused', reason };
  return { kind: 'failed', reason, retryAfterMs: retryAfterMs(retryAfter) };
}

/** Milliseconds that a receiver asks to wait, in seconds or until a date (RFC 9110, section 10.2.3). */
function retryAfterMs(header: string | undefined): number | null {
  if (header === undefined) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}

/** The code of an error of the network, such as `ECONNREFUSED`; some errors have only a message. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return reasonText(String(error));
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'the certificate of the receiver is for another name';
  return reasonText(code ?? error.message);
}
