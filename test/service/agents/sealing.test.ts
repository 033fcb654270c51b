// Sealed secrets open only with their owner and key.

import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { deriveKey, seal, unseal } from '../../../src/service/agents/sealing.ts';

const key = deriveKey(randomBytes(32), 'a test');

test('a sealed text opens again, and looks different each time', () => {
  const sealed = seal(key, 'agent-1', 'secret ✓');
  expect(unseal(key, 'agent-1', sealed)).toBe('secret ✓');
  expect(seal(key, 'agent-1', 'secret ✓')).not.toBe(sealed);
});

test('another key or owner cannot open it', () => {
  const sealed = seal(key, 'agent-1', 'secret');
  expect(unseal(key, 'agent-2', sealed)).toBeNull();
  expect(unseal(deriveKey(randomBytes(32), 'a test'), 'agent-1', sealed)).toBeNull();
});

test('each purpose has its own key', () => {
  const master = randomBytes(32);
  expect(deriveKey(master, 'one')).not.toEqual(deriveKey(master, 'other'));
  expect(deriveKey(master, 'one')).toEqual(deriveKey(master, 'one'));
});

test('a changed or shortened text cannot be opened', () => {
  const bytes = Buffer.from(seal(key, 'agent-1', 'secret').slice(3), 'base64url');
  for (let index = 0; index < bytes.length; index += 1) {
    const changed = Buffer.from(bytes);
    changed[index]! ^= 1;
    expect(unseal(key, 'agent-1', `v1.${changed.toString('base64url')}`)).toBeNull();
    expect(unseal(key, 'agent-1', `v1.${bytes.toString('base64url', 0, index)}`)).toBeNull();
  }
  for (const text of ['', 'v1.', 'v2.AAAA', 'plain']) expect(unseal(key, 'agent-1', text)).toBeNull();
});
