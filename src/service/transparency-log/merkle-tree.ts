// The hash tree of RFC 9162, section 2.1: which subtrees an inclusion proof and a consistency proof consist of,
// and the check of such proofs. INVARIANT: a proof is accepted only if it leads from the record, or from the
// earlier root, to the root, with nothing left over.

import { hash, timingSafeEqual } from 'node:crypto';

/** 32 bytes. */
export type Hash = Uint8Array;

export function leafHash(data: string | Uint8Array): Hash {
  // The byte 0, as text and as bytes.
  const leaf = typeof data === 'string' ? `\0${data}` : Buffer.concat([Uint8Array.of(0), data]);
  return hash('sha256', leaf, 'buffer');
}

/** The bytes of one node; filled and hashed without a pause in between. */
const node = new Uint8Array(65);
node[0] = 1;

export function nodeHash(left: Hash, right: Hash): Hash {
  node.set(left, 1);
  node.set(right, 33);
  return hash('sha256', node, 'buffer');
}

/** The hash of a tree without leaves. */
export const emptyRoot: Hash = hash('sha256', '', 'buffer');

/** The leaves from `begin` to before `end`. */
export interface LeafRange {
  readonly begin: number;
  readonly end: number;
}

/** The largest power of two below `size`, which is at least 2. */
export function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** Returns the subtrees whose hashes prove that leaf `index` is in a tree of `size` leaves. */
export function inclusionRanges(index: number, size: number): readonly LeafRange[] {
  const ranges: LeafRange[] = [];
  let [begin, end] = [0, size];
  while (end - begin > 1) {
    const middle = begin + splitOf(end - begin);
    if (index < middle) {
      ranges.push({ begin: middle, end });
      end = middle;
    } else {
      ranges.push({ begin, end: middle });
      begin = middle;
    }
  }
  return ranges.toReversed();
}

/** Returns the subtrees whose hashes prove that a tree of `size` leaves continues one of `oldSize`. */
export function consistencyRanges(oldSize: number, size: number): readonly LeafRange[] {
  if (oldSize === 0 || oldSize === size) return [];
  const ranges: LeafRange[] = [];
  let [begin, end] = [0, size];
  while (oldSize < end) {
    const middle = begin + splitOf(end - begin);
    if (oldSize <= middle) {
      ranges.push({ begin: middle, end });
      end = middle;
    } else {
      ranges.push({ begin, end: middle });
      begin = middle;
    }
  }
  // The old tree itself needs no hash: who verifies has its root.
  return (begin === 0 ? ranges : [...ranges, { begin, end }]).toReversed();
}

export interface InclusionClaim {
  readonly leaf: Hash;
  readonly index: number;
  readonly size: number;
  readonly root: Hash;
}

/** RFC 9162, section 2.1.3.2. */
export function isIncluded({ leaf, index, size, root }: InclusionClaim, proof: readonly Hash[]): boolean {
  if (index < 0 || index >= size) return false;
  let [place, last, present] = [index, size - 1, leaf];
  for (const sibling of proof) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      present = nodeHash(sibling, present);
      while (place % 2 === 0 && place !== 0) [place, last] = [place / 2, Math.floor(last / 2)];
    } else present = nodeHash(present, sibling);
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 && isSame(present, root);
}

export interface TreeHead {
  readonly size: number;
  readonly root: Hash;
}

/** RFC 9162, section 2.1.4.2. Every tree continues the tree without leaves. */
export function isConsistent(old: TreeHead, head: TreeHead, proof: readonly Hash[]): boolean {
  if (old.size > head.size) return false;
  if (old.size === head.size) return proof.length === 0 && isSame(old.root, head.root);
  if (old.size === 0) return proof.length === 0 && isSame(old.root, emptyRoot);
  const isPowerOfTwo = splitOf(old.size * 2) === old.size;
  const [first, ...others] = isPowerOfTwo ? [old.root, ...proof] : proof;
  if (first === undefined) return false;
  let [place, last] = [old.size - 1, head.size - 1];
  while (place % 2 === 1) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  let [before, present] = [first, first];
  for (const sibling of others) {
    if (last === 0) return false;
    if (place % 2 === 1 || place === last) {
      before = nodeHash(sibling, before);
      present = nodeHash(sibling, present);
      while (place % 2 === 0 && place !== 0) [place, last] = [place / 2, Math.floor(last / 2)];
    } else present = nodeHash(present, sibling);
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  return last === 0 && isSame(before, old.root) && isSame(present, head.root);
}

export function isSame(one: Hash, other: Hash): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
