// Turns a stream of bytes into lines of one message each: the framing of stdio. A line that grows too long is
// given up.

import type { Readable } from 'node:stream';

export interface LineEvents {
  readonly onLine: (line: Buffer) => void;
  readonly onEnd: () => void;
}

const lineBytesMax = 16 * 1024 * 1024;

export function readLines(stream: Readable, { onLine, onEnd }: LineEvents): void {
  let parts: Buffer[] = [];
  let size = 0;
  let hasEnded = false;
  const end = () => {
    if (!hasEnded) onEnd();
    hasEnded = true;
  };
  stream.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...parts, chunk.subarray(start, at)]);
      parts = [];
      size = 0;
      start = at + 1;
      if (line.length > 0 && !(line.length === 1 && line[0] === 13)) onLine(line);
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > lineBytesMax) stream.destroy();
  });
  stream.on('end', end);
  stream.on('close', end);
  stream.on('error', end);
}
