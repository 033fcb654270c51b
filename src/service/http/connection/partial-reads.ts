// Splits what the operating system hands over in one piece, up to 64 KiB, into small parts. Two thousand
// requests in one piece would be parsed without a pause, and each costs as much again when its connection
// ends. Splitting costs some microseconds a read, so it is for times of a flood. INVARIANT: no byte is lost
// or moved, and while the connection is held no further part is parsed and, with one piece at hand, nothing
// more is read.

import type { Socket } from 'node:net';

/** Most requests fit into one part, and a part holds few of the smallest requests. */
const partBytes = 1024;

/**
 * Reads in parts from the next read on. The returned function goes on once the connection is no longer held.
 */
export function readInParts(socket: Socket, isHeld: () => boolean): () => void {
  const push = socket.push.bind(socket);
  const read = socket._read.bind(socket);
  /** Bytes that were read but not handed on yet; null marks their end. */
  const rest: unknown[] = [];
  let isGoingOn = false;

  function goOn(): void {
    if (isGoingOn) return;
    isGoingOn = true;
    while (rest.length > 0 && !isHeld()) push(takePart(rest));
    isGoingOn = false;
  }

  // Pausing the socket is not enough: Node resumes it at the end of each request that it has parsed.
  socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (rest.length === 0 && isPart(chunk) && !isHeld()) return push(chunk, encoding);
    rest.push(chunk);
    goOn();
    return rest.length === 0;
  };
  // The stream asks for more after each part, and does not know of the bytes at hand.
  socket._read = (size) => {
    if (rest.length === 0) read(size);
    else goOn();
  };
  socket.once('close', () => void rest.splice(0));
  listen(socket);
  return goOn;
}

function isPart(chunk: unknown): boolean {
  return !Buffer.isBuffer(chunk) || chunk.length <= partBytes;
}

/** Takes a part off the front of `rest`, which must not be empty. */
function takePart(rest: unknown[]): unknown {
  const [first] = rest;
  if (isPart(first)) return rest.shift();
  const bytes = first as Buffer;
  rest[0] = bytes.subarray(partBytes);
  return bytes.subarray(0, partBytes);
}

/**
 * Makes Node read through the stream: its HTTP server reads past the stream until somebody else listens, too.
 * While the socket is paused its handle is at rest, and a new listener would not wake it.
 */
function listen(socket: Socket): void {
  if (socket.isPaused()) socket.once('resume', () => listen(socket));
  else socket.on('data', ignore).off('data', ignore);
}

function ignore(): void {}
