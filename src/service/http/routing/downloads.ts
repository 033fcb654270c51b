// Sends replies that are long files while they are read, under a file name. However many downloads run, one
// piece is read at a time, and other work has its turn after each piece. INVARIANT: a stop waits neither for
// downloads to end nor for a client that has stopped reading; the replies are cut.

import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

export interface Download {
  /** What the file holds, in lower case with hyphens, such as `requests`. */
  readonly subject: string;
  readonly format: 'jsonl' | 'csv';
  /** Milliseconds since 1970; the file name contains this day in UTC. */
  readonly atMs: number;
  readonly lines: AsyncIterable<string>;
}

export interface Downloads {
  /** The lines as the body of the reply; sets the reply's content type and file name. */
  send(reply: FastifyReply, download: Download): Readable;
  close(): void;
}

const types = {
  jsonl: 'application/jsonl; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
} as const;

export function createDownloads(): Downloads {
  const open = new Set<Readable>();
  const byTurns = createTurns();
  return {
    send(reply, { subject, format, atMs, lines }) {
      const day = new Date(atMs).toISOString().slice(0, 10);
      reply.type(types[format]);
      reply.header('content-disposition', `attachment; filename="writ-${subject}-${day}.${format}"`);
      const sent = Readable.from(byTurns(lines), { objectMode: false });
      open.add(sent);
      return sent.on('close', () => open.delete(sent));
    },
    close() {
      for (const one of open) one.destroy(new Error('the service is stopping'));
    },
  };
}

/** Takes the pieces of all given sequences one at a time, with a turn of the event loop after each piece. */
function createTurns(): (lines: AsyncIterable<string>) => AsyncGenerator<string> {
  let last: Promise<unknown> = Promise.resolve();
  const next = async (pieces: AsyncIterator<string>): Promise<IteratorResult<string>> => {
    const piece = last.then(() => pieces.next());
    last = piece.then(() => turn()).catch(() => undefined);
    return await piece;
  };
  return async function* byTurns(lines) {
    const pieces = lines[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { value, done } = await next(pieces);
        if (done === true) return;
        yield value;
      }
    } finally {
      await pieces.return?.();
    }
  };
}
