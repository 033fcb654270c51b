// Sends syslog messages over TLS (RFC 5425): each with its number of bytes before it, one connection for a batch. Syslog
// has no acknowledgement, but TLS has an orderly end: a receiver answers our `close_notify` after it has read all that
// came before (RFC 5425, section 4.4). INVARIANT: a batch counts as delivered only when the kernel has taken it, the
// connection has lived on for a moment, and the receiver has answered the end of the connection without an error.

import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { type Delivery, type TlsFiles, tlsOptions } from './delivery.ts';
import { faultText } from './https.ts';

export interface SyslogOptions {
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
  readonly tls: TlsFiles;
  /** How long the connection has to live on after the last byte; a quarter of a second when absent. */
  readonly graceMs?: number;
  /** Ends the connection. */
  readonly signal: AbortSignal;
}

const defaultGraceMs = 250;

/** Never rejects. */
export function sendSyslog(options: SyslogOptions, messages: readonly string[]): Promise<Delivery> {
  const { host, port, timeoutMs, tls, signal, graceMs = defaultGraceMs } = options;
  return new Promise((resolve) => {
    const failed = (reason: string): void => {
      clearTimeout(timer);
      clearTimeout(grace);
      signal.removeEventListener('abort', stop);
      socket.destroy();
      resolve({ kind: 'failed', reason, retryAfterMs: null });
    };
    const stop = (): void => failed('the service is stopping');
    signal.addEventListener('abort', stop);
    let grace: NodeJS.Timeout | undefined;
    let [isEnding, isAnswered] = [false, false];
    const socket = connect({
      host,
      port,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...tlsOptions(tls),
    });
    const timer = setTimeout(() => failed('the receiver did not take the messages in time'), timeoutMs);
    socket.on('secureConnect', () => {
      socket.write(framesOf(messages), () => {
        grace = setTimeout(() => {
          isEnding = true;
          socket.end();
        }, graceMs);
      });
    });
    socket.on('end', () => {
      if (!isEnding) failed('the receiver closed the connection');
      isAnswered = true;
    });
    socket.on('error', (error) => failed(faultText(error)));
    socket.on('close', (hasError) => {
      if (hasError || !isAnswered) failed('the receiver closed the connection');
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      resolve({ kind: 'delivered' });
    });
    // What a receiver sends has no meaning in syslog.
    socket.resume();
  });
}

/** The messages, each after its number of bytes and a space. */
function framesOf(messages: readonly string[]): Buffer {
  return Buffer.concat(
    messages.flatMap((message) => {
      const bytes = Buffer.from(message);
      return [Buffer.from(`${bytes.length} `), bytes];
    }),
  );
}
