// A connection that is read in parts. While held, it takes one piece and no more; when released, every byte
// arrives, in order and in parts.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readInParts } from '../../../src/service/http/connection/partial-reads.ts';

/** The number of bytes that Node reads at once. */
const pieceBytes = 64 * 1024;

/** Both ends of a connection. */
async function pair(): Promise<{ readonly near: Socket; readonly far: Socket }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const far = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  const [near] = (await accepted) as [Socket];
  onTestFinished(() => {
    near.destroy();
    far.destroy();
    server.close();
  });
  return { near, far };
}

test('a paused read gets one piece, and reads on demand get every byte in order', async () => {
  const { near, far } = await pair();
  const sent = randomBytes(4_000_000);
  let isHeld = true;
  const parts: Buffer[] = [];
  let [received, atHandMax] = [0, 0];
  const goOn = readInParts(near, () => isHeld);
  const ended = once(near, 'end');
  // Holds the connection as the request gate does, because a part may contain a request that must be answered
  // first.
  near.on('data', (part: Buffer) => {
    parts.push(part);
    received += part.length;
    atHandMax = Math.max(atHandMax, near.bytesRead - received);
    isHeld = parts.length % 7 === 0;
    if (isHeld)
      setImmediate(() => {
        isHeld = false;
        goOn();
      });
  });
  far.end(sent);
  let seen = -1;
  await vi.waitFor(() => {
    const isStill = near.bytesRead > 0 && near.bytesRead === seen;
    seen = near.bytesRead;
    expect(isStill).toBe(true);
  });
  expect(near.bytesRead).toBeLessThanOrEqual(pieceBytes);
  expect(parts).toEqual([]);
  isHeld = false;
  goOn();
  await ended;
  // Each part makes the stream ask for more; more must not arrive before the bytes at hand have gone.
  expect(atHandMax).toBeLessThanOrEqual(pieceBytes);
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(1024);
  expect(Buffer.concat(parts).equals(sent)).toBe(true);
});
