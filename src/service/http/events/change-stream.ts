// Sends hints to one reader as a stream of Server-Sent Events. INVARIANT: what a client does not read is not
// kept: at most one hint of each kind waits, and a client that has read nothing from one sign of life to the
// next is cut off.

import { Readable } from 'node:stream';

export interface ChangeStream {
  /** The body of the reply. */
  readonly body: Readable;
  /** Sends a hint that something of the kind has changed. */
  hint(kind: string, at: string): void;
  /** Sends a comment, which shows both sides that the other is there. */
  signOfLife(): void;
  end(): void;
}

/** How long a client waits before it connects again. */
const retryMs = 2_000;
/** How much is made ahead of what the client reads, besides what Node and the operating system take. */
const aheadBytes = 1_024;

export function createChangeStream(): ChangeStream {
  /** Hints that wait: when something changed, by kind. */
  const waiting = new Map<string, string>();
  let isWanted = false;
  /** Whether nothing has been read since the last sign of life. */
  let isStuck = false;
  const body = new Readable({
    highWaterMark: aheadBytes,
    read() {
      isWanted = true;
      isStuck = false;
      flush();
    },
  });
  body.push(`retry: ${retryMs}\n\n`);

  function flush(): void {
    if (!isWanted || waiting.size === 0 || body.destroyed) return;
    const events = [...waiting].map(([kind, at]) => `event: ${kind}\ndata: ${JSON.stringify({ at })}\n\n`);
    waiting.clear();
    isWanted = body.push(events.join(''));
  }

  return {
    body,
    hint(kind, at) {
      waiting.set(kind, at);
      flush();
    },
    signOfLife() {
      if (isWanted) isWanted = body.push(': \n\n');
      else if (isStuck) body.destroy();
      else isStuck = true;
    },
    end() {
      // A client that does not read would hold up the end for ever.
      if (isWanted) body.push(null);
      else body.destroy();
      isWanted = false;
    },
  };
}
