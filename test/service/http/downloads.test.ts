// Downloads side by side: in a turn of the event loop, all downloads together cost what one costs.

import type { FastifyReply } from 'fastify';
import { expect, test } from 'vitest';
import { createDownloads } from '../../../src/service/http/routing/downloads.ts';

test('pieces of all downloads are read one at a time, in turns with other work', async () => {
  const downloads = createDownloads();
  const reply = { type: () => reply, header: () => reply } as unknown as FastifyReply;
  let [sinceTurn, most, isOver] = [0, 0, false];
  const countTurns = () => {
    sinceTurn = 0;
    if (!isOver) setImmediate(countTurns);
  };
  async function* lines() {
    for (const piece of ['a', 'b', 'c']) {
      sinceTurn += 1;
      most = Math.max(most, sinceTurn);
      yield piece;
    }
  }
  countTurns();
  const read = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const sent = downloads.send(reply, { subject: 's', format: 'jsonl', atMs: 0, lines: lines() });
      const pieces = await sent.map(String).toArray();
      return pieces.join('');
    }),
  );
  isOver = true;
  expect(read).toEqual(Array.from({ length: 10 }, () => 'abc'));
  expect(most).toBeLessThanOrEqual(2);
});

test('a failed or abandoned download does not delay the others', async () => {
  const downloads = createDownloads();
  const reply = { type: () => reply, header: () => reply } as unknown as FastifyReply;
  let isLeft = false;
  async function* endless() {
    try {
      for (;;) yield 'x';
    } finally {
      isLeft = true;
    }
  }
  async function* failing(): AsyncGenerator<string> {
    yield 'x';
    throw new Error('the disk is full');
  }
  async function* short() {
    yield 'short';
  }
  const send = (lines: AsyncIterable<string>) =>
    downloads.send(reply, { subject: 's', format: 'jsonl', atMs: 0, lines });
  const [left, failed, good] = [send(endless()), send(failing()), send(short())];
  await expect(failed.toArray()).rejects.toThrow('the disk is full');
  for await (const _ of left) break;
  expect((await good.map(String).toArray()).join('')).toBe('short');
  expect(isLeft).toBe(true);
});
