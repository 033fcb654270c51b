// Replies that are long files, sent as they are read. INVARIANT: a stop waits neither for their end nor for a client that
// reads no further; the replies are cut.

import { Readable } from 'node:stream';

export interface Downloads {
  /** The lines as the body of a reply. */
  send(lines: AsyncIterable<string>): Readable;
  close(): void;
}

export function createDownloads(): Downloads {
  const open = new Set<Readable>();
  return {
    send(lines) {
      const sent = Readable.from(lines, { objectMode: false });
      open.add(sent);
      return sent.on('close', () => open.delete(sent));
    },
    close() {
      for (const one of open) one.destroy(new Error('the service stops'));
    },
  };
}
