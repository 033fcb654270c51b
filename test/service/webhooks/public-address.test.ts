// Which addresses a name may resolve to before anything connects to it.

import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createPublicLookup, PrivateAddress } from '../../../src/service/webhooks/public-address.ts';

const v4 = (address: string) => ({ address, family: 4 });
const v6 = (address: string) => ({ address, family: 6 });
const open = [v4('93.184.216.34'), v6('2606:2800:220:1::1')];
const inside = [
  v4('10.0.0.7'),
  v4('127.0.0.1'),
  v4('169.254.169.254'),
  v6('::1'),
  v6('fd00::1'),
  v6('::ffff:10.0.0.7'),
];

function lookUp(found: readonly { address: string; family: number }[], all: boolean): Promise<unknown> {
  const look = createPublicLookup(() => Promise.resolve(found));
  return promisify((done: (error: Error | null, value?: unknown) => void) =>
    look('hooks.example.com', { all }, (error, value) => done(error, value)),
  )();
}

test('a name whose addresses are all public is resolved', async () => {
  expect(await lookUp(open, true)).toEqual(open);
  expect(await lookUp(open, false)).toBe(open[0]?.address);
});

test.each(inside)(
  'one address such as $address among public ones is enough to refuse a name',
  async (one) => {
    for (const found of [[one], [...open, one], [one, ...open], [open[0]!, one, open[1]!]])
      for (const all of [true, false]) await expect(lookUp(found, all)).rejects.toThrow(PrivateAddress);
  },
);

test('a name without an address is refused', async () => {
  for (const all of [true, false]) await expect(lookUp([], all)).rejects.toThrow(PrivateAddress);
});
