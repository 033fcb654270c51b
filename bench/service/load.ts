// Puts load on one server over connections that stay open; each sends its next request as soon as the last
// one is answered. `node load.ts '{"port": ..., "connections": ..., ...}'` prints the latencies as one line
// of JSON. The program reads no more of a reply than it must, so that the measurement shows the server and
// not the load.

import { createHmac } from 'node:crypto';
import { connect } from 'node:net';
import type { ServerLine } from './server.ts';

export interface LoadOptions extends ServerLine {
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p50Microseconds: number;
  readonly p99Microseconds: number;
  readonly requests: number;
  readonly requestsWithWarmUp: number;
}

async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const makeRequest = createRequests(options);
  const latencies: number[] = [];
  const startedAt = performance.now();
  const measuredFrom = startedAt + options.warmUpMs;
  const measuredTo = measuredFrom + options.measureMs;
  let answered = 0;
  const note = (sentAt: number, answeredAt: number) => {
    answered += 1;
    if (sentAt >= measuredFrom && answeredAt <= measuredTo) latencies.push(answeredAt - sentAt);
    return answeredAt < measuredTo;
  };
  await Promise.all(
    Array.from({ length: options.connections }, () => runConnection(options.port, makeRequest, note)),
  );
  latencies.sort((a, b) => a - b);
  const at = (share: number) => Math.round((latencies[Math.floor(latencies.length * share)] ?? NaN) * 1000);
  return {
    requestsPerSecond: Math.round((latencies.length / options.measureMs) * 1000),
    p50Microseconds: at(0.5),
    p99Microseconds: at(0.99),
    requests: latencies.length,
    requestsWithWarmUp: answered,
  };
}

/**
 * So many signatures are made before the measurement: the agents that make them have machines of their own, and the load
 * shares that of the server.
 */
const signedPerSecond = 20_000;

/** Returns a function that makes the bytes of the next request; each signed request has a new nonce. */
function createRequests({
  measureMs,
  warmUpMs,
  apiKey,
  signingSecret,
  path,
  body,
}: LoadOptions): () => string {
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `X-Agent-API-Key: ${apiKey}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
  ].join('\r\n');
  const plain = `${head}\r\n${body}`;
  if (signingSecret === null) return () => plain;
  const time = Math.trunc(Date.now() / 1000);
  let count = 0;
  const sign = () => {
    const nonce = `${process.pid}-${count++}-bench`;
    const hmac = createHmac('sha256', signingSecret);
    const digest = hmac.update(`v1:${time}:${nonce}:POST:${path}:${body}`).digest('hex');
    return `X-Service-Signature: t=${time},n=${nonce},v1=${digest}`;
  };
  const signatures = Array.from({ length: ((measureMs + warmUpMs) / 1000) * signedPerSecond }, sign);
  return () => `${head}${signatures.pop() ?? sign()}\r\n\r\n${body}`;
}

/**
 * Sends requests until `note` returns false. `note` takes the times at which a request was sent and answered.
 */
function runConnection(
  port: number,
  makeRequest: () => string,
  note: (sentAt: number, answeredAt: number) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let received = '';
    let sentAt = 0;
    const send = () => {
      received = '';
      sentAt = performance.now();
      socket.write(makeRequest());
    };
    socket.once('connect', send);
    socket.once('error', reject);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const headEnd = received.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (received.length < headEnd + 4 + length) return;
      if (!received.startsWith('HTTP/1.1 200')) return reject(new Error(received));
      if (note(sentAt, performance.now())) return send();
      socket.destroy();
      resolve();
    });
  });
}

if (import.meta.main) {
  const options = JSON.parse(process.argv[2] ?? '') as LoadOptions;
  process.stdout.write(`${JSON.stringify(await runLoad(options))}\n`);
}
