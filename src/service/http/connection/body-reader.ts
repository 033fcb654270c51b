// A body of limited size into one buffer, as a content-type parser of Fastify. INVARIANT: more than the limit is never
// kept, and a body that ends before its end is an error.

import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../contract/problem.ts';

type BodyReader = (
  request: FastifyRequest,
  message: IncomingMessage,
  done: (error: Error | null, body?: Buffer) => void,
) => void;

export function createBodyReader(bytesMax: number): BodyReader {
  return function readBody({ headers }, message, done) {
    if (Number(headers['content-length'] ?? 0) > bytesMax) return done(tooLarge());
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stop = () => message.off('data', onData).off('end', onEnd).off('error', onError);
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes > bytesMax) {
        stop();
        done(tooLarge());
      }
    };
    const onEnd = () => {
      stop();
      // Nearly every body comes in one piece.
      done(null, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    };
    const onError = (error: Error) => {
      stop();
      done(error);
    };
    message.on('data', onData).on('end', onEnd).on('error', onError);
  };
}

function tooLarge(): ProblemError {
  return new ProblemError('body_too_large', 'the body is larger than this service takes');
}
