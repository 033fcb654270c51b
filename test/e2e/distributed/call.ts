// One call over HTTP and its answer, over connections that are kept. The clients of a run share two
// processors with everything they test, and `fetch` would use most of their share.

import { Agent, request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export interface CallOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
}

const agent = new Agent({ keepAlive: true });

/** Posts the body; returns null when no answer came in time. */
export function post({ url, headers, body, timeoutMs }: CallOptions): Promise<Answer | null> {
  return new Promise((resolve) => {
    const all = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers };
    const sent = request(url, { method: 'POST', agent, headers: all }, (reply) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (part: string) => {
        text += part;
      });
      reply.on('error', () => end(null));
      reply.on('end', () => end(answerOf(reply.statusCode ?? 0, text)));
    });
    const giveUp = setTimeout(() => sent.destroy(new Error('no answer')), timeoutMs);
    const end = (answer: Answer | null) => {
      clearTimeout(giveUp);
      resolve(answer);
    };
    sent.on('error', () => end(null));
    // An answer that is cut off in the middle raises neither `error` nor `end`.
    sent.on('close', () => end(null));
    sent.end(body);
  });
}

function answerOf(status: number, text: string): Answer | null {
  try {
    return { status, body: JSON.parse(text) };
  } catch {
    return null;
  }
}
