// Starts a server again that has ended, with pauses that grow while it ends soon after each start. INVARIANT: while a
// pause lasts, opening throws and nothing is sent, so no grant is used.

import type { Upstream } from '../calls/conversation.ts';
import type { OpenUpstream } from './shared-upstream.ts';

/** A server that lives for less than this many milliseconds has ended soon. */
const soonMs = 10_000;
const pauseMsMin = 1_000;
const pauseMsMax = 60_000;

/** Why a server is not started at the moment. */
export class ServerPausedError extends Error {}

/** Wraps `open`. `clock` is in milliseconds and never goes back. */
export function withRestarts(open: OpenUpstream, clock = () => performance.now()): OpenUpstream {
  let pauseMs = 0;
  let notBefore = Number.NEGATIVE_INFINITY;
  let lastWhy = '';
  return (events, schemaOf): Upstream => {
    const startedMs = clock();
    if (startedMs < notBefore) {
      const seconds = Math.ceil((notBefore - startedMs) / 1_000);
      throw new ServerPausedError(`${lastWhy}; it is started again in ${seconds} s at the earliest`);
    }
    let isClosed = false;
    const upstream = open(
      {
        ...events,
        onEnd(why) {
          if (!isClosed) {
            const isSoon = clock() - startedMs < soonMs;
            pauseMs = isSoon ? Math.min(Math.max(pauseMs * 2, pauseMsMin), pauseMsMax) : 0;
            notBefore = clock() + pauseMs;
            lastWhy = why;
          }
          events.onEnd(why);
        },
      },
      schemaOf,
    );
    return {
      send: upstream.send,
      close() {
        isClosed = true;
        upstream.close();
      },
    };
  };
}
