// Requests into the arguments of the one statement that stores them. INVARIANT: what is stored of a request is what its hash
// is computed over: the text around the number of its record is made here, of the columns that are sent.

import { canonicalJson } from '../contract/canonical-json.ts';
import { switchKind } from '../contract/grant-basis.ts';
import type { MeterEntryRow } from '../contract/metering.ts';
import type { NonceUse, RequestRow } from '../contract/records.ts';
import type { AppendLimits } from '../contract/store.ts';
import { type RequestColumns, requestColumns } from '../sqlite/rows.ts';
import { plainArray, textArray } from './arrays.ts';
import type { Query } from './connection.ts';
import type { Fence } from './fence.ts';

export interface NewRequest {
  readonly row: RequestRow;
  readonly limits: AppendLimits;
  readonly entries: readonly MeterEntryRow[];
}

/** A request as it is sent. */
export interface PreparedRequest extends NewRequest {
  readonly columns: RequestColumns;
  readonly before: string;
  readonly after: string;
}

const argumentCount = 35;

export const appendStatement: Query = {
  name: 'append',
  text: `SELECT writ_append(${Array.from({ length: argumentCount }, (_, at) => `$${at + 1}`).join(', ')}) AS results`,
};

/** Throws RangeError for a text that no database holds. */
export function prepareRequest(request: NewRequest): PreparedRequest {
  const columns = requestColumns(request.row);
  const { record_json: record, ...others } = columns;
  if (!record.isWellFormed()) throw new RangeError('a record is well-formed text');
  const text = canonicalJson({ ...others, kind: 'request', sequence: 0 });
  if (Object.values(columns).some((value) => typeof value === 'string' && value.includes('\0')))
    throw new RangeError('PostgreSQL has no text with a zero byte');
  // A quotation mark within a value has a backslash before it.
  const name = '"sequence":';
  const at = text.indexOf(name) + name.length;
  return { ...request, columns, before: text.slice(0, at), after: text.slice(at + 1) };
}

/** In the order of the parameters of `writ_append`. */
export function appendValues(
  fence: Fence,
  nonces: readonly NonceUse[],
  requests: readonly PreparedRequest[],
): readonly unknown[] {
  const texts = (name: KeysOf<RequestColumns, string>) =>
    textArray(requests.map(({ columns }) => columns[name]));
  const numbers = (name: KeysOf<RequestColumns, number>) =>
    plainArray(requests.map(({ columns }) => columns[name]));
  const bases = requests.map(({ limits }) => limits.basis ?? null);
  const documents = bases.flatMap((basis, at) =>
    (basis?.documents ?? []).map((document) => ({ ...document, at: at + 1 })),
  );
  const entries = requests.flatMap((request, at) =>
    request.entries.map((entry) => ({ ...entry, at: at + 1 })),
  );
  return [
    ...[fence.slot, fence.epoch, fence.batch, switchKind],
    ...[plainArray(nonces.map((use) => use.keptUntilMs)), plainArray(nonces.map((use) => use.usedAtMs))],
    textArray(nonces.map((use) => use.nonce)),
    ...[texts('id'), texts('agent_id'), texts('action_key'), texts('outcome'), texts('status')],
    ...[numbers('created_ms'), numbers('decided_ms'), numbers('expires_ms')],
    ...[texts('idempotency_key'), texts('idempotency_digest'), numbers('idempotency_until_ms')],
    texts('record_json'),
    ...[textArray(requests.map(({ before }) => before)), textArray(requests.map(({ after }) => after))],
    plainArray(requests.map(({ limits }) => limits.openMax)),
    textArray(bases.map((basis) => basis?.agentId ?? null)),
    plainArray(bases.map((basis) => basis?.agentVersion ?? null)),
    plainArray(bases.map((basis) => basis?.keyNotAfterMs ?? null)),
    plainArray(bases.map((basis) => basis?.switchGeneration ?? null)),
    ...[plainArray(documents.map(({ at }) => at)), textArray(documents.map(({ kind }) => kind))],
    ...[textArray(documents.map(({ id }) => id)), plainArray(documents.map(({ version }) => version))],
    ...[plainArray(entries.map(({ at }) => at)), textArray(entries.map(({ definition }) => definition))],
    ...[textArray(entries.map(({ key }) => key)), plainArray(entries.map(({ isCertain }) => isCertain))],
    textArray(entries.map(({ value }) => value)),
  ];
}

/** The names of the columns that hold this, or null. */
type KeysOf<C, T> = { [K in keyof C]: C[K] extends T | null ? K : never }[keyof C];

/** How many of the first requests can be judged together, as none of them can be the reason to refuse another. */
export function judgedTogether(requests: readonly PreparedRequest[]): number {
  const seen = new Set<string>();
  for (const [at, { columns }] of requests.entries()) {
    const marks = [`id ${columns.id}`];
    if (columns.idempotency_key !== null) marks.push(`key ${columns.agent_id} ${columns.idempotency_key}`);
    if (columns.status === 'pending') marks.push(`open ${columns.agent_id}`);
    if (marks.some((mark) => seen.has(mark))) return at;
    for (const mark of marks) seen.add(mark);
  }
  return requests.length;
}
