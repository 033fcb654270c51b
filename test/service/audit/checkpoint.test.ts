// Checkpoints as text, and that the public key in the text is enough to check a checkpoint.

import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  checkpointText,
  createCheckpointSigner,
  readCheckpoint,
} from '../../../src/service/audit/checkpoint.ts';

const signer = createCheckpointSigner(randomBytes(32));
const signed = signer.sign({ sequence: 12, hash: 'ab'.repeat(32) }, 'end', 1_800_000_000_000);

test('a checkpoint is a line of text, and is parsed again', () => {
  const text = checkpointText(signed, signer);
  expect(text).toMatch(/^\{.*\}\n$/);
  expect(readCheckpoint(text)).toEqual(signed);
});

test.each(['', 'x', '[]', 'null', '1', '{}', '{"sequence":1}'])('`%s` is not a checkpoint', (text) => {
  expect(readCheckpoint(text)).toBeNull();
});

test.each([{ sequence: '1' }, { hash: 5 }, { purpose: 'other' }, { at_ms: 1.5 }, { signature: '' }])(
  'one with %j is none',
  (change) => {
    const fields = JSON.parse(checkpointText(signed, signer)) as object;
    expect(readCheckpoint(JSON.stringify({ ...fields, ...change }))).toBeNull();
  },
);

test('the same master key derives the same public key, which verifies the signature', () => {
  const masterKey = randomBytes(32);
  const [one, two] = [createCheckpointSigner(masterKey), createCheckpointSigner(masterKey)];
  expect(one.publicKey).toBe(two.publicKey);
  expect(one.publicKey).not.toBe(signer.publicKey);
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: signer.publicKey }, format: 'jwk' });
  const text = `{"at_ms":1800000000000,"hash":"${'ab'.repeat(32)}","purpose":"end","sequence":12,"type":"writ checkpoint"}`;
  expect(verify(null, Buffer.from(text), key, Buffer.from(signed.signature, 'base64url'))).toBe(true);
});

test.each(['', 'x', 'A'.repeat(86), '!'.repeat(86)])('the signature `%s` is not genuine', (signature) => {
  expect(signer.isGenuine(signed)).toBe(true);
  expect(signer.isGenuine({ ...signed, signature })).toBe(false);
});
