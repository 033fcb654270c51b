// The transparency log of a service: follows the records, signs checkpoints, has them cosigned by witnesses, and
// publishes them. INVARIANT: what was once signed is continued by everything signed later: when the tree no longer
// leads to the newest checkpoint, nothing is signed any more. Nothing here delays a decision.

import { setTimeout as sleep } from 'node:timers/promises';
import { repeatLook } from '../repeated-look.ts';
import type { Collection, ReadDocument } from '../store/contract/collection.ts';
import type { Store } from '../store/contract/store.ts';
import {
  checkpointNoteText,
  logSigner,
  type ReadCheckpoint,
  readCheckpointNote,
  signCheckpoint,
} from './checkpoint-note.ts';
import { createTreeFollower, type TreeFollower } from './follow-tree.ts';
import { type LogState, logStateOf, type WitnessState } from './log-state.ts';
import { isSame } from './merkle-tree.ts';
import { checkSignature, type NoteSignature, noteText, type VerifierKey } from './signed-note.ts';
import { MissingHashError, readEdge, rootOf } from './tiles.ts';
import { askWitness, cosignedBy, unaskedWitness, type Witness } from './witnesses.ts';

export interface TransparencyLogDeps {
  /** Not one that tells others of each change: a checkpoint changes nothing that they rely on. */
  readonly store: Store;
  /** The log's name. */
  readonly origin: string;
  readonly witnesses: readonly Witness[];
  /** How many witnesses have to cosign a checkpoint before it is published. */
  readonly quorum: number;
  readonly clock: () => number;
  /** Told of each fault when it is first seen. */
  readonly onFault: (message: string) => void;
  readonly onFailure: (error: unknown) => void;
  readonly timing?: Partial<LogTiming>;
}

export interface LogTiming {
  /** How long after its start the service begins; one that has just begun has more urgent work. */
  readonly beginAfterMs: number;
  readonly everyMs: number;
  /** How often witnesses are asked. */
  readonly askEveryMs: number;
}

const timingDefault: LogTiming = { beginAfterMs: 3_000, everyMs: 1_000, askEveryMs: 15_000 };
/** How much longer the thread rests than it works, while it has records to catch up with. */
const restPerWork = 9;

/** How long a read checkpoint is served: whoever asks without sign-in causes few reads. */
const publishedForMs = 1_000;

/** Something that keeps the log from being confirmed. */
export interface LogFault {
  /** One sentence in lower case without a final period. */
  readonly message: string;
  /** In milliseconds since 1970. */
  readonly sinceMs: number;
  /** Whether it means that records or checkpoints contradict each other, and not only that somebody is late. */
  readonly isContradiction: boolean;
}

export interface TransparencyLog {
  readonly key: VerifierKey;
  readonly witnesses: readonly Witness[];
  /** The published checkpoint; null when there is none yet. */
  published(): Promise<ReadCheckpoint | null>;
  faults(): Promise<readonly LogFault[]>;
  /** Follows the records, signs, asks witnesses and publishes, once; runs again and again after `start`. */
  turn(): Promise<void>;
  start(): void;
  /** Waits for the turn that is under way. */
  close(): Promise<void>;
}

export function createTransparencyLog(deps: TransparencyLogDeps): TransparencyLog {
  const { store, origin, witnesses, clock, onFault, onFailure } = deps;
  const timing = { ...timingDefault, ...deps.timing };
  const closing = new AbortController();
  const follower = createTreeFollower(store);
  const log = createLog(deps, timing);
  let contradictionSinceMs: number | null = null;
  let published: { readonly atMs: number; readonly reading: Promise<ReadCheckpoint | null> } | null = null;
  let told: ReadonlySet<string> = new Set();
  let failure: { readonly message: string; readonly sinceMs: number } | null = null;

  const faults = async (): Promise<readonly LogFault[]> => {
    const sinceMs = contradictionSinceMs;
    const own = sinceMs === null ? [] : [{ message: contradictionText, sinceMs, isContradiction: true }];
    const failed =
      failure === null ? [] : [{ message: failureText, sinceMs: failure.sinceMs, isContradiction: false }];
    return [...own, ...failed, ...(await log.witnessFaults())];
  };
  const turn = async (): Promise<void> => {
    await catchUp(follower, closing.signal);
    const result = await log.advance();
    contradictionSinceMs = result === 'contradiction' ? (contradictionSinceMs ?? clock()) : null;
    published = null;
    const messages = (await faults()).map(({ message }) => message);
    for (const message of messages) if (!told.has(message)) onFault(message);
    told = new Set(messages);
  };
  /** The same failure is reported once. */
  const fail = (error: unknown): void => {
    const message = String(error);
    if (failure?.message !== message && !closing.signal.aborted) onFailure(error);
    failure = { message, sinceMs: failure?.sinceMs ?? clock() };
  };
  const turns = repeatLook({
    look: async () => {
      await turn();
      failure = null;
    },
    everyMs: timing.everyMs,
    firstAfterMs: timing.beginAfterMs,
    onFailure: fail,
  });
  return {
    key: logSigner(store.masterKey, origin).key,
    witnesses,
    published() {
      const nowMs = performance.now();
      if (published === null || nowMs - published.atMs > publishedForMs)
        published = { atMs: nowMs, reading: log.published() };
      return published.reading;
    },
    faults,
    turn,
    start: turns.start,
    async close() {
      closing.abort();
      const ended = turns.close();
      await follower.close();
      await ended;
    },
  };
}

const contradictionText =
  'the hash tree does not lead to the last signed checkpoint: run `writ audit verify`';

const failureText = 'records could not be added to the log';

async function catchUp(follower: TreeFollower, closing: AbortSignal): Promise<void> {
  while (!closing.aborted) {
    const { workMs, isBehind } = await follower.step();
    if (!isBehind) return;
    // Ended early by the end of the service.
    await sleep(restPerWork * workMs, undefined, { signal: closing }).catch(() => undefined);
  }
}

function createLog(deps: TransparencyLogDeps, timing: LogTiming) {
  const { store, origin, witnesses } = deps;
  const states = logStateOf(store.documents);
  const confirmed: Confirmed = { newest: null };
  const { key } = logSigner(store.masterKey, origin);
  return {
    async advance(): Promise<'advanced' | 'contradiction'> {
      const signed = await signNewest(deps, states, confirmed);
      if (signed === 'contradiction') return signed;
      if (signed !== null && witnesses.length > 0) await askMissing(deps, { states, timing }, signed);
      return 'advanced';
    },
    async published(): Promise<ReadCheckpoint | null> {
      const text = (await states.find('log'))?.value.published ?? null;
      const checkpoint = text === null ? null : readCheckpointNote(text);
      const isOwn = checkpoint !== null && checkSignature(checkpoint.note, key) === 'signed';
      return isOwn ? checkpoint : null;
    },
    async witnessFaults(): Promise<readonly LogFault[]> {
      const known = (await states.find('log'))?.value.witnesses ?? {};
      return witnesses.flatMap(({ key: { name } }) => {
        const { failingSinceMs, refusal } = known[name] ?? unaskedWitness;
        if (failingSinceMs === null) return [];
        const message =
          refusal === null
            ? `the witness ${name} does not answer`
            : `the witness ${name} refuses to cosign: ${refusal}`;
        return [{ message, sinceMs: failingSinceMs, isContradiction: refusal !== null }];
      });
    },
  };
}

type States = Collection<LogState>;

/** Whether no other process has written the state meanwhile. */
async function put(
  { store }: TransparencyLogDeps,
  states: States,
  { value, version }: ReadDocument<LogState>,
): Promise<boolean> {
  return (await store.documents.write([states.put(value, version)], null)) === 'changed';
}

/** The checkpoint that this process last compared with the tree, so that nothing is hashed while nothing grows. */
interface Confirmed {
  newest: string | null;
}

/**
 * Signs the tree if it has grown and continues what was signed before. Returns the state with the newest
 * checkpoint; null when there is none, or another process was faster.
 */
async function signNewest(
  deps: TransparencyLogDeps,
  states: States,
  confirmed: Confirmed,
): Promise<ReadDocument<LogState> | null | 'contradiction'> {
  const { store, origin, quorum, clock } = deps;
  const stored = await states.find('log');
  const { size } = await readEdge(store.tree);
  const newest = stored === null ? null : readCheckpointNote(stored.value.newest);
  const isOfThisLog = newest?.origin === origin;
  const isPublished = quorum > 0 || stored?.value.published === stored?.value.newest;
  const isCurrent = isOfThisLog && newest.size === size && isPublished;
  if (stored !== null && isCurrent && stored.value.newest === confirmed.newest) return stored;
  if (stored !== null && (newest === null || !(await leadsTo(store, newest)))) return 'contradiction';
  confirmed.newest = stored?.value.newest ?? null;
  if (size === 0) return null;
  if (stored !== null && isCurrent) return stored;
  const signer = logSigner(store.masterKey, origin);
  const text = noteText(signCheckpoint({ size, root: await rootOf(store.tree, size) }, signer));
  const value: LogState = {
    id: 'log',
    createdAtMs: stored?.value.createdAtMs ?? Math.trunc(clock()),
    newest: text,
    published: quorum === 0 ? text : publishedOf(stored, origin),
    askedAtMs: stored?.value.askedAtMs ?? 0,
    witnesses: isOfThisLog ? (stored?.value.witnesses ?? {}) : {},
  };
  const isStored = await put(deps, states, { value, version: stored?.version ?? 0 });
  return isStored ? await states.find('log') : null;
}

interface Asking {
  readonly states: States;
  readonly timing: LogTiming;
}

/** Asks the witnesses that have not cosigned the newest checkpoint, unless another process has just done so. */
async function askMissing(
  deps: TransparencyLogDeps,
  { states, timing }: Asking,
  { value, version }: ReadDocument<LogState>,
): Promise<void> {
  const { store, witnesses, clock } = deps;
  const checkpoint = readCheckpointNote(value.newest);
  const nowMs = Math.trunc(clock());
  if (checkpoint === null || Math.abs(nowMs - value.askedAtMs) < timing.askEveryMs) return;
  const have = new Set(cosignedBy(checkpoint, witnesses).map(({ key }) => key.id));
  const missing = witnesses.filter(({ key }) => !have.has(key.id));
  if (missing.length === 0) return;
  if (!(await put(deps, states, { value: { ...value, askedAtMs: nowMs }, version }))) return;
  const answers = await Promise.all(
    missing.map(async (witness) => {
      const state = value.witnesses[witness.key.name] ?? unaskedWitness;
      const answer = await askWitness({ store, checkpoint, witness, nowMs }, state);
      return { name: witness.key.name, ...answer };
    }),
  );
  const cosignatures = answers.flatMap(({ cosignature }) => cosignature ?? []);
  const known = Object.fromEntries(answers.map(({ name, state }) => [name, state]));
  for (let tries = 0; tries < triesMax; tries += 1) {
    const stored = await states.find('log');
    if (stored === null) return;
    const next = withAnswers(deps, stored.value, {
      cosigned: withSignatures(checkpoint, cosignatures),
      known,
    });
    if (await put(deps, states, { value: next, version: stored.version })) return;
  }
}

/** Another process may write the state at the same time. */
const triesMax = 5;

interface Answers {
  readonly cosigned: ReadCheckpoint;
  readonly known: Readonly<Record<string, WitnessState>>;
}

/** The newest checkpoint may have moved on meanwhile; the cosigned one is published all the same. */
function withAnswers(
  { origin, witnesses, quorum }: TransparencyLogDeps,
  state: LogState,
  { cosigned, known }: Answers,
): LogState {
  const text = checkpointNoteText(cosigned);
  const isEnough = cosignedBy(cosigned, witnesses).length >= quorum;
  const newest = readCheckpointNote(state.newest);
  const published = state.published === null ? null : readCheckpointNote(state.published);
  const isLater = published?.origin !== origin || cosigned.size >= published.size;
  return {
    ...state,
    newest: newest?.note.text === cosigned.note.text ? text : state.newest,
    published: isEnough && isLater ? text : state.published,
    witnesses: { ...state.witnesses, ...known },
  };
}

/** What was published under the log's present name. */
function publishedOf(stored: ReadDocument<LogState> | null, origin: string): string | null {
  const text = stored?.value.published ?? null;
  return text !== null && readCheckpointNote(text)?.origin === origin ? text : null;
}

function withSignatures(checkpoint: ReadCheckpoint, more: readonly NoteSignature[]): ReadCheckpoint {
  const { text, signatures } = checkpoint.note;
  return { ...checkpoint, note: { text, signatures: [...signatures, ...more] } };
}

/** Whether the tree has the checkpoint's root at the checkpoint's size. */
export async function leadsTo(
  { tree }: Pick<Store, 'tree'>,
  { size, root }: ReadCheckpoint,
): Promise<boolean> {
  try {
    return isSame(await rootOf(tree, size), root);
  } catch (error) {
    if (error instanceof MissingHashError) return false;
    throw error;
  }
}
