// Turns requests into the arguments of `writ_append`, the one statement that stores them. INVARIANT: what is
// stored of a request is what its hash covers: the text around the number of its record is made of the same
// columns that are sent.

import { switchKind } from '../contract/grant-precondition.ts';
import type { MeterEntryRow, MeterSeries } from '../contract/metering.ts';
import type { NonceUse, RequestRow } from '../contract/records.ts';
import type { SealKey } from '../contract/seal.ts';
import type { AppendLimits, AppendResult } from '../contract/store.ts';
import { type RequestColumns, requestColumns } from '../shared/rows.ts';
import type { Fence } from './fence.ts';
import { type RequestTexts, requestParts, requestSeal } from './seals/request-seals.ts';
import { idArray, plainArray, textArray } from './server/arrays.ts';
import type { Query } from './server/connection.ts';
import { zeroByte } from './server/errors.ts';
import { requestIdOrNull } from './server/request-ids.ts';

export interface NewRequest {
  readonly row: RequestRow;
  readonly limits: AppendLimits;
  readonly entries: readonly MeterEntryRow[];
  /** The meters that the decision has read or adds to. */
  readonly series: readonly MeterSeries[];
}

/** The answer of the database about one request of a batch. */
export type AppendStatus = AppendResult | 'policies-changed' | 'meters-moved';

export interface AppendReply {
  readonly results: readonly AppendStatus[] | null;
  readonly server_ms: number;
}

/** A request that is ready to be sent. */
export interface PreparedRequest extends NewRequest {
  readonly columns: RequestColumns;
  readonly parts: RequestTexts;
  readonly seal: string;
}

const argumentCount = 44;

export const appendStatement: Query = {
  name: 'append',
  text: `SELECT * FROM writ_append(${Array.from({ length: argumentCount }, (_, at) => `$${at + 1}`).join(', ')})`,
};

/**
 * Prepares a request for sending. Throws RangeError for a text that is not well-formed or an id that is no
 * UUID, and StoreError for a zero byte, which PostgreSQL cannot hold.
 */
export function prepareRequest(request: NewRequest, sealKey: SealKey): PreparedRequest {
  const columns = requestColumns(request.row);
  if (!columns.record_json.isWellFormed()) throw new RangeError('a record is well-formed text');
  if (requestIdOrNull(columns.id) === null) throw new RangeError('the id of a request is a UUID');
  const meters = [...request.series, ...request.entries].flatMap(({ definition, key }) => [definition, key]);
  const texts = [...Object.values(columns), ...meters];
  if (texts.some((text) => typeof text === 'string' && text.includes('\0'))) throw zeroByte();
  return { ...request, columns, parts: requestParts(columns), seal: requestSeal(sealKey, columns) };
}

/** Returns the arguments in the order of the parameters of `writ_append`. */
export function appendValues(
  fence: Fence,
  seen: string | null,
  nonces: readonly NonceUse[],
  requests: readonly PreparedRequest[],
): readonly unknown[] {
  const texts = (name: KeysOf<RequestColumns, string>) =>
    textArray(requests.map(({ columns }) => columns[name]));
  const numbers = (name: KeysOf<RequestColumns, number>) =>
    plainArray(requests.map(({ columns }) => columns[name]));
  const lane = fence.slot === null ? '' : `"lane":${laneOfSlot(fence.slot)},`;
  const preconditions = requests.map(({ limits }) => limits.precondition ?? null);
  const documents = preconditions.flatMap((precondition, at) =>
    (precondition?.documents ?? []).map((document) => ({ ...document, at: at + 1 })),
  );
  const places = requests.flatMap((request, at) =>
    request.series.map((series) => ({ ...series, at: at + 1 })),
  );
  const entries = requests.flatMap((request, at) =>
    request.entries.map((entry) => ({ ...entry, at: at + 1 })),
  );
  return [
    ...[fence.slot, fence.epoch, fence.batch, switchKind, fence.instance, seen],
    ...[plainArray(nonces.map((use) => use.keptUntilMs)), plainArray(nonces.map((use) => use.usedAtMs))],
    textArray(nonces.map((use) => use.nonce)),
    idArray(requests.map(({ columns: { id } }) => id)),
    ...[texts('agent_id'), texts('action_key'), texts('outcome'), texts('status')],
    ...[numbers('created_ms'), numbers('decided_ms'), numbers('expires_ms')],
    ...[texts('idempotency_key'), texts('idempotency_digest'), numbers('idempotency_until_ms')],
    texts('record_json'),
    textArray(requests.map(({ seal }) => seal)),
    textArray(requests.map(({ parts: [head] }) => head)),
    textArray(requests.map(({ parts: [, before, between] }) => `${before}${lane}${between}`)),
    textArray(requests.map(({ parts: [, , , after] }) => after)),
    plainArray(requests.map(({ limits }) => limits.openMax)),
    textArray(preconditions.map((precondition) => precondition?.agentId ?? null)),
    plainArray(preconditions.map((precondition) => precondition?.agentVersion ?? null)),
    plainArray(preconditions.map((precondition) => precondition?.keyNotAfterMs ?? null)),
    plainArray(preconditions.map((precondition) => precondition?.switchGeneration ?? null)),
    ...[
      textArray(preconditions.map((precondition) => precondition?.policies ?? null)),
      textArray(preconditions.map((precondition) => precondition?.nonce ?? null)),
    ],
    ...[plainArray(documents.map(({ at }) => at)), textArray(documents.map(({ kind }) => kind))],
    ...[textArray(documents.map(({ id }) => id)), plainArray(documents.map(({ version }) => version))],
    ...[plainArray(entries.map(({ at }) => at)), textArray(entries.map(({ definition }) => definition))],
    ...[textArray(entries.map(({ key }) => key)), plainArray(entries.map(({ isCertain }) => isCertain))],
    textArray(entries.map(({ value }) => value)),
    ...[plainArray(places.map(({ at }) => at)), textArray(places.map(({ definition }) => definition))],
    textArray(places.map(({ key }) => key)),
  ];
}

/** Lanes of slots begin at 1, since lane 0 belongs to all other writes. */
function laneOfSlot(slot: number): number {
  return slot + 1;
}

/** The names of the columns that hold `T` or null. */
type KeysOf<C, T> = { [K in keyof C]: C[K] extends T | null ? K : never }[keyof C];

/**
 * Returns a function that takes one request after the other and returns whether it can be judged together
 * with those before: none of them is a reason to refuse it.
 */
export function createTogether(): (request: PreparedRequest) => boolean {
  const seen = new Set<string>();
  return ({ columns }) => {
    const marks = [`id ${columns.id}`];
    if (columns.idempotency_key !== null) marks.push(`key ${columns.agent_id} ${columns.idempotency_key}`);
    if (columns.status === 'pending') marks.push(`open ${columns.agent_id}`);
    if (marks.some((mark) => seen.has(mark))) return false;
    for (const mark of marks) seen.add(mark);
    return true;
  };
}
