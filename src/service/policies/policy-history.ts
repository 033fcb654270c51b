// Keeps in a store which policy sets have been active: each with its time, digest and commit, and the latest
// with their texts. INVARIANT: the history is bounded in number and in bytes. The active policies are the
// latest entry as soon as the store has it. A store that fails stops nobody from deciding.

import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import type { DocumentRow, DocumentStore, DocumentWrite } from '../store/contract/documents.ts';
import type { HostedPolicies } from './policy-host.ts';
import type { SetTexts } from './texts.ts';

/** One set that became active. */
export interface Activation {
  readonly digest: string;
  readonly commit: string | null;
  readonly atMs: number;
  readonly policies: number;
  readonly actions: number;
  /** Whether the texts of this set are kept. */
  readonly hasTexts: boolean;
}

export interface PolicyHistory {
  /** Notes the active policies, unless they are the latest entry already. Never rejects. */
  note(): Promise<void>;
  /** Returns the activations that are kept, latest first. */
  activations(): Promise<readonly Activation[]>;
  /** Resolves when nothing is being noted any more. */
  settled(): Promise<void>;
  /** Returns null when the texts of this set are not kept. */
  texts(digest: string): Promise<SetTexts | null>;
}

export interface PolicyHistoryOptions {
  readonly documents: DocumentStore;
  readonly current: () => Pick<HostedPolicies, 'digest' | 'commit' | 'texts' | 'about'>;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
  readonly onNoted: () => void;
  readonly onFailure: (error: unknown) => void;
  readonly limits?: Partial<HistoryLimits>;
}

export interface HistoryLimits {
  readonly activationsMax: number;
  /** Total size of all texts that are kept, compressed. */
  readonly textBytesMax: number;
}

const limitsDefault: HistoryLimits = { activationsMax: 200, textBytesMax: 16 * 1024 * 1024 };

const activationKind = 'policy-activation';
const textsKind = 'policy-texts';

/** What the document of an activation holds; the document's `parent` is the digest. */
interface StoredActivation extends Pick<Activation, 'commit' | 'policies' | 'actions'> {
  /** Size of the compressed texts, in bytes; an activation with 0 has no texts. */
  readonly textBytes: number;
}

export function createPolicyHistory(options: PolicyHistoryOptions): PolicyHistory {
  const { documents, onNoted, onFailure } = options;
  const limits = { ...limitsDefault, ...options.limits };
  const noting = { ...options, limits };
  let work: Promise<void> = Promise.resolve();
  return {
    note() {
      work = work
        .then(() => noteCurrent(noting))
        .then(onNoted)
        .catch(onFailure);
      return work;
    },
    settled: () => work,
    async activations() {
      const rows = await rowsOf(documents, limits);
      const withTexts = digestsWithTexts(rows, limits);
      return rows.map((row) => activationOf(row, withTexts));
    },
    texts: (digest) => keptTexts(documents, digest),
  };
}

interface HistoryOptions extends PolicyHistoryOptions {
  readonly limits: HistoryLimits;
}

/** Tries again when another process notes an activation at the same time. */
async function noteCurrent(options: HistoryOptions): Promise<void> {
  const { documents, current, limits } = options;
  const { digest, texts } = current();
  const packed = await packedTexts(texts);
  for (let tries = 0; tries < 3; tries += 1) {
    const rows = await rowsOf(documents, limits);
    const writes = await writesFor(options, { rows, digest, packed });
    if (writes.length === 0 || (await documents.write(writes, null)) === 'changed') return;
  }
}

interface HistoryEntry {
  readonly rows: readonly DocumentRow[];
  readonly digest: string;
  readonly packed: PackedTexts;
}

async function writesFor(
  options: HistoryOptions,
  { rows, digest, packed }: HistoryEntry,
): Promise<readonly DocumentWrite[]> {
  const { documents, limits } = options;
  const isLatest = rows[0]?.parent === digest;
  const added = isLatest ? [] : [activationPut(options, { rows, digest, packed })];
  const after = [...added.map((put) => ({ ...put, version: 1 })), ...rows];
  const withTexts = digestsWithTexts(after, limits);
  const stored = await documents.find(textsKind, digest);
  // Notes and places may have changed, although the meaning has not.
  const isSame = stored?.json === packed.json || !withTexts.has(digest);
  const put = isSame ? [] : [textsPut(options, { digest, packed, seen: stored?.version ?? 0 })];
  return [...added, ...put, ...(await removals(options, after, withTexts))];
}

function activationPut({ current, clock }: HistoryOptions, { rows, digest, packed }: HistoryEntry) {
  const { commit, about } = current();
  const { policies, actions } = about();
  const number = Number(rows[0]?.id ?? 0) + 1;
  const stored: StoredActivation = {
    commit,
    policies: policies.length,
    actions: actions.length,
    textBytes: packed.bytes,
  };
  return {
    kind: activationKind,
    id: String(number).padStart(12, '0'),
    name: null,
    parent: digest,
    // The list is sorted by time, so no entry may be earlier than the one before.
    createdAtMs: Math.max(Math.trunc(clock()), (rows[0]?.createdAtMs ?? 0) + 1),
    endsAtMs: null,
    json: JSON.stringify(stored),
    seen: 0,
  };
}

function textsPut(
  { clock }: HistoryOptions,
  { digest, packed, seen }: { readonly digest: string; readonly packed: PackedTexts; readonly seen: number },
): DocumentWrite {
  const createdAtMs = Math.trunc(clock());
  const row = { kind: textsKind, id: digest, name: null, parent: null, createdAtMs, endsAtMs: null };
  return { ...row, seen, json: packed.json };
}

/** Removals of what is beyond the limits: old activations, and texts that no kept activation needs. */
async function removals(
  { documents, limits }: HistoryOptions,
  rows: readonly DocumentRow[],
  withTexts: ReadonlySet<string>,
): Promise<readonly DocumentWrite[]> {
  const old = rows.slice(limits.activationsMax).map(({ kind, id, version }) => ({ kind, id, seen: version }));
  const dropped = new Set(rows.filter(hasPacked).map(({ parent }) => parent ?? ''));
  const texts = await Promise.all(
    [...dropped]
      .filter((digest) => !withTexts.has(digest))
      .map((digest) => documents.find(textsKind, digest)),
  );
  const activations = texts.flatMap((row) =>
    row === null ? [] : [{ kind: row.kind, id: row.id, seen: row.version }],
  );
  return [...old, ...activations].map((place) => ({ ...place, isRemoval: true as const }));
}

/**
 * Latest first. Returns a few more than are kept, so that the surplus is removed after a limit was lowered.
 */
/** The texts of the set that became active last; null when they are not kept. */
export async function lastTexts(documents: DocumentStore): Promise<SetTexts | null> {
  const [last] = await rowsOf(documents, limitsDefault);
  return await keptTexts(documents, last?.parent ?? '');
}

/** The texts of the set with this digest; null when they are not kept. */
export async function keptTexts(documents: DocumentStore, digest: string): Promise<SetTexts | null> {
  const row = await documents.find(textsKind, digest);
  return row === null ? null : await unpackTexts(row.json);
}

function rowsOf(
  documents: DocumentStore,
  { activationsMax }: HistoryLimits,
): Promise<readonly DocumentRow[]> {
  const countMax = activationsMax + 20;
  return documents.list({ kind: activationKind, parent: null, after: null, countMax });
}

function digestsWithTexts(
  rows: readonly Pick<DocumentRow, 'parent' | 'json'>[],
  { activationsMax, textBytesMax }: HistoryLimits,
): ReadonlySet<string> {
  const digests = new Set<string>();
  let bytes = 0;
  for (const { parent, json } of rows.slice(0, activationsMax)) {
    const { textBytes } = storedIn(json);
    if (parent === null || digests.has(parent) || textBytes === 0) continue;
    bytes += textBytes;
    if (bytes > textBytesMax) break;
    digests.add(parent);
  }
  return digests;
}

function hasPacked({ json }: Pick<DocumentRow, 'json'>): boolean {
  return storedIn(json).textBytes > 0;
}

function activationOf(
  { parent, createdAtMs: atMs, json }: DocumentRow,
  withTexts: ReadonlySet<string>,
): Activation {
  const { commit, policies, actions } = storedIn(json);
  const digest = parent ?? '';
  return { digest, commit, atMs, policies, actions, hasTexts: withTexts.has(digest) };
}

/** `activationPut` wrote the text, so its form is known. */
function storedIn(json: string): StoredActivation {
  return JSON.parse(json) as StoredActivation;
}

interface PackedTexts {
  readonly json: string;
  readonly bytes: number;
}

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
/** At this level policies shrink to a tenth, in a fraction of the time of the best level. */
const packing = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

async function packedTexts({ bytes, index }: SetTexts): Promise<PackedTexts> {
  const packed = await compress(new Uint8Array(bytes).slice(), packing);
  return { json: JSON.stringify({ index, brotli: packed.toString('base64') }), bytes: packed.length };
}

async function unpackTexts(json: string): Promise<SetTexts> {
  const { index, brotli } = JSON.parse(json) as { readonly index: string; readonly brotli: string };
  const plain = await decompress(Buffer.from(brotli, 'base64'));
  const bytes = new SharedArrayBuffer(plain.length);
  new Uint8Array(bytes).set(plain);
  return { bytes, index };
}
