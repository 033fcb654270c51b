// Packs a batch of writes into memory that both threads share, and unpacks it in the writer's thread. Requests, which
// are nearly all writes, become one text and one list of numbers in that memory; all other writes are sent unchanged.
// INVARIANT: the unpacked writes equal the packed ones, if they are read before the next batch is packed into the
// same memory.

import type { DocumentVersion, GrantPrecondition } from '../contract/grant-precondition.ts';
import type { MeterEntryRow } from '../contract/metering.ts';
import type { RequestRow, RequestStatus } from '../contract/records.ts';
import type { Write, WriteOf } from './writes.ts';

/** Sent to the writer once: what is sent with each batch is short. */
export interface BatchMemory {
  /** The texts of all packed requests in a row, in UTF-8. */
  readonly texts: SharedArrayBuffer;
  /**
   * 64-bit floats; for each packed request in turn: its place in the batch, its numbers, and the lengths of its
   * texts, -1 for null.
   */
  readonly numbers: SharedArrayBuffer;
}

export interface BatchMessage {
  /** How many writes the batch has. */
  readonly count: number;
  readonly textBytes: number;
  readonly numberCount: number;
  readonly others: readonly (readonly [place: number, write: Write])[];
}

/** The shared text holds this many UTF-16 units; a request that finds no room is sent unchanged. */
const unitsMax = 512 * 1024;
/** The most bytes that UTF-8 takes for a unit. */
const bytesPerUnitMax = 3;
/**
 * The place, the limit, four numbers of what the decision rests on, ten lengths of texts, four more numbers and the
 * number of entries of meters.
 */
const numbersPerRequest = 21;
/** Three lengths of texts, and whether the entry is certain. */
const numbersPerEntry = 4;
const numbersMax = 32 * 1024;

export function createBatchMemory(): BatchMemory {
  return {
    texts: new SharedArrayBuffer(unitsMax * bytesPerUnitMax),
    numbers: new SharedArrayBuffer(numbersMax * Float64Array.BYTES_PER_ELEMENT),
  };
}

export function createBatchPacker(memory: BatchMemory): (writes: readonly Write[]) => BatchMessage {
  const buffer = Buffer.from(memory.texts);
  const numbers = new Float64Array(memory.numbers);
  return (writes) => {
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
    for (let index = 0; index < writes.length; index += 1) {
      const write = writes[index]!;
      const hasRoom =
        isPlain(write) &&
        text.length + unitsOf(write) <= unitsMax &&
        used + numbersPerRequest + numbersPerEntry * write.entries.length <= numbersMax;
      if (!hasRoom) {
        others.push([index, write]);
        continue;
      }
      const { row, openMax, precondition, entries } = write;
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
      putNumber(entries.length);
      for (const { definition, key, isCertain, value } of entries) {
        putText(definition);
        putText(key);
        putText(value);
        putNumber(Number(isCertain));
      }
    }
    const textBytes = buffer.write(text, 'utf8');
    return { count: writes.length, textBytes, numberCount: used, others };
  };
}

function unitsOf({ row, precondition, entries }: WriteOf<'append-request'>): number {
  const { id, agentId, actionKey, outcome, status, idempotency, recordJson } = row;
  const [document = noDocument] = precondition?.documents ?? [];
  const ofDocument = document.kind.length + document.id.length;
  const always = id.length + agentId.length + actionKey.length + outcome.length + status.length;
  const ofKey = idempotency === null ? 0 : idempotency.key.length + idempotency.bodyDigest.length;
  let ofEntries = 0;
  for (const { definition, key, value } of entries)
    ofEntries += definition.length + key.length + (value?.length ?? 0);
  return ofDocument + always + ofKey + ofEntries + recordJson.length;
}

const noDocument: DocumentVersion = { kind: '', id: '', version: 0 };

/**
 * Whether the write is a request that can be packed. Its texts must be well-formed, since UTF-8 cannot hold a
 * lone surrogate.
 */
function isPlain(write: Write): write is WriteOf<'append-request'> {
  if (write.kind !== 'append-request') return false;
  const { actionKey, agentId, recordJson, idempotency } = write.row;
  const { precondition, entries } = write;
  // The enforcement point of a call is one document; few decisions rest on more.
  if (precondition !== null && (precondition.agentId !== agentId || precondition.documents.length > 1))
    return false;
  const [document = noDocument] = precondition?.documents ?? [];
  return (
    recordJson.isWellFormed() &&
    actionKey.isWellFormed() &&
    document.kind.isWellFormed() &&
    document.id.isWellFormed() &&
    (idempotency === null || idempotency.key.isWellFormed()) &&
    entries.every(isWellFormedEntry)
  );
}

function isWellFormedEntry({ definition, key, value }: MeterEntryRow): boolean {
  return definition.isWellFormed() && key.isWellFormed() && (value === null || value.isWellFormed());
}

export function createBatchReader(memory: BatchMemory): (message: BatchMessage) => readonly Write[] {
  const buffer = Buffer.from(memory.texts);
  const numbers = new Float64Array(memory.numbers);
  return (message) => readBatch(message, buffer, numbers);
}

function readBatch(
  { count, textBytes, numberCount, others }: BatchMessage,
  buffer: Buffer,
  numbers: Float64Array,
): readonly Write[] {
  const text = buffer.toString('utf8', 0, textBytes);
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
  while (used < numberCount) {
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
    const entries = Array.from({ length: number() }, (): MeterEntryRow => {
      const [definition, meterKey, value] = [textOf(), textOf(), textOrNull()];
      return { definition, key: meterKey, value, isCertain: number() === 1 };
    });
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
    writes[place] = { kind: 'append-request', row, openMax, precondition, entries };
  }
  return writes;
}
