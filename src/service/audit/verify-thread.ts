// The worker thread that checks ranges of the chain of a store in a file: each from the record before it,
// whose hash is taken as it is stored. The caller compares that hash with the end of the range before.

import { parentPort, workerData } from 'node:worker_threads';
import type { Link } from '../store/contract/chain.ts';
import { createLaneEnds } from '../store/contract/lanes.ts';
import { sealKeyOf } from '../store/contract/seal.ts';
import type { SignedCheckpoint } from '../store/contract/store.ts';
import { openFileChain } from '../store/sqlite/chain/file-chain.ts';
import { checkSegment, witnessesOf } from './verify.ts';

export interface VerifyThreadData {
  readonly path: string;
  readonly masterKey: Uint8Array;
  readonly checkpoints: readonly SignedCheckpoint[];
}

/** Numbers of records: those after `begin`, up to `end`. */
export interface ChainRange {
  readonly begin: number;
  readonly end: number;
}

/** The record before the range and its last record; null when something in it is not as it was written. */
export type CheckedRange = { readonly from: Link; readonly to: Link } | null;

const recordsAtOnce = 500;

function check({ begin, end }: ChainRange): CheckedRange {
  const from = chain.linkAt(begin);
  if (from === null) return null;
  const ends = createLaneEnds(from);
  for (let after = begin; after < end; after += recordsAtOnce) {
    const segment = chain.segment(after, Math.min(recordsAtOnce, end - after));
    if (checkSegment(ends, segment, checking) !== null) return null;
  }
  return ends.last().sequence === end ? { from, to: ends.last() } : null;
}

if (parentPort === null) throw new Error('the chain verifier was started outside a worker thread');
const port = parentPort;
const { path, masterKey, checkpoints } = workerData as VerifyThreadData;
const chain = openFileChain(path);
const checking = { witnesses: witnessesOf(checkpoints), sealKey: sealKeyOf(masterKey) };
port.on('message', (range: ChainRange) => port.postMessage(check(range)));
