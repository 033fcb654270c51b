// Packs a batch of writes into a message for the writer's thread, and unpacks it there. Requests, which are
// nearly all writes, become one text in memory that both threads share and one list of numbers; all other
// writes are sent unchanged. INVARIANT: the unpacked writes equal the packed ones, if they are read before
// the next batch is packed.

import type { DocumentVersion, GrantPrecondition } from '../contract/grant-precondition.ts';
import type { RequestRow, RequestStatus } from '../contract/records.ts';
import type { Write, WriteOf } from './writes.ts';

export interface BatchMessage {
  /** How many writes the batch has. */
  readonly count: number;
  /** The texts of all packed requests in a row, in UTF-8. */
  readonly texts: SharedArrayBuffer;
  readonly textBytes: number;
  /**
   * For each packed request in turn: its place in the batch, its numbers, and the lengths of its texts, -1
   * for null.
   */
  readonly numbers: Float64Array;
  readonly others: readonly (readonly [place: number, write: Write])[];
}

/** The shared text holds this many UTF-16 units; a request that finds no room is sent unchanged. */
const unitsMax = 512 * 1024;
/** The most bytes that UTF-8 takes for a unit. */
const bytesPerUnitMax = 3;
/**
 * The place, the limit, four numbers of what the decision rests on, ten lengths of texts and four more
 * numbers.
 */
const numbersPerRequest = 20;

export function createBatchPacker(): (writes: readonly Write[]) => BatchMessage {
  const texts = new SharedArrayBuffer(unitsMax * bytesPerUnitMax);
  const buffer = Buffer.from(texts);
  return (writes) => {
    const numbers = new Float64Array(writes.length * numbersPerRequest);
    const others: (readonly [number, Write])[] = [];
    let text = '';
    let used = 0;
    const putNumber = (value: number | null) => {
      numbers[used++] = value ?? Number.NaN;
    };
    const putText = (value: string | null) => {
      numbers[used++] = value === null ? -1 : value.length;
      if (value !== null) text += value;
    };
    for (const [index, write] of writes.entries()) {
      if (!isPlain(write) || text.length + unitsOf(write) > unitsMax) {
        others.push([index, write]);
        continue;
      }
      const { row, openMax, precondition } = write;
      const [document] = precondition?.documents ?? [];
      putNumber(index);
      putNumber(openMax);
      putNumber(precondition?.agentVersion ?? null);
      putNumber(precondition?.keyNotAfterMs ?? null);
      putNumber(precondition?.switchGeneration ?? null);
      putNumber(document?.version ?? null);
      putText(document?.kind ?? null);
      putText(document?.id ?? null);
      putText(row.id);
      putText(row.agentId);
      putText(row.actionKey);
      putText(row.outcome);
      putText(row.status);
      putText(row.idempotency?.key ?? null);
      putText(row.idempotency?.bodyDigest ?? null);
      putText(row.recordJson);
      putNumber(row.createdAtMs);
      putNumber(row.decidedAtMs);
      putNumber(row.expiresAtMs);
      putNumber(row.idempotency?.keptUntilMs ?? null);
    }
    const textBytes = buffer.write(text, 'utf8');
    return { count: writes.length, texts, textBytes, numbers: numbers.subarray(0, used), others };
  };
}

function unitsOf({ row, precondition }: WriteOf<'append-request'>): number {
  const { id, agentId, actionKey, outcome, status, idempotency, recordJson } = row;
  const [document = noDocument] = precondition?.documents ?? [];
  const ofDocument = document.kind.length + document.id.length;
  const always = id.length + agentId.length + actionKey.length + outcome.length + status.length;
  const ofKey = idempotency === null ? 0 : idempotency.key.length + idempotency.bodyDigest.length;
  return ofDocument + always + ofKey + recordJson.length;
}

const noDocument: DocumentVersion = { kind: '', id: '', version: 0 };

/**
 * Whether the write is a request that can be packed. Its texts must be well-formed, since UTF-8 cannot hold a
 * lone surrogate.
 */
function isPlain(write: Write): write is WriteOf<'append-request'> {
  if (write.kind !== 'append-request' || write.entries.length > 0) return false;
  const { actionKey, agentId, recordJson, idempotency } = write.row;
  const { precondition } = write;
  // The enforcement point of a call is one document; few decisions rest on more.
  if (precondition !== null && (precondition.agentId !== agentId || precondition.documents.length > 1))
    return false;
  const [document = noDocument] = precondition?.documents ?? [];
  return (
    recordJson.isWellFormed() &&
    actionKey.isWellFormed() &&
    document.kind.isWellFormed() &&
    document.id.isWellFormed() &&
    (idempotency === null || idempotency.key.isWellFormed())
  );
}

export function readBatch({ count, texts, textBytes, numbers, others }: BatchMessage): readonly Write[] {
  const text = Buffer.from(texts, 0, textBytes).toString('utf8');
  const writes = new Array<Write>(count);
  for (const [index, write] of others) writes[index] = write;
  let from = 0;
  let used = 0;
  const number = () => numbers[used++]!;
  const numberOrNull = () => {
    const value = number();
    return Number.isNaN(value) ? null : value;
  };
  const textOrNull = () => {
    const length = number();
    if (length < 0) return null;
    from += length;
    return text.slice(from - length, from);
  };
  const textOf = () => textOrNull() ?? '';
  while (used < numbers.length) {
    const place = number();
    const openMax = number();
    const agentVersion = numberOrNull();
    const keyNotAfterMs = numberOrNull();
    const switchGeneration = numberOrNull();
    const version = numberOrNull();
    const documentKind = textOrNull();
    const documentId = textOrNull();
    // In the order in which the packer put them.
    const id = textOf();
    const agentId = textOf();
    const actionKey = textOf();
    const outcome = textOf();
    // The packer took it from a field of this type.
    const status = textOf() as RequestStatus;
    const key = textOrNull();
    const bodyDigest = textOrNull();
    const recordJson = textOf();
    const createdAtMs = number();
    const decidedAtMs = numberOrNull();
    const expiresAtMs = number();
    const keptUntilMs = numberOrNull();
    const row: RequestRow = {
      id,
      agentId,
      actionKey,
      outcome,
      status,
      createdAtMs,
      decidedAtMs,
      expiresAtMs,
      idempotency:
        key === null || bodyDigest === null || keptUntilMs === null ? null : { key, bodyDigest, keptUntilMs },
      recordJson,
    };
    const documents: readonly DocumentVersion[] =
      documentKind === null || documentId === null || version === null
        ? []
        : [{ kind: documentKind, id: documentId, version }];
    const precondition: GrantPrecondition | null =
      agentVersion === null || switchGeneration === null
        ? null
        : { agentId, agentVersion, keyNotAfterMs, switchGeneration, documents };
    writes[place] = { kind: 'append-request', row, openMax, precondition, entries: [] };
  }
  return writes;
}
