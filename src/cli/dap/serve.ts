// Runs the debugger over two streams, such as standard input and output. The protocol frames messages as the
// Language Server Protocol does, so the reader and writer for that protocol serve the debugger, too.

import type { Readable } from 'node:stream';
import { type Message, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver/node';
import type { DapRequest } from './protocol.ts';
import { DebugSession } from './session.ts';

/** Serves one editor. Resolves when the editor has gone. */
export async function serveDebugger(input: Readable, output: NodeJS.WritableStream): Promise<void> {
  const reader = new StreamMessageReader(input);
  const writer = new StreamMessageWriter(output);
  let seq = 0;
  await new Promise<void>((resolve) => {
    const send = (message: object): void => {
      seq += 1;
      void writer.write({ seq, ...message } as unknown as Message).catch(() => resolve());
    };
    const session = new DebugSession(send, resolve);
    // Requests run one after the other, because each may depend on the one before.
    let work = Promise.resolve();
    reader.listen((message) => {
      const request = message as unknown as DapRequest;
      if (request.type === 'request') work = work.then(() => session.take(request));
    });
    reader.onError(() => resolve());
    reader.onClose(() => resolve());
    input.once('end', () => void work.then(() => resolve()));
  });
  // Nothing more is read from the input, so the process can end.
  input.destroy();
}
