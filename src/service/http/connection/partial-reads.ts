// What the operating system hands over in one piece, up to 64 KiB, into small parts: hundreds of requests in one piece would
// be parsed without a pause. It costs some microseconds a read, so it is for times of a flood. INVARIANT: no byte is lost or
// moved; while the socket is paused no further part is parsed.

import type { Socket } from 'node:net';

const partBytes = 4 * 1024;

/** From the next read on. */
export function readInParts(socket: Socket): void {
  const push = socket.push.bind(socket);
  socket.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (!Buffer.isBuffer(chunk) || chunk.length <= partBytes) return push(chunk, encoding);
    let isMoreWanted = true;
    for (let at = 0; at < chunk.length; at += partBytes) {
      isMoreWanted = push(chunk.subarray(at, at + partBytes));
    }
    return isMoreWanted;
  };
  // Node's HTTP server reads past the stream until somebody else listens, too. While the socket is paused its handle is at
  // rest, and who listens then would not wake it.
  const listen = () => {
    if (socket.isPaused()) socket.once('resume', listen);
    else socket.on('data', () => undefined);
  };
  listen();
}
