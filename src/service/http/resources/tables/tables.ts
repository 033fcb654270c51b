// /v1/tables: the rows of pushed tables. People may change them by their roles, an enforcement point may
// change rows of tables that name it. INVARIANT: a row that is answered with 200 fits its table and is on
// record; no decision reads any other row.

import { describeSlot } from '../../../../language/model/describe.ts';
import type { JsonObject } from '../../../../language/model/json.ts';
import type { PushedTable } from '../../../../language/model/pushed-row.ts';
import { isoTime } from '../../../../language/value/iso-time.ts';
import { recordName } from '../../../people/person.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { ReadDocument } from '../../../store/contract/collection.ts';
import type { Store } from '../../../store/contract/store.ts';
import type { RowChangeResult, RowChanger, TableRow } from '../../../tables/table-rows.ts';
import * as pushed from '../../../tables/table-rows.ts';
import { conflict, notAllowed, notFound } from '../../auth/auth-refusals.ts';
import type { Parameter } from '../../contract/operation.ts';
import { collect, pageOf, pageParameters, pageReply, readPage } from '../../contract/page.ts';
import { ProblemError } from '../../contract/problem.ts';
import { listReply, noContent, objectSchema, text, textList, time } from '../../contract/schemas.ts';
import { actorOf, type ManagedCall, type Route, route } from '../../routing/route.ts';

interface TableDeps {
  readonly store: Pick<Store, 'documents'>;
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly clock: () => number;
}

const nameParameter: Parameter = {
  name: 'name',
  in: 'path',
  isRequired: true,
  description: 'The name of the table in the active policies.',
  schema: { type: 'string' },
  example: 'orders',
};

const keyParameter: Parameter = {
  name: 'key',
  in: 'path',
  isRequired: true,
  description: `The key of the row as the list shows it, percent-encoded; at most ${pushed.keyLengthMax} characters.`,
  schema: { type: 'string' },
  example: 'o-1',
};

/** Headers of replies to an enforcement point. */
const rateHeaders = ['RateLimit-Policy', 'RateLimit'] as const;

const tableSchema = objectSchema({
  name: text(200),
  key: objectSchema({ name: text(200), type: text(2_000) }),
  columns: {
    type: 'array',
    items: objectSchema({ name: text(200), type: text(2_000), is_optional: { type: 'boolean' } }),
  },
  pushed_by: textList,
});

const tableExample = {
  name: 'orders',
  key: { name: 'id', type: 'string' },
  columns: [
    { name: 'owner', type: 'string', is_optional: false },
    { name: 'status', type: '"open" | "closed"', is_optional: false },
  ],
  pushed_by: ['crm'],
};

const rowFields = {
  table: text(200),
  key: text(pushed.keyLengthMax),
  row: { type: 'object', additionalProperties: true },
  /** Grows by one with each change of the row. */
  version: { type: 'integer', minimum: 1 },
  changed_at: time,
  changed_by: text(500),
};

const rowSchema = objectSchema(rowFields);

const rowExample = {
  table: 'orders',
  key: 'o-1',
  row: { owner: 'ann', status: 'open' },
  version: 1,
  changed_at: '2026-03-02T10:00:00.000Z',
  changed_by: 'point crm (5a0c0de0-0000-4000-8000-000000000000)',
};

const listTables = route<TableDeps>({
  method: 'GET',
  url: '/v1/tables',
  access: 'tables.view',
  operation: {
    id: 'listTables',
    summary: 'The pushed tables of the active policies, by name',
    replies: { 200: listReply('The tables', tableSchema, tableExample) },
  },
  handle: async ({ policies }) => ({
    items: [...policies.current().pushedTables().values()].map(tableView),
  }),
});

const listRows = route<TableDeps>({
  method: 'GET',
  url: '/v1/tables/:name',
  access: 'tables.view',
  operation: {
    id: 'listRows',
    summary: 'The rows of a table, newest first',
    parameters: [nameParameter, ...pageParameters],
    replies: { 200: pageReply('A page of rows', rowSchema, rowExample) },
    problems: ['not_found'],
  },
  handle: async ({ store, policies }, call) => {
    const { name } = tableIn(policies, call);
    const { countMax, after } = readPage(call.query);
    const rows = pushed.rowsIn(store.documents);
    const range = { countMax: countMax + 1, after };
    const storedTableRows = await collect(range, {
      next: (from, most) => rows.list({ parent: name, after: from, countMax: most }),
      positionOf: ({ value }) => value,
      matches: ({ value }) => value.row !== null,
    });
    const versioned = storedTableRows.map(({ value, version }) => ({
      value: { ...value, version },
      version,
    }));
    return pageOf(versioned, countMax, (value) => shownRow({ value, version: value.version }));
  },
});

const getRow = route<TableDeps>({
  method: 'GET',
  url: '/v1/tables/:name/:key',
  access: 'tables.view',
  operation: {
    id: 'getRow',
    summary: 'A row of a table',
    parameters: [nameParameter, keyParameter],
    replies: { 200: { description: 'The row', schema: rowSchema, example: rowExample } },
    problems: ['not_found'],
  },
  handle: async ({ store, policies }, call) => {
    const { name } = tableIn(policies, call);
    const storedTableRow = await pushed
      .rowsIn(store.documents)
      .find(pushed.rowId(name, call.params.key ?? ''));
    if (storedTableRow === null || storedTableRow.value.row === null) throw notFound('row');
    return shownRow(storedTableRow);
  },
});

const putRow = route<TableDeps, JsonObject>({
  method: 'PUT',
  url: '/v1/tables/:name/:key',
  access: 'tables.change',
  isForPoints: true,
  operation: {
    id: 'putRow',
    summary: 'Adds a row to a table, or replaces the row with the same key',
    description:
      'The body is the row without its key: one cell per declared column. After the reply, every decision on every replica reads the row, and the record says who pushed it. An enforcement point can push to tables that name it, with its key as `X-Agent-API-Key`. An identical row is not recorded again.',
    parameters: [nameParameter, keyParameter],
    body: {
      description: 'The cells, by column name.',
      schema: { type: 'object', additionalProperties: true },
      examples: { order: rowExample.row },
    },
    replies: {
      200: {
        description: 'The recorded row',
        schema: rowSchema,
        example: rowExample,
        headers: rateHeaders,
      },
    },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ store, policies, clock }, call) => {
    const table = tableIn(policies, call);
    const by = changer({ store, clock }, table, call);
    const key = keyFor(policies, table, call);
    return changed(await pushed.pushRow(by, { table: table.name, key }, call.body));
  },
});

const deleteRow = route<TableDeps>({
  method: 'DELETE',
  url: '/v1/tables/:name/:key',
  access: 'tables.change',
  isForPoints: true,
  operation: {
    id: 'deleteRow',
    summary: 'Removes a row from a table',
    description:
      'After the reply, no decision on any replica reads the row. Whoever can push a row can remove it.',
    parameters: [nameParameter, keyParameter],
    replies: { 204: { ...noContent('Removed and recorded'), headers: rateHeaders } },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ store, policies, clock }, call) => {
    const table = tableIn(policies, call);
    const by = changer({ store, clock }, table, call);
    changed(await pushed.removeRow(by, { table: table.name, key: call.params.key ?? '' }));
  },
});

export const tableRoutes: readonly Route<TableDeps>[] = [listTables, listRows, getRow, putRow, deleteRow];

function tableIn(
  policies: TableDeps['policies'],
  { params }: Pick<ManagedCall<unknown>, 'params'>,
): PushedTable {
  const table = policies
    .current()
    .pushedTables()
    .get(params.name ?? '');
  if (table !== undefined) return table;
  throw new ProblemError('not_found', 'no rule of the active policies reads a pushed table with this name');
}

/**
 * Who changes the row. Throws a ProblemError when an enforcement point calls that the table does not name;
 * people may change every table.
 */
function changer(
  { store, clock }: Pick<TableDeps, 'store' | 'clock'>,
  { name, pushed: declared }: PushedTable,
  call: ManagedCall<unknown>,
): RowChanger {
  const by = { documents: store.documents, nowMs: Math.trunc(clock()) };
  const { point } = call;
  if (point === undefined) return { ...by, who: recordName(actorOf(call).person) };
  if (declared.by.includes(point.name)) return { ...by, who: `point ${point.name} (${point.id})` };
  throw notAllowed(`the table \`${name}\` is not \`pushed by "${point.name}"\``);
}

/** The key of a row in canonical form; throws a ProblemError when key or row do not fit the table. */
function keyFor(
  policies: TableDeps['policies'],
  { name }: PushedTable,
  call: ManagedCall<JsonObject>,
): string {
  const sent = call.params.key ?? '';
  const checked = policies.current().checkRow(name, sent, call.body);
  if (checked === null) throw conflict();
  if (checked.kind === 'unfit') {
    const errors = checked.issues.map(({ pointer, message }) => ({ pointer, detail: message }));
    const [first] = errors;
    throw new ProblemError('invalid_body', `\`${first?.pointer}\` ${first?.detail}`, { errors });
  }
  if (checked.key.length <= pushed.keyLengthMax) return checked.key;
  throw new ProblemError('invalid_body', `a key has at most ${pushed.keyLengthMax} characters`);
}

function changed(result: RowChangeResult) {
  if ('stored' in result) return shownRow(result.stored);
  throw result.kind === 'unknown' ? notFound('row') : conflict();
}

function tableView({ name, key, pushed: { keyName, shape, by } }: PushedTable) {
  const slot = { type: key, isNullable: false, isSecret: false, isSigned: false };
  return {
    name,
    key: { name: keyName, type: describeSlot(slot) },
    columns: shape.fields.map((field) => ({
      name: field.name,
      type: describeSlot(field),
      is_optional: field.isOptional,
    })),
    pushed_by: [...by],
  };
}

function shownRow({ value, version }: ReadDocument<TableRow>) {
  const { table, key, row, changedAtMs, changedBy } = value;
  return { table, key, row, version, changed_at: isoTime(changedAtMs), changed_by: changedBy };
}
