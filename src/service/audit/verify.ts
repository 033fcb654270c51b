// Checks the chain of records and finds the first place where it is not as it was written: each lane by its
// hashes, the lanes against each other by knots. INVARIANT: memory is bounded by two segments of the chain,
// one being checked and one being read; a chain that is found whole matches every checkpoint that it can be
// compared with.

import { setImmediate as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  type ChainEntry,
  type ChainRecord,
  chainStart,
  type LaterState,
  type LaterStates,
  type Link,
  linkHash,
} from '../store/contract/chain.ts';
import {
  type ChainPosition,
  createLaneEnds,
  followedBy,
  type LaneEnds,
  laneOf,
  laneTuples,
  readLanes,
} from '../store/contract/lanes.ts';
import { isSealed, type SealKey, sealKeyOf } from '../store/contract/seal.ts';
import type { ChainSegment, SignedCheckpoint, Store } from '../store/contract/store.ts';
import { createLinkHasher } from '../store/shared/link-hasher.ts';
import { type CheckpointSigner, createCheckpointSigner } from './checkpoint.ts';
import { nameOf } from './export.ts';

export type ChainDifference =
  /** A record is missing. */
  | 'missing'
  /** A record was inserted: its number is taken, or lies before the first record. */
  | 'inserted'
  | 'content'
  | 'hash'
  /** The record has its hash, but not the seal that the service gives it. */
  | 'seal'
  /** A request's stored state contradicts the records of its changes. */
  | 'state'
  /**
   * The record is not the one that was written there; whether content, place or hash was changed cannot be
   * determined.
   */
  | 'record'
  /** The last records are gone: a checkpoint covers more. */
  | 'truncated'
  /** The chain was rewritten: a checkpoint has another hash. */
  | 'rewritten'
  /** A checkpoint is not signed by this service. */
  | 'forged-checkpoint';

export interface ChainBreak {
  readonly sequence: number;
  /** The name of the record there; null when there is none. */
  readonly name: string | null;
  readonly difference: ChainDifference;
  /** One sentence in lower case without a final full stop. */
  readonly message: string;
}

export interface WholeChain {
  readonly kind: 'whole';
  /** The number of the first record that is still stored. */
  readonly firstSequence: number;
  readonly end: ChainPosition;
  /** How many checkpoints the chain was compared with. */
  readonly checkpointCount: number;
}

export type Verification = WholeChain | { readonly kind: 'broken'; readonly break: ChainBreak };

export interface VerifyOptions {
  /** Checkpoints that were kept elsewhere; those in the store are always compared. */
  readonly checkpoints?: readonly SignedCheckpoint[];
  /** Starts after this place, up to which an earlier walk has found everything whole. */
  readonly after?: ChainPosition;
  readonly recordsAtOnce?: number;
  /** Called now and then with the number of a record that was checked, and that of the last record. */
  readonly onChecked?: ((sequence: number, lastSequence: number) => void) | undefined;
  /** Called with each segment that was found whole; returning `stop` ends the walk there. */
  readonly onSegment?: (records: readonly ChainRecord[], at: SegmentPosition) => Promise<'go on' | 'stop'>;
}

export interface SegmentPosition {
  readonly before: ChainPosition;
  readonly lastSequence: number;
}

/** Few enough that the largest records fit into memory, and enough that a read costs little per record. */
const recordsAtOnceDefault = 500;

/** Walks the chain from its first record to its last. Rejects with a StoreError. */
export async function verifyChain(store: Store, options: VerifyOptions = {}): Promise<Verification> {
  const signer = createCheckpointSigner(store.masterKey);
  const sealKey = sealKeyOf(store.masterKey);
  const checkpoints = [...(await store.chain.checkpoints()), ...(options.checkpoints ?? [])];
  const forged = await findForged(checkpoints, signer);
  if (forged !== null) return broken(forged);
  const witnesses = witnessesOf(checkpoints);
  const gone = options.after === undefined ? null : await checkAfter(store, options.after);
  if (gone !== null) return broken(gone);
  const { recordsAtOnce: atOnce = recordsAtOnceDefault, onSegment } = options;
  let ends = createLaneEnds(options.after ?? chainStart);
  let first: Link | null = null;
  const ask = (after: number): Promise<ChainSegment> => {
    const segmentRead = store.chain.segment(after, atOnce);
    // A failed read is reported when its turn comes, or not at all if the walk ends before.
    segmentRead.catch(() => undefined);
    return segmentRead;
  };
  let after = ends.last().sequence;
  for (let coming = ask(after); ; ) {
    const segment = await coming;
    const { pruning, records, lastSequence } = segment;
    // With several lanes, numbers may be missing because nothing was ever recorded under them.
    after = records.at(-1)?.entry.sequence ?? Math.max(after + atOnce, pruning?.sequence ?? 0);
    // The next segment is read while this one is checked.
    const isLast = after >= lastSequence;
    if (!isLast) coming = ask(after);
    const beginBreak = checkBegin(segment, signer);
    if (beginBreak !== null) return broken(beginBreak);
    // Records may also be deleted while the walk reads others; the chain then begins later.
    if (pruning !== null && pruning.sequence > ends.last().sequence) ends = createLaneEnds(pruning);
    first ??= ends.last();
    const before = ends.link();
    const chainBreak = checkSegment(ends, segment, { witnesses, sealKey });
    if (chainBreak !== null) return broken(await explain(store, chainBreak, ends));
    const end = ends.link();
    options.onChecked?.(end.sequence, lastSequence);
    const isStopped = (await onSegment?.(records, { before, lastSequence })) === 'stop';
    if (!isStopped && !isLast) continue;
    const truncated = isStopped ? null : findTruncated(end, { lastSequence, checkpoints });
    if (truncated !== null) return broken(truncated);
    return { kind: 'whole', firstSequence: first.sequence + 1, end, checkpointCount: checkpoints.length };
  }
}

function broken(chainBreak: ChainBreak): Verification {
  return { kind: 'broken', break: chainBreak };
}

/** Signatures checked in one step: few, so that other work is not held up. */
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
  const message = `the checkpoint at record ${sequence} has no valid signature of this service`;
  return { sequence, name: null, difference: 'forged-checkpoint', message };
}

/**
 * Only a signed checkpoint permits records to be missing at the beginning, and no record may come before it.
 */
function checkBegin({ pruning, firstSequence }: ChainSegment, signer: CheckpointSigner): ChainBreak | null {
  if (pruning !== null && !signer.isGenuine(pruning)) return forgedBreak(pruning);
  const begin = pruning ?? chainStart;
  if (firstSequence === null || firstSequence > begin.sequence) return null;
  const message = `it is before record ${begin.sequence + 1}, the beginning of the chain`;
  return { sequence: firstSequence, name: null, difference: 'inserted', message };
}

/** Genuine checkpoints by the number of their record. */
type Witnesses = ReadonlyMap<number, readonly SignedCheckpoint[]>;

export function witnessesOf(checkpoints: readonly SignedCheckpoint[]): Witnesses {
  return Map.groupBy(checkpoints, ({ sequence }) => sequence);
}

interface VerificationKeys {
  readonly witnesses: Witnesses;
  readonly sealKey: SealKey;
}

const hashOf = createLinkHasher();

/**
 * Returns what is wrong with the first record that is not as it was written; null when there is none. `ends`
 * are the lane ends before the segment.
 */
export function checkSegment(
  ends: LaneEnds,
  { records }: ChainSegment,
  { witnesses, sealKey }: VerificationKeys,
): ChainBreak | null {
  const contradicted = findContradicted(ends, witnesses);
  if (contradicted !== null) return contradicted;
  for (const record of records) {
    const hash = hashOf(ends.of(laneOf(record.entry)).hash, record.entry);
    const chainBreak =
      checkPlace(record, ends) ??
      checkHash(record, hash, records) ??
      checkSeal(record, sealKey) ??
      checkState(record) ??
      checkKnot(record, ends);
    if (chainBreak !== null) return chainBreak;
    ends.take(record);
    const contradiction = findContradicted(ends, witnesses);
    if (contradiction !== null) return contradiction;
  }
  return null;
}

/** Whether the record comes after all others, and follows the last record of its lane. */
function checkPlace({ entry }: ChainRecord, ends: LaneEnds): ChainBreak | null {
  if (entry.sequence <= ends.last().sequence) return inserted(entry);
  const end = ends.of(laneOf(entry));
  const follows = followedBy(entry);
  if (follows === end.sequence) return null;
  if (follows > end.sequence) return missing(ends.areSeveral() ? follows : end.sequence + 1);
  return { sequence: end.sequence, name: null, difference: 'inserted', message: notWrittenHere };
}

/** Compares a knot with the lane ends. A knot's content is covered by its own hash. */
function checkKnot({ entry }: ChainRecord, ends: LaneEnds): ChainBreak | null {
  if (entry.kind !== 'knot') return null;
  const tied = readLanes(JSON.parse(String(entry.ends_json))) ?? [];
  const all = ends.link().lanes ?? [];
  for (const { lane, sequence, hash } of tied) {
    const end = ends.of(lane);
    if (sequence > end.sequence) return missing(sequence);
    if (sequence === end.sequence && hash !== end.hash) return rewritten(entry, sequence);
  }
  const sequences = new Map(tied.map(({ lane, sequence }) => [lane, sequence]));
  const more = all.find(({ lane, sequence }) => lane > 0 && sequence > (sequences.get(lane) ?? 0));
  if (more === undefined) return null;
  const message = `this service did not write it: record ${entry.sequence}, which lists the last record of each replica, lists an earlier one`;
  return { sequence: more.sequence, name: null, difference: 'inserted', message };
}

function rewritten({ sequence: knot }: ChainEntry, sequence: number): ChainBreak {
  const message = `it was rewritten: record ${knot}, which lists the last record of each replica, has another hash for it`;
  return { sequence, name: null, difference: 'rewritten', message };
}

function missing(sequence: number): ChainBreak {
  return { sequence, name: null, difference: 'missing', message: 'the record is missing' };
}

const notWrittenHere = 'this service did not write it: the next record does not follow it';

function inserted(entry: ChainEntry): ChainBreak {
  const message = 'this service did not write it: another record has this number';
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
  const message = 'this service did not write it in this form: its content, position or hash was changed';
  return { sequence: entry.sequence, name: nameOf(entry), difference: 'record', message };
}

/** Whether the record has its seal. Without the master key nobody can make one for a record of their own. */
function checkSeal({ entry, hash, seal }: ChainRecord, key: SealKey): ChainBreak | null {
  if (seal === undefined || isSealed(key, { hash, seal })) return null;
  const message = 'this service did not write it: its seal is not valid';
  return { sequence: entry.sequence, name: nameOf(entry), difference: 'seal', message };
}

/**
 * Compares a request's stored state with its events. The events are records of the chain, which are checked
 * themselves.
 */
function checkState({ entry, later }: ChainRecord): ChainBreak | null {
  if (later === null || isSameState(later)) return null;
  const word = (state: LaterState) => `\`${state.status ?? entry.status}\``;
  const message =
    later.stored.status === later.byEvents.status
      ? `its decision or end time differs from the records of its changes`
      : `its status is ${word(later.stored)}, but ${word(later.byEvents)} in the records of its changes`;
  return { sequence: entry.sequence, name: nameOf(entry), difference: 'state', message };
}

function isSameState({ stored, byEvents }: LaterStates): boolean {
  return (
    stored.status === byEvents.status &&
    stored.decidedAtMs === byEvents.decidedAtMs &&
    stored.expiresAtMs === byEvents.expiresAtMs
  );
}

function findContradicted(ends: LaneEnds, witnesses: Witnesses): ChainBreak | null {
  const here = witnesses.get(ends.last().sequence);
  if (here === undefined) return null;
  const end = ends.link();
  const other = here.find((witness) => !isSamePlace(witness, end));
  if (other === undefined) return null;
  const message = `the chain was rewritten: a checkpoint of ${timeText(other)} has another hash here`;
  return { sequence: end.sequence, name: null, difference: 'rewritten', message };
}

/** A checkpoint made before lanes existed names no lanes. */
function isSamePlace(witness: ChainPosition, end: ChainPosition): boolean {
  return (
    witness.hash === end.hash &&
    (witness.lanes === undefined || isDeepStrictEqual(laneTuples(witness.lanes), laneTuples(end.lanes ?? [])))
  );
}

/** Checks that the last records of an earlier walk are still there, unchanged. */
async function checkAfter(store: Store, { lanes, ...link }: ChainPosition): Promise<ChainBreak | null> {
  for (const end of lanes ?? [link]) {
    const gone = await checkWalked(store, end);
    if (gone !== null) return gone;
  }
  return null;
}

async function checkWalked(store: Store, { sequence, hash }: Link): Promise<ChainBreak | null> {
  if (sequence === 0) return null;
  const { pruning, records, lastSequence } = await store.chain.segment(sequence - 1, 1);
  if (pruning !== null && pruning.sequence >= sequence) return null;
  if (sequence > lastSequence) {
    const message = `the last records are missing: an earlier verification found record ${sequence}`;
    return { sequence: lastSequence + 1, name: null, difference: 'truncated', message };
  }
  if (records[0]?.entry.sequence === sequence && records[0].hash === hash) return null;
  const message = 'the chain was rewritten: an earlier verification found another hash here';
  return { sequence, name: null, difference: 'rewritten', message };
}

interface ChainEnds {
  readonly lastSequence: number;
  readonly checkpoints: readonly SignedCheckpoint[];
}

function findTruncated(end: Link, { lastSequence, checkpoints }: ChainEnds): ChainBreak | null {
  if (lastSequence > end.sequence) return missing(lastSequence);
  const later = checkpoints.find(({ sequence }) => sequence > end.sequence);
  if (later === undefined) return null;
  const message = `the last records are missing: a checkpoint of ${timeText(later)} has record ${later.sequence}`;
  return { sequence: end.sequence + 1, name: null, difference: 'truncated', message };
}

/** How many records after a broken one are searched for the next record of its lane. */
const nextWithin = 1_000;

/**
 * The next record of the lane shows which hash it was built on, and so whether content or hash was changed.
 */
async function explain(store: Store, chainBreak: ChainBreak, ends: LaneEnds): Promise<ChainBreak> {
  if (chainBreak.difference !== 'record') return chainBreak;
  const { records } = await store.chain.segment(chainBreak.sequence - 1, nextWithin);
  const [wrong] = records;
  if (wrong === undefined) return chainBreak;
  const lane = laneOf(wrong.entry);
  const next = records.find((record) => record !== wrong && laneOf(record.entry) === lane);
  if (next === undefined) return chainBreak;
  if (linkHash(wrong.hash, next.entry) === next.hash) {
    return { ...chainBreak, difference: 'content', message: 'its content was changed' };
  }
  if (linkHash(linkHash(ends.of(lane).hash, wrong.entry), next.entry) === next.hash) {
    return { ...chainBreak, difference: 'hash', message: 'its hash was changed, but not its content' };
  }
  return chainBreak;
}

function timeText({ atMs }: SignedCheckpoint): string {
  return new Date(atMs).toISOString();
}
