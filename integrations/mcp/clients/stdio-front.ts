// Serves a client that has started this process and speaks over its standard streams: one conversation, until
// either side ends.

import type { Readable, Writable } from 'node:stream';
import type { Conversation } from '../calls/conversation.ts';
import { readLines } from '../protocol/lines.ts';
import { type Message, readFromClient, writeMessage } from '../protocol/messages.ts';

export interface StdioFront {
  readonly input: Readable;
  readonly output: Writable;
  /** Opens the conversation; called once, with a function that sends to the client. */
  readonly open: (toClient: (message: Message) => void) => Conversation;
  readonly onEnd: () => void;
}

export function serveStdio({ input, output, open, onEnd }: StdioFront): void {
  const write = (message: Message) => {
    output.write(`${writeMessage(message)}\n`);
  };
  const conversation = open(write);
  output.on('error', onEnd);
  readLines(input, {
    onLine(line) {
      const read = readFromClient(line);
      if (read.ok) conversation.fromClient(read.message);
      else write(read.answer);
    },
    onEnd() {
      conversation.close();
      onEnd();
    },
  });
}
