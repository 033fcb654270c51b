// The chain of records into whether it is as it was written, or the first place where it is not. INVARIANT: memory is
// bounded by one stretch of the chain, and a chain that is found whole matches every checkpoint that it can be compared
// with.

import { setImmediate as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  type ChainEntry,
  type ChainRecord,
  chainStart,
  type LaterState,
  type Link,
  linkHash,
} from '../store/contract/chain.ts';
import type { ChainStretch, SignedCheckpoint, Store } from '../store/contract/store.ts';
import { type CheckpointSigner, createCheckpointSigner } from './checkpoint.ts';
import { nameOf } from './entry.ts';

export type ChainDifference =
  /** A record is not there. */
  | 'missing'
  /** A record is there that was never written: its number is taken, or before the first. */
  | 'inserted'
  | 'content'
  | 'hash'
  /** A request stands otherwise than what became of it says. */
  | 'state'
  /** The record is not the one that was written there, and no telling whether content, place or hash was changed. */
  | 'record'
  /** The last records are gone: a checkpoint knows of more. */
  | 'truncated'
  /** The chain was written anew: a checkpoint has another hash. */
  | 'rewritten'
  /** The signature of a checkpoint is not this service's. */
  | 'forged-checkpoint';

export interface ChainBreak {
  readonly sequence: number;
  /** What the record there is called; null where there is none. */
  readonly name: string | null;
  readonly difference: ChainDifference;
  /** One sentence in lower case without a final period. */
  readonly message: string;
}

export interface WholeChain {
  readonly kind: 'whole';
  /** The number of the first record that is still stored. */
  readonly firstSequence: number;
  readonly end: Link;
  /** How many checkpoints the chain was compared with. */
  readonly checkpointCount: number;
}

export type Verification = WholeChain | { readonly kind: 'broken'; readonly break: ChainBreak };

export interface VerifyOptions {
  /** Checkpoints that were kept elsewhere; those in the store are compared in any case. */
  readonly checkpoints?: readonly SignedCheckpoint[];
  /** Goes on after this record, which an earlier walk found whole. */
  readonly after?: Link;
  readonly recordsAtOnce?: number;
  /** Takes each stretch that was found whole; `stop` ends the walk there. */
  readonly onStretch?: (records: readonly ChainRecord[], lastSequence: number) => Promise<'go on' | 'stop'>;
}

/** Few enough that the largest records fit into memory, enough that asking for them costs little. */
const recordsAtOnce = 100;

/** Walks the chain from its first record to its last. Rejects with a StoreError. */
export async function verifyChain(store: Store, options: VerifyOptions = {}): Promise<Verification> {
  const signer = createCheckpointSigner(store.masterKey);
  const checkpoints = [...(await store.chain.checkpoints()), ...(options.checkpoints ?? [])];
  const forged = await findForged(checkpoints, signer);
  if (forged !== null) return broken(forged);
  const witnesses: Witnesses = Map.groupBy(checkpoints, ({ sequence }) => sequence);
  const gone = options.after === undefined ? null : await checkAfter(store, options.after);
  if (gone !== null) return broken(gone);
  let end = options.after ?? chainStart;
  let first: Link | null = null;
  for (;;) {
    const stretch = await store.chain.stretch(end.sequence, options.recordsAtOnce ?? recordsAtOnce);
    const { pruning } = stretch;
    const beginBreak = checkBegin(stretch, signer);
    if (beginBreak !== null) return broken(beginBreak);
    // Also when records are deleted while others are being read.
    if (pruning !== null && pruning.sequence > end.sequence) end = pruning;
    first ??= end;
    const checked = checkStretch(end, stretch, witnesses);
    if (checked.kind === 'broken') return broken(await explain(store, checked.break, checked.before));
    end = checked.end;
    const isStopped = (await options.onStretch?.(stretch.records, stretch.lastSequence)) === 'stop';
    if (isStopped || end.sequence >= stretch.lastSequence) {
      const truncated = isStopped ? null : findTruncated(end, checkpoints);
      if (truncated !== null) return broken(truncated);
      return { kind: 'whole', firstSequence: first.sequence + 1, end, checkpointCount: checkpoints.length };
    }
  }
}

function broken(chainBreak: ChainBreak): Verification {
  return { kind: 'broken', break: chainBreak };
}

/** So few signatures that checking them holds nobody up. */
const signaturesAtOnce = 10;

async function findForged(
  checkpoints: readonly SignedCheckpoint[],
  signer: CheckpointSigner,
): Promise<ChainBreak | null> {
  for (let start = 0; start < checkpoints.length; start += signaturesAtOnce) {
    const some = checkpoints.slice(start, start + signaturesAtOnce);
    const forged = some.find((checkpoint) => !signer.isGenuine(checkpoint));
    if (forged !== undefined) return forgedBreak(forged);
    await pause();
  }
  return null;
}

function forgedBreak({ sequence }: SignedCheckpoint): ChainBreak {
  const message = `the checkpoint at record ${sequence} does not carry the signature of this service`;
  return { sequence, name: null, difference: 'forged-checkpoint', message };
}

/** Records are gone from the beginning only by leave of a signed checkpoint, and none may be before it. */
function checkBegin({ pruning, firstSequence }: ChainStretch, signer: CheckpointSigner): ChainBreak | null {
  if (pruning !== null && !signer.isGenuine(pruning)) return forgedBreak(pruning);
  const begin = pruning ?? chainStart;
  if (firstSequence === null || firstSequence > begin.sequence) return null;
  const message = `it is before record ${begin.sequence + 1}, with which the chain begins`;
  return { sequence: firstSequence, name: null, difference: 'inserted', message };
}

/** Genuine checkpoints by number. */
type Witnesses = ReadonlyMap<number, readonly SignedCheckpoint[]>;

type CheckedStretch =
  | { readonly kind: 'whole'; readonly end: Link }
  /** `before`: the last record that was found whole. */
  | { readonly kind: 'broken'; readonly break: ChainBreak; readonly before: Link };

function checkStretch(
  begin: Link,
  { records, lastSequence }: ChainStretch,
  witnesses: Witnesses,
): CheckedStretch {
  let end = begin;
  const contradicted = findContradicted(end, witnesses);
  if (contradicted !== null) return { kind: 'broken', break: contradicted, before: end };
  for (const record of records) {
    const next = { sequence: end.sequence + 1, hash: linkHash(end.hash, record.entry) };
    const found =
      checkNumber(record, next.sequence) ?? checkHash(record, next.hash, records) ?? checkState(record);
    if (found !== null) return { kind: 'broken', break: found, before: end };
    end = next;
    const contradiction = findContradicted(end, witnesses);
    if (contradiction !== null) return { kind: 'broken', break: contradiction, before: end };
  }
  const isGap = records.length === 0 && lastSequence > end.sequence;
  return isGap ? { kind: 'broken', break: missing(end.sequence + 1), before: end } : { kind: 'whole', end };
}

function checkNumber({ entry }: ChainRecord, expected: number): ChainBreak | null {
  if (entry.sequence === expected) return null;
  return entry.sequence > expected ? missing(expected) : inserted(entry);
}

function missing(sequence: number): ChainBreak {
  return { sequence, name: null, difference: 'missing', message: 'the record is not there' };
}

function inserted(entry: ChainEntry): ChainBreak {
  const message = 'it was not written here: another record has this number';
  return { sequence: entry.sequence, name: nameOf(entry), difference: 'inserted', message };
}

function checkHash(
  record: ChainRecord,
  expected: string,
  records: readonly ChainRecord[],
): ChainBreak | null {
  const { entry, hash } = record;
  if (hash === expected) return null;
  if (records.some((other) => other !== record && other.entry.sequence === entry.sequence))
    return inserted(entry);
  const message =
    'it is not the record that was written here: its content, its place or its hash was changed';
  return { sequence: entry.sequence, name: nameOf(entry), difference: 'record', message };
}

/** The events are records of the chain themselves, so what they say is as good as they are. */
function checkState({ entry, later }: ChainRecord): ChainBreak | null {
  if (later === null || isDeepStrictEqual(later.stored, later.byEvents)) return null;
  const word = (state: LaterState) => `\`${state.status ?? entry.status}\``;
  const message =
    later.stored.status === later.byEvents.status
      ? `when it was decided or ends is not what the records of its changes say`
      : `it stands as ${word(later.stored)}, but by the records of its changes it is ${word(later.byEvents)}`;
  return { sequence: entry.sequence, name: nameOf(entry), difference: 'state', message };
}

function findContradicted(end: Link, witnesses: Witnesses): ChainBreak | null {
  const other = witnesses.get(end.sequence)?.find(({ hash }) => hash !== end.hash);
  if (other === undefined) return null;
  const message = `the chain was written anew: a checkpoint of ${timeText(other)} has another hash here`;
  return { sequence: end.sequence, name: null, difference: 'rewritten', message };
}

/** Whether the record with which an earlier walk ended is still there, as it was. */
async function checkAfter(store: Store, { sequence, hash }: Link): Promise<ChainBreak | null> {
  if (sequence === 0) return null;
  const { pruning, records, lastSequence } = await store.chain.stretch(sequence - 1, 1);
  if (pruning !== null && pruning.sequence >= sequence) return null;
  if (sequence > lastSequence) {
    const message = `the last records are gone: a walk of before has found record ${sequence}`;
    return { sequence: lastSequence + 1, name: null, difference: 'truncated', message };
  }
  if (records[0]?.entry.sequence === sequence && records[0].hash === hash) return null;
  const message = 'the chain was written anew: a walk of before has found another hash here';
  return { sequence, name: null, difference: 'rewritten', message };
}

function findTruncated(end: Link, checkpoints: readonly SignedCheckpoint[]): ChainBreak | null {
  const later = checkpoints.find(({ sequence }) => sequence > end.sequence);
  if (later === undefined) return null;
  const message = `the last records are gone: a checkpoint of ${timeText(later)} has record ${later.sequence}`;
  return { sequence: end.sequence + 1, name: null, difference: 'truncated', message };
}

/** The record after a wrong one tells on whose hash it was built, and so whether content or hash was changed. */
async function explain(store: Store, chainBreak: ChainBreak, before: Link): Promise<ChainBreak> {
  if (chainBreak.difference !== 'record') return chainBreak;
  const [wrong, next] = (await store.chain.stretch(before.sequence, 2)).records;
  if (wrong === undefined || next === undefined) return chainBreak;
  if (linkHash(wrong.hash, next.entry) === next.hash) {
    return { ...chainBreak, difference: 'content', message: 'its content is not what was written' };
  }
  if (linkHash(linkHash(before.hash, wrong.entry), next.entry) === next.hash) {
    return { ...chainBreak, difference: 'hash', message: 'its hash was changed, its content was not' };
  }
  return chainBreak;
}

function timeText({ atMs }: SignedCheckpoint): string {
  return new Date(atMs).toISOString();
}
