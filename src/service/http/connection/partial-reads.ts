// What the operating system hands over in one piece, up to 64 KiB, into small parts: two thousand requests in one piece would
// be parsed without a pause, and each costs as much again when its connection ends. INVARIANT: no byte is lost or moved, and
// while the connection is held no further part is parsed.

import type { Socket } from 'node:net';

/** Most requests fit into one, and few of the smallest. */
const partBytes = 1024;

/** To be called before the first byte is read. The function returned goes on once the connection is not held any more. */
export function readInParts(socket: Socket, isHeld: () => boolean): () => void {
  const push = socket.push.bind(socket);
  /** Of bytes, and null for their end. */
  const rest: unknown[] = [];
  let isGoingOn = false;

  function goOn(): void {
    if (isGoingOn) return;
    isGoingOn = true;
    while (rest.length > 0 && !isHeld()) {
      const [first] = rest;
      if (Buffer.isBuffer(first) && first.length > partBytes) {
        rest[0] = first.subarray(partBytes);
        push(first.subarray(0, partBytes));
      } else {
        rest.shift();
        push(first);
      }
    }
    isGoingOn = false;
  }

  // Pausing the socket is not enough: Node resumes it with the end of each request that it has parsed.
  socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
    const isPart = !Buffer.isBuffer(chunk) || chunk.length <= partBytes;
    if (isPart && rest.length === 0 && !isHeld()) return push(chunk, encoding);
    rest.push(chunk);
    goOn();
    return rest.length === 0;
  };
  // Node's HTTP server reads past the stream until somebody else listens, too.
  socket.on('data', ignore).off('data', ignore);
  return goOn;
}

function ignore(): void {}
