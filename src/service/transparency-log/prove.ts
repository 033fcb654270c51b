// Proofs from the stored tree, for people who have no access to the store: that a record is in the log of a
// checkpoint, and that a later checkpoint continues an earlier one. INVARIANT: a proof that is returned verifies;
// where the tree has been changed, there is none.

import type { ChainEntry } from '../store/contract/chain.ts';
import type { Store } from '../store/contract/store.ts';
import { checkpointNoteText, type ReadCheckpoint } from './checkpoint-note.ts';
import { consistencyRanges, type Hash, inclusionRanges, isConsistent, isIncluded } from './merkle-tree.ts';
import { hashesOfRanges, hashOfEntry, indexOf, MissingHashError, rootOf } from './tiles.ts';

/** The form in which a proof is given away. */
export interface InclusionProof {
  readonly log: string;
  readonly sequence: number;
  readonly leaf_index: number;
  readonly tree_size: number;
  readonly entry: ChainEntry;
  /** Hashes in base64. */
  readonly inclusion: readonly string[];
  readonly checkpoint: string;
}

export interface ConsistencyProof {
  readonly old_size: number;
  readonly new_size: number;
  readonly consistency: readonly string[];
  readonly old_checkpoint?: string;
  readonly checkpoint: string;
}

/**
 * `absent`: there is no such record. `pruned`: the record was deleted, and only its hash is left. `later`: the
 * checkpoint does not cover the record yet. `changed`: the record or the tree is not as it was written.
 */
export type ProofProblem = 'absent' | 'pruned' | 'later' | 'changed';

type ProvedStore = Pick<Store, 'tree' | 'chain'>;

export async function proveRecord(
  { tree, chain }: ProvedStore,
  sequence: number,
  checkpoint: ReadCheckpoint,
): Promise<InclusionProof | ProofProblem> {
  const { records, pruning } = await chain.segment(sequence - 1, 1);
  const record = records.find(({ entry }) => entry.sequence === sequence);
  const index = await indexOf(tree, sequence);
  if (record === undefined)
    return pruning !== null && sequence <= pruning.sequence
      ? 'pruned'
      : index === null
        ? 'absent'
        : 'changed';
  const { origin, size, root } = checkpoint;
  if (index === null || index >= size) return isBeforeEnd(tree, sequence, size);
  const hashes = await provable(() => hashesOfRanges(tree, inclusionRanges(index, size)));
  const claim = { leaf: hashOfEntry(record.entry), index, size, root };
  if (hashes === null || !isIncluded(claim, hashes)) return 'changed';
  return {
    log: origin,
    sequence,
    leaf_index: index,
    tree_size: size,
    entry: record.entry,
    inclusion: hashes.map(base64),
    checkpoint: checkpointNoteText(checkpoint),
  };
}

/** A record that the tree lacks was inserted if the tree has later ones. */
async function isBeforeEnd(
  tree: ProvedStore['tree'],
  sequence: number,
  size: number,
): Promise<'later' | 'changed'> {
  const last = await tree.last();
  const [first = 0, count = 0] = last?.runs.at(-1) ?? [];
  return size > 0 && sequence < first + count && (await indexOf(tree, sequence)) === null
    ? 'changed'
    : 'later';
}

export async function proveConsistency(
  { tree }: Pick<Store, 'tree'>,
  oldSize: number,
  checkpoint: ReadCheckpoint,
): Promise<ConsistencyProof | 'changed'> {
  const { size, root } = checkpoint;
  const hashes = await provable(() => hashesOfRanges(tree, consistencyRanges(oldSize, size)));
  const oldRoot = await provable(() => rootOf(tree, oldSize));
  if (hashes === null || oldRoot === null) return 'changed';
  if (!isConsistent({ size: oldSize, root: oldRoot }, { size, root }, hashes)) return 'changed';
  return {
    old_size: oldSize,
    new_size: size,
    consistency: hashes.map(base64),
    checkpoint: checkpointNoteText(checkpoint),
  };
}

async function provable<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MissingHashError) return null;
    throw error;
  }
}

function base64(hash: Hash): string {
  return Buffer.from(hash).toString('base64');
}

/** The proof as C2SP tlog-proof text; it has no entry, whose canonical JSON a verifier needs beside it. */
export function proofText({ leaf_index: index, inclusion, checkpoint }: InclusionProof): string {
  const hashes = inclusion.map((hash) => `${hash}\n`).join('');
  return `c2sp.org/tlog-proof@v1\nindex ${index}\n${hashes}\n${checkpoint}`;
}
