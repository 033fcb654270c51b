// API keys: their form, and that no typing error turns one key into another.

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { createApiKey, isSameDigest, parseApiKey, randomBase62 } from '../../../src/service/agents/keys.ts';

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

test('a key has a prefix, id, secret and checksum', () => {
  const key = createApiKey();
  expect(key.text).toMatch(/^writ_[0-9A-Za-z]{46}$/);
  expect(key.id).toBe(key.text.slice(5, 13));
  expect(key.digest).toBe(createHash('sha256').update(key.text).digest('hex'));
  const checksum = [...key.text.slice(-6)].reduce((sum, letter) => sum * 62 + letters.indexOf(letter), 0);
  expect(checksum).toBe(crc32(key.text.slice(0, -6)));
});

test('a key is parsed into its parts', () => {
  for (let count = 0; count < 200; count += 1) {
    const key = createApiKey();
    expect(parseApiKey(key.text)).toEqual(key);
  }
});

test('a change of any character is detected', () => {
  const { text } = createApiKey();
  for (let index = 0; index < text.length; index += 1) {
    for (const letter of `${letters}_- é`) {
      if (letter === text[index]) continue;
      expect(parseApiKey(text.slice(0, index) + letter + text.slice(index + 1))).toBeNull();
    }
  }
});

test('two exchanged neighbours are detected', () => {
  const { text } = createApiKey();
  for (let index = 5; index < text.length - 1; index += 1) {
    const [first = '', second = ''] = text.slice(index, index + 2);
    if (first === second) continue;
    expect(parseApiKey(text.slice(0, index) + second + first + text.slice(index + 2))).toBeNull();
  }
});

test('a key with text around it, or a part of a key, is refused', () => {
  const { text } = createApiKey();
  for (const wrong of [
    '',
    'writ_',
    ` ${text}`,
    `${text} `,
    `${text}\n`,
    `${text}0`,
    text.slice(0, -1),
    `${text}, ${text}`,
  ]) {
    expect(parseApiKey(wrong)).toBeNull();
  }
});

test('keys differ, and use the alphabet evenly', () => {
  const text = randomBase62(62_000);
  const counts = [...letters].map((letter) => text.split(letter).length - 1);
  // Each count is expected to be 1000; six standard deviations are about 190.
  expect(Math.min(...counts)).toBeGreaterThan(800);
  expect(Math.max(...counts)).toBeLessThan(1200);
  expect(new Set(Array.from({ length: 1000 }, () => createApiKey().id)).size).toBe(1000);
});

test('digests are equal only if all their bytes are', () => {
  const { digest } = createApiKey();
  expect(isSameDigest(digest, digest)).toBe(true);
  expect(isSameDigest(digest, createApiKey().digest)).toBe(false);
  expect(isSameDigest(digest, digest.slice(2))).toBe(false);
  expect(isSameDigest(digest, '')).toBe(false);
});
