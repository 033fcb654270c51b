// Discards the unread body of a refused request, so that its sender gets to read the reply. The first part is
// read at once, and is the whole of nearly every body. Of all larger bodies together, one part is read at a
// time, with a pause after each: discarding costs as much memory traffic as using. INVARIANT: at most `bytesMax`
// bytes of a body are read.

import type { IncomingMessage } from 'node:http';

const bytesMax = 1024 * 1024;
/** Bytes of a body that are read in one go. */
const pieceBytes = 64 * 1024;
const pauseMs = 20;
/** Bodies that may wait for their turn; when one more comes, its connection is closed instead. */
const waitingMax = 100;

export type DiscardBody = (message: IncomingMessage) => Promise<boolean>;

/** The returned function resolves to whether the body has ended, so that the connection may be used again. */
export function createBodyDiscarder(): DiscardBody {
  const waiting: (() => void)[] = [];

  function takeTurn(): void {
    const [resume] = waiting;
    resume?.();
    waiting.shift();
    if (waiting.length > 0) setTimeout(takeTurn, pauseMs);
  }

  /** Queues a body for its next piece; false when too many bodies wait. */
  function waitTurn(resume: () => void): boolean {
    if (waiting.length >= waitingMax) return false;
    if (waiting.push(resume) === 1) setTimeout(takeTurn, pauseMs);
    return true;
  }

  return (message) => {
    if (message.readableEnded || message.destroyed) return Promise.resolve(message.readableEnded);
    if (lengthOf(message) > bytesMax) return Promise.resolve(false);
    if (isWithoutBody(message)) return Promise.resolve(true);
    return new Promise((resolve) => {
      let [bytes, piece] = [0, 0];
      message.on('data', ({ length }: Buffer) => {
        bytes += length;
        piece += length;
        if (bytes <= bytesMax && piece < pieceBytes) return;
        piece = 0;
        message.pause();
        if (bytes > bytesMax || !waitTurn(() => message.resume())) resolve(false);
      });
      message.once('end', () => resolve(true));
      message.once('close', () => resolve(false));
      message.resume();
    });
  };
}

function lengthOf({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}

function isWithoutBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
}
