// The sweep over expired waits: it goes on after a failure, takes everything that is due, and ends when it is
// closed.

import { expect, onTestFinished, test } from 'vitest';
import { type ExpiryOptions, startExpiry } from '../../../src/service/requests/expiry.ts';

function start(expireDue: ExpiryOptions['requests']['expireDue']) {
  const failures: unknown[] = [];
  const expiry = startExpiry({
    requests: { expireDue },
    clock: () => 1234.5,
    everyMs: 5,
    onFailure: (error) => failures.push(error),
  });
  onTestFinished(() => expiry.close());
  return { expiry, failures };
}

test('a sweep continues until nothing is due, and the next one starts after it', async () => {
  const asked: [number, number][] = [];
  const ended = (count: number) => Array.from({ length: count }, (_, at) => `request ${at}`);
  const left = [500, 500, 3];
  const { failures } = start(async (atMs, countMax) => {
    asked.push([atMs, countMax]);
    return ended(left.shift() ?? 0);
  });
  await expect.poll(() => asked.length).toBeGreaterThan(4);
  expect(new Set(asked.map((each) => each.join()))).toEqual(new Set(['1234,500']));
  expect(left).toEqual([]);
  expect(failures).toEqual([]);
});

test('a failed record is reported, and tried again', async () => {
  let count = 0;
  const { failures } = start(async () => {
    count += 1;
    if (count < 3) throw new Error('locked');
    return [];
  });
  await expect.poll(() => count).toBeGreaterThan(4);
  expect(failures).toHaveLength(2);
});

test('closing waits for the sweep under way, and no other follows', async () => {
  let count = 0;
  let finish: (ended: readonly string[]) => void = () => {};
  const { expiry } = start(() => {
    count += 1;
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  await expect.poll(() => count).toBe(1);
  let isClosed = false;
  const closing = expiry.close().then(() => {
    isClosed = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(isClosed).toBe(false);
  finish(Array(500).fill('request'));
  await closing;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(count).toBe(1);
});
