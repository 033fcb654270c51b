// One reader of hints as a stream of Server-Sent Events. INVARIANT: what a client does not read is not kept: of each kind
// one hint waits at most, and who has read nothing from one sign of life to the next is cut off.

import { Readable } from 'node:stream';

export interface ChangeStream {
  /** The body of the reply. */
  readonly body: Readable;
  /** That something of the kind has changed. */
  hint(kind: string, at: string): void;
  /** A comment, by which both sides know that the other is there. */
  signOfLife(): void;
  end(): void;
}

/** How long a client waits before it comes again. */
const retryMs = 2_000;
/** So little is made ahead of what the client reads, besides what Node and the operating system take. */
const aheadBytes = 1_024;

export function createChangeStream(): ChangeStream {
  /** By kind, when it changed. */
  const waiting = new Map<string, string>();
  let isWanted = false;
  /** Since the sign of life before. */
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
      // Who does not read would hold up the end for ever.
      if (isWanted) body.push(null);
      else body.destroy();
      isWanted = false;
    },
  };
}
