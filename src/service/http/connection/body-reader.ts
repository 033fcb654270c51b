// A body of limited size into one buffer. INVARIANT: more than the limit is never kept, a body that ends before its end is an
// error, and either is told once.

import type { IncomingMessage } from 'node:http';
import { ProblemError } from '../contract/problem.ts';

type BodyReader = (message: IncomingMessage, done: (read: Error | Buffer) => void) => void;

export function createBodyReader(bytesMax: number): BodyReader {
  return (message, done) => {
    if (Number(message.headers['content-length'] ?? 0) > bytesMax) return done(tooLarge());
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isTold = false;
    const tell = (read: Error | Buffer) => {
      if (isTold) return;
      isTold = true;
      done(read);
    };
    message.on('data', (chunk: Buffer) => {
      if (isTold) return;
      bytes += chunk.length;
      if (bytes > bytesMax) tell(tooLarge());
      else chunks.push(chunk);
    });
    // Nearly every body comes in one piece.
    message.on('end', () => tell(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    message.on('error', tell);
  };
}

function tooLarge(): ProblemError {
  return new ProblemError('body_too_large', 'the body is larger than this service takes');
}
