// The fast check of a message's HMAC, compared with Node's own.

import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createHmacCheck, createHmacOf } from '../../../src/service/agents/hmac.ts';

const text = (maxLength: number) => fc.string({ unit: 'binary', maxLength });
const body = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  // Lengths around the limit for short messages.
  fc.integer({ min: 8_000, max: 8_200 }).map((length) => new Uint8Array(length).fill(0xa5)),
);

test('law: it equals createHmac for keys and messages of any length', () => {
  fc.assert(
    fc.property(text(130), text(100), body, fc.nat(63), (key, head, bytes, at) => {
      const isHmac = createHmacCheck(key);
      const hex = createHmac('sha256', key).update(head).update(bytes).digest('hex');
      const message = { head, body: bytes };
      expect(createHmacOf(Buffer.from(key))(message)).toBe(hex);
      expect(isHmac(hex, message)).toBe(true);
      expect(isHmac(hex.toUpperCase(), message)).toBe(true);
      const other = hex[at] === '0' ? '1' : '0';
      expect(isHmac(`${hex.slice(0, at)}${other}${hex.slice(at + 1)}`, message)).toBe(false);
      expect(isHmac(hex, { head: `${head}x`, body: bytes })).toBe(false);
    }),
    { numRuns: 500 },
  );
});

test.each([
  [
    'Jefe',
    'what do ya want for nothing?',
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  ['\u000b'.repeat(20), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
])('a case of RFC 4231: %j', (key, message, hex) => {
  const isHmac = createHmacCheck(key);
  expect(isHmac(hex, { head: '', body: Buffer.from(message) })).toBe(true);
  expect(isHmac(hex, { head: message, body: new Uint8Array() })).toBe(true);
});
