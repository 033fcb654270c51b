// The parts that the verifier has of its own, against others: signatures, Merkle trees, canonical JSON.

import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { createRandom, type RandomSource } from '../../../../src/language/value/random.ts';
import { type CanonicalValue, canonicalJson } from '../../../../src/service/store/contract/canonical-json.ts';
import { tries } from '../../../support/tries.ts';
import { python, requirePython, sources } from '../python.ts';
import { consistencyPath, inclusionPath, leafHash, rootOf } from './log.ts';

beforeAll(requirePython);

/** What a program says that has `verifier`, and the values `given`. */
function inVerifier(given: unknown, program: string) {
  const start = 'import json, sys\nimport writ_verify as verifier\ngiven = json.load(sys.stdin)\n';
  const options = {
    input: JSON.stringify(given),
    env: { ...process.env, PYTHONPATH: sources },
    maxBuffer: 2 ** 26,
  };
  return JSON.parse(execFileSync(python, ['-B', '-c', start + program], options).toString());
}

function flipped(bytes: Buffer, bit: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[bit >> 3]! ^= 1 << (bit & 7);
  return changed;
}

/** RFC 8032, 7.1: tests 1 to 3. */
const vectors = [
  [
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    '',
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  ],
  [
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    '72',
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  ],
  [
    'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    'af82',
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  ],
] as const;
const order = 2n ** 252n + 27742317777372353535851937790883648493n;

test('Ed25519: takes the signatures of the standard and of Node, and no changed one', () => {
  const random = createRandom(1);
  const signed = vectors.map((one) => one.map((hex) => Buffer.from(hex, 'hex')) as [Buffer, Buffer, Buffer]);
  for (let count = 0; count < tries(3); count += 1) {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const message = Buffer.from([...Array(count)].map(() => random.below(256)));
    signed.push([
      Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url'),
      message,
      sign(null, message, privateKey),
    ]);
  }
  const changed = signed.flatMap(([key, message, signature]) => [
    [key, message, flipped(signature, random.below(512))],
    [flipped(key, random.below(256)), message, signature],
    [key, Buffer.concat([message, Buffer.of(0)]), signature],
    // The same signature with a larger number, which some programs take.
    [key, message, Buffer.concat([signature.subarray(0, 32), larger(signature.subarray(32))])],
  ]);
  // With this key, which has a small order, any signature of this form is one of every message.
  const small = Buffer.from('01'.padEnd(64, '0'), 'hex');
  changed.push([small, Buffer.of(1), Buffer.concat([small, Buffer.alloc(32)])]);
  const program = 'print(json.dumps([verifier.is_signed(*map(bytes.fromhex, one)) for one in given]))';
  const hex = (all: readonly (readonly Buffer[])[]) =>
    all.map((one) => one.map((part) => part.toString('hex')));
  expect(inVerifier(hex(signed), program)).toEqual(signed.map(() => true));
  expect(inVerifier(hex(changed), program)).toEqual(changed.map(() => false));
});

function larger(scalar: Buffer): Buffer {
  const number = BigInt(`0x${Buffer.from(scalar).reverse().toString('hex')}`) + order;
  return Buffer.from(number.toString(16).padStart(64, '0'), 'hex').reverse();
}

test('Merkle trees: every proof of every small log verifies, and no changed one', () => {
  const leaves = [...Array(33).keys()].map((at) => leafHash(String(at)));
  const hex = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('hex'));
  const sizes = [...Array(leaves.length).keys()].map((at) => leaves.slice(0, at + 1));
  const given = {
    leaves: hex(leaves),
    roots: hex(sizes.map(rootOf)),
    inclusion: sizes.map((some) => some.map((_, at) => hex(inclusionPath(at, some)))),
    consistency: sizes.map((some) => some.map((_, at) => hex(consistencyPath(at + 1, some)))),
  };
  const program = `
bytes_of = lambda all: [bytes.fromhex(one) for one in all]
leaves, roots = bytes_of(given['leaves']), bytes_of(given['roots'])
tree, faults, tried = verifier.Tree(), [], 0
def changed(path):
    for at in range(len(path)):
        yield path[:at] + [bytes(32)] + path[at + 1:]
        yield path[:at] + path[at + 1:]
    yield path + [bytes(32)]
for size, root in enumerate(roots, 1):
    tree.add(leaves[size - 1])
    if tree.root() != root:
        faults.append(['root', size])
    for at in range(size):
        path = bytes_of(given['inclusion'][size - 1][at])
        if verifier.root_of_inclusion(at, size, leaves[at], path) != root:
            faults.append(['inclusion', size, at])
        for other in changed(path):
            tried += 1
            if verifier.root_of_inclusion(at, size, leaves[at], other) == root:
                faults.append(['changed inclusion', size, at])
        for other in range(size):
            if other != at and verifier.root_of_inclusion(other, size, leaves[at], path) == root:
                faults.append(['other leaf', size, at, other])
        path, old = bytes_of(given['consistency'][size - 1][at]), roots[at]
        if not verifier.is_consistent((at + 1, size), (old, root), path):
            faults.append(['consistency', at + 1, size])
        for other in changed(path):
            if verifier.is_consistent((at + 1, size), (old, root), other):
                faults.append(['changed consistency', at + 1, size])
        if at + 1 < size and verifier.is_consistent((at + 1, size), (bytes(32), root), path):
            faults.append(['other root', at + 1, size])
print(json.dumps([faults, tried, verifier.Tree().root().hex()]))`;
  const [faults, tried, empty] = inVerifier(given, program) as [unknown[], number, string];
  expect(faults).toEqual([]);
  expect(tried).toBeGreaterThan(1_000);
  expect(empty).toBe(rootOf([]).toString('hex'));
});

function randomValue(random: RandomSource, depth = 0): CanonicalValue {
  const text = () => random.pick(['', 'a', 'é', '\u2028', '\u007f', '😀', '"\\\n\b\u001f', 'z\ufb33', 'zz']);
  const number = () =>
    random.pick([
      0,
      1,
      -1,
      1e21,
      1e-7,
      5e-324,
      2 ** 53,
      1e20,
      123456789012345680000,
      0.1,
      -1.5e-9,
      333333333.3333333,
    ]) * random.pick([1, 1, 3, 0.7]);
  const kind = random.below(depth > 2 ? 4 : 6);
  if (kind === 0) return text();
  if (kind === 1) return number();
  if (kind < 4) return random.pick([null, true, false]);
  const values = [...Array(random.below(5))].map(() => randomValue(random, depth + 1));
  return kind === 4 ? values : Object.fromEntries(values.map((value) => [text(), value]));
}

test('canonical JSON: reads and writes what the service writes, and nothing with two meanings', () => {
  const random = createRandom(2);
  const texts = [...Array(tries(300))].map(() => canonicalJson(randomValue(random)));
  const program = 'print(json.dumps([verifier.canonical_json(verifier.strict_json(one)) for one in given]))';
  expect(inVerifier(texts, program)).toEqual(texts);
  const refused = `
def is_refused(text):
    try:
        verifier.canonical_json(verifier.strict_json(text)).encode()
    except ValueError:
        return True
    return False
print(json.dumps([is_refused(one) for one in given]))`;
  const ambiguous = [
    '{"a":1,"a":1}',
    'NaN',
    '[Infinity]',
    '1e999',
    '"\\ud800"',
    '[1,]',
    '{"a":{"b":1,"b":2}}',
    '['.repeat(100_000),
  ];
  expect(inVerifier(ambiguous, refused)).toEqual(ambiguous.map(() => true));
});
