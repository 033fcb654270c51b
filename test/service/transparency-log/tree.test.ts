// The hash tree: the test vectors of RFC 6962 implementations, and laws for every size of a tree.

import { expect, test } from 'vitest';
import {
  consistencyRanges,
  emptyRoot,
  type Hash,
  inclusionRanges,
  isConsistent,
  isIncluded,
  type LeafRange,
  leafHash,
} from '../../../src/service/transparency-log/merkle-tree.ts';
import {
  hashesOfRanges,
  indexOf,
  MissingHashError,
  readEdge,
  rootOf,
} from '../../../src/service/transparency-log/tiles.ts';
import { tries } from '../../support/tries.ts';
import { createMemoryTree, definedRoot, type MemoryTree, storedLeaves } from './trees.ts';

/** The inputs and roots that Certificate Transparency's own tests use. */
const vectorInputs = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const vectorRoots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const dataOf = (index: number): Buffer => Buffer.from(`record ${index}`);

async function treeOf(size: number, atOnce = 7): Promise<MemoryTree> {
  const tree = createMemoryTree();
  for (let at = 0; at < size; at += atOnce)
    tree.append(Array.from({ length: Math.min(atOnce, size - at) }, (_, one) => leafHash(dataOf(at + one))));
  return tree;
}

const hex = (hash: Hash): string => Buffer.from(hash).toString('hex');

test('the roots are those of the test vectors', async () => {
  const tree = createMemoryTree();
  expect(hex(emptyRoot)).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  for (const [at, input] of vectorInputs.entries()) {
    tree.append([leafHash(Buffer.from(input, 'hex'))]);
    expect(hex(await rootOf(tree, at + 1))).toBe(vectorRoots[at]);
  }
});

test('the proofs are those of the test vectors', async () => {
  const tree = createMemoryTree();
  tree.append(vectorInputs.map((input) => leafHash(Buffer.from(input, 'hex'))));
  const inclusion = await hashesOfRanges(tree, inclusionRanges(5, 8));
  expect(inclusion.map(hex)).toEqual([
    'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  ]);
  const consistency = await hashesOfRanges(tree, consistencyRanges(6, 8));
  expect(consistency.map(hex)).toEqual([
    '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
    'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  ]);
});

/** `npm run laws` tries every size up to 300. */
const sizesMax = Math.min(300, tries(80));

/** The hash of a range depends on the leaves alone, so it is computed once for the proofs of all sizes. */
async function createHashOf(tree: MemoryTree): Promise<(range: LeafRange) => Hash> {
  const ranges = new Map<string, LeafRange>();
  for (let size = 0; size <= sizesMax; size += 1)
    for (let at = 0; at < size; at += 1)
      for (const range of [...inclusionRanges(at, size), ...consistencyRanges(at, size)])
        ranges.set(`${range.begin} ${range.end}`, range);
  const hashes = await hashesOfRanges(tree, [...ranges.values()]);
  const byRange = new Map([...ranges.keys()].map((key, at) => [key, hashes[at]!]));
  return ({ begin, end }) => byRange.get(`${begin} ${end}`)!;
}

test('roots from tiles are those of the definition, also of every earlier size', async () => {
  const tree = await treeOf(sizesMax);
  expect(await storedLeaves(tree)).toBe(sizesMax);
  const data = Array.from({ length: sizesMax }, (_, at) => dataOf(at));
  for (let size = 0; size <= sizesMax; size += 1)
    expect(hex(await rootOf(tree, size))).toBe(hex(definedRoot(data.slice(0, size))));
});

test('every inclusion proof of every size verifies, and no changed one does', async () => {
  const tree = await treeOf(sizesMax);
  const hashOf = await createHashOf(tree);
  let checked = 0;
  for (let size = 1; size <= sizesMax; size += 1) {
    const root = await rootOf(tree, size);
    for (let index = 0; index < size; index += 1) {
      const proof = inclusionRanges(index, size).map(hashOf);
      const claim = { leaf: leafHash(dataOf(index)), index, size, root };
      if (!isIncluded(claim, proof)) throw new Error(`${index} of ${size} is not proved`);
      checked += 1;
      // One change for each proof, another one each time; all of them for a few sizes.
      const changes = size % 37 === 0 ? changesOf(proof) : [changesOf(proof)[checked % (proof.length + 2)]!];
      for (const changed of changes)
        if (isIncluded(claim, changed)) throw new Error(`a changed proof of ${index} of ${size} passes`);
      const other = (index + 1) % size;
      if (size > 1 && isIncluded({ ...claim, index: other }, proof))
        throw new Error(`the proof of ${index} passes for ${other} of ${size}`);
    }
  }
  expect(checked).toBe((sizesMax * (sizesMax + 1)) / 2);
});

test('every consistency proof verifies, and no changed one does', async () => {
  const tree = await treeOf(sizesMax);
  const roots = await Promise.all(Array.from({ length: sizesMax + 1 }, (_, size) => rootOf(tree, size)));
  const hashOf = await createHashOf(tree);
  let checked = 0;
  for (let size = 0; size <= sizesMax; size += 1)
    for (let oldSize = 0; oldSize <= size; oldSize += 1) {
      const proof = consistencyRanges(oldSize, size).map(hashOf);
      const [old, head] = [
        { size: oldSize, root: roots[oldSize]! },
        { size, root: roots[size]! },
      ];
      if (!isConsistent(old, head, proof)) throw new Error(`${oldSize} to ${size} is not proved`);
      checked += 1;
      if (oldSize === 0 || oldSize === size) continue;
      const changed = changesOf(proof)[checked % (proof.length + 2)]!;
      if (isConsistent(old, head, changed))
        throw new Error(`a changed proof of ${oldSize} to ${size} passes`);
      if (isConsistent({ ...old, root: roots[oldSize - 1]! }, head, proof))
        throw new Error(`a fork at ${oldSize} passes`);
      if (isConsistent(head, old, proof))
        throw new Error(`a log that shrinks from ${size} to ${oldSize} passes`);
    }
  expect(checked).toBe(((sizesMax + 1) * (sizesMax + 2)) / 2);
});

/** The proof with one bit of each hash flipped, one hash more, and one hash less where it has any. */
function changesOf(proof: readonly Hash[]): readonly (readonly Hash[])[] {
  const flipped = proof.map((hash, at) => {
    const other = Buffer.from(hash);
    other[at % 32]! ^= 1 << (at % 8);
    return proof.with(at, other);
  });
  return [...flipped, [...proof, emptyRoot], proof.length > 0 ? proof.slice(1) : [emptyRoot]];
}

test('every bit of a leaf, a root and a proof counts', async () => {
  const [index, size] = [37, 100];
  const tree = await treeOf(size);
  const proof = await hashesOfRanges(tree, inclusionRanges(index, size));
  const claim = { leaf: leafHash(dataOf(index)), index, size, root: await rootOf(tree, size) };
  const all = [claim.leaf, claim.root, ...proof];
  for (let bit = 0; bit < all.length * 256; bit += 1) {
    const [leaf, root, ...hashes] = all.map((hash, at) => {
      const other = Buffer.from(hash);
      if (at === Math.floor(bit / 256)) other[Math.floor((bit % 256) / 8)]! ^= 1 << (bit % 8);
      return other;
    });
    expect(isIncluded({ ...claim, leaf: leaf!, root: root! }, hashes)).toBe(false);
  }
});

test('appending one by one, together, or after a restart makes the same tiles', async () => {
  const [one, together] = [await treeOf(700, 1), await treeOf(700, 700)];
  expect(await readEdge(one)).toEqual(one.edge());
  expect(one.edge()).toEqual(together.edge());
  for (const size of [1, 255, 256, 257, 511, 512, 513, 700])
    expect(await rootOf(one, size)).toEqual(await rootOf(together, size));
});

test('a tree of several levels has the root of the definition', async () => {
  const size = 256 * 256 + 3;
  const tree = createMemoryTree();
  const data = Array.from({ length: size }, (_, at) => dataOf(at));
  tree.append(data.map(leafHash));
  expect(hex(await rootOf(tree, size))).toBe(hex(definedRoot(data)));
  expect(await readEdge(tree)).toEqual(tree.edge());
});

test('records are found by number, beside gaps', async () => {
  const tree = createMemoryTree({ first: 11, gapEvery: 100 });
  tree.append(Array.from({ length: 600 }, (_, at) => leafHash(dataOf(at))));
  for (const index of [0, 99, 100, 255, 256, 257, 599])
    expect(await indexOf(tree, 11 + index + Math.floor(index / 100))).toBe(index);
  for (const gap of [10, 111, 212, 700]) expect(await indexOf(tree, gap)).toBeNull();
});

test('a tree that lacks a hash proves nothing', async () => {
  const tree = await treeOf(10);
  await expect(rootOf(tree, 11)).rejects.toBeInstanceOf(MissingHashError);
});
