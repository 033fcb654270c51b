// `writ tables`: shows and changes the rows of pushed tables in a running service.

import type { Command } from 'commander';
import type { Reply } from '../../api/operations.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import {
  type Api,
  type ApiOptions,
  apiHelp,
  type Page,
  show,
  step,
  withApi,
  withApiOptions,
} from '../client/api-client.ts';
import { localTime } from '../output/local-time.ts';
import { type ExitCode, print, UsageError } from '../output/output.ts';
import { printable, table } from '../output/table.ts';
import { addExamples } from '../support/help-layout.ts';

type TableView = Reply<'listTables'>['items'][number];

type RowView = Reply<'listRows'>['items'][number];

type PageOptions = ApiOptions & { readonly limit?: string; readonly cursor?: string };

export function defineTables(command: Command, finish: (code: ExitCode) => void): void {
  addExamples(command, examples + apiHelp);
  withApiOptions(command.command('list'))
    .description('list the tables with pushed rows, or the rows of one')
    .argument('[table]', "the table's name in the active policies")
    .option('--limit <n>', 'maximum number of rows, 1 to 200')
    .option('--cursor <cursor>', 'the cursor from the previous page')
    .action(async (name: string | undefined, options: PageOptions) => {
      finish(
        await withApi(options, (api) =>
          name === undefined ? tables(api, options) : rows(api, name, options),
        ),
      );
    });
  withApiOptions(command.command('set'))
    .description('add a row to a table, or replace the row with this key')
    .argument('<table>', "the table's name in the active policies")
    .argument('<key>', 'the key of the row')
    .argument('<row>', 'the other columns as a JSON object')
    .action(async (name: string, key: string, text: string, options: ApiOptions) => {
      const row = readRow(text);
      finish(
        await withApi(options, async (api) => {
          const set = await api.put<RowView>(rowPath(name, key), row);
          show(options, set, ({ version }) =>
            print(`${printable(key)} of ${name} is stored, version ${version}\n`),
          );
        }),
      );
    });
  withApiOptions(command.command('remove'))
    .description('remove a row from a table')
    .argument('<table>', "the table's name in the active policies")
    .argument('<key>', 'the key of the row, from `list`')
    .action(async (name: string, key: string, options: ApiOptions) => {
      finish(
        await withApi(options, async (api) => {
          await api.delete(rowPath(name, key));
          show(options, { table: name, key, status: 'removed' }, () =>
            print(`${printable(key)} of ${name} is removed\n`),
          );
        }),
      );
    });
}

const examples = `
Examples:
  writ tables list
  writ tables list orders
  writ tables set orders o-1 '{"owner": "ann", "status": "open"}'
  writ tables remove orders o-1
`;

async function tables(api: Api, options: ApiOptions): Promise<void> {
  const list = await api.get<{ items: readonly TableView[] }>('/v1/tables');
  show(options, list, ({ items }) => {
    if (items.length === 0) return print('no rule reads a table with pushed rows\n');
    print(
      table(
        ['table', 'key', 'columns', 'pushed by'],
        items.map(({ name, key, columns, pushed_by: by }) => [
          ...[name, `${key.name}: ${key.type}`],
          columns.map((one) => `${one.name}${one.is_optional ? '?' : ''}: ${one.type}`).join(', '),
          by.length === 0 ? 'people' : `${by.join(', ')}, people`,
        ]),
      ),
    );
  });
}

async function rows(api: Api, name: string, options: PageOptions): Promise<void> {
  const { limit, cursor } = options;
  const page = await api.get<Page<RowView>>(`/v1/tables/${step(name)}`, { limit, cursor });
  show(options, page, ({ items, next_cursor: next }) => {
    if (items.length === 0) return print('no rows\n');
    print(
      table(
        ['key', 'row', 'version', 'changed', 'by'],
        items.map(({ key, row, version, changed_at: at, changed_by: by }) => [
          ...[key, JSON.stringify(row), String(version), localTime(at), by],
        ]),
      ),
    );
    if (next) print(`for the next page: --cursor ${next}\n`);
  });
}

function rowPath(name: string, key: string): string {
  return `/v1/tables/${step(name)}/${step(key)}`;
}

function readRow(text: string): JsonObject {
  let row: Json = null;
  try {
    row = JSON.parse(text) as Json;
  } catch {
    // Text that is not JSON is reported below.
  }
  if (isJsonObject(row)) return row;
  throw new UsageError(`\`${text}\` is not a row: use a JSON object such as '{"owner": "ann"}'`);
}
