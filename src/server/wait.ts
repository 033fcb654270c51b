// `Prefer: wait=N` (RFC 7240) into a pause: a pending request is looked at again until it is decided, the time is over,
// the client has gone, or the service stops. INVARIANT: a wait changes when an answer comes and never what it says.

import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Parameter } from './operation.ts';

export interface Wait<T> {
  /** Yields the request as it stands now; null where it is gone. */
  readonly look: () => Promise<T | null>;
  readonly stopping: AbortSignal;
}

const waitSecondsMax = 55;
/** People take minutes; another process may have taken their decision, so only the store knows. */
const pollMs = 500;

export const preferHeader: Parameter = {
  ...{ name: 'Prefer', in: 'header', isRequired: false, schema: { type: 'string' }, example: 'wait=20' },
  description: `\`wait=N\` holds the answer for up to N seconds, at most ${waitSecondsMax}, while the request is pending.`,
};

/** What the reply is to say: `found`, or what has become of it by the end of the wait that the client asks for. */
export async function waitAsAsked<T extends { readonly status: string }>(
  found: T,
  exchange: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  { look, stopping }: Wait<T>,
): Promise<T> {
  const { request, reply } = exchange;
  const seconds = waitSeconds(request);
  if (seconds === 0) return found;
  reply.header('preference-applied', `wait=${seconds}`);
  const signal = AbortSignal.any([stopping, gone(reply)]);
  const deadline = performance.now() + seconds * 1000;
  let latest = found;
  while (latest.status === 'pending' && !signal.aborted) {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) break;
    // Being woken is the purpose of the signal, not a fault.
    await sleep(Math.min(pollMs, leftMs), undefined, { signal }).catch(() => undefined);
    latest = (await look()) ?? latest;
  }
  return latest;
}

/** 0 where no wait is asked for. */
function waitSeconds({ headers }: FastifyRequest): number {
  if (headers.prefer === undefined) return 0;
  const asked = /(?:^|,)\s*wait\s*=\s*"?(\d{1,6})"?\s*(?=[,;]|$)/i.exec(String(headers.prefer))?.[1];
  return Math.min(Number(asked ?? 0), waitSecondsMax);
}

/** Fires when nobody is there to read the answer. */
function gone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  return controller.signal;
}
