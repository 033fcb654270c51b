// The rows of a table that generated code reads: rows of the policy set, or rows that come with each request
// and are checked like a payload.

import { isPushed, type Pushed } from '../../model/pushed-row.ts';
import type { Program } from '../../program/program.ts';
import { PushedSource, type RowSource } from '../runtime/tables.ts';
import { payloadIssues } from './payload-issues.ts';
import { resolvePayload } from './payload-resolve.ts';

/** Returns the source of the rows of a table. The program must have the table. */
export function rowSource({ tables }: Program, name: string): RowSource {
  const table = tables.get(name);
  if (isPushed(table)) return pushedSource(table);
  return table!.rows!;
}

function pushedSource(table: Pushed): PushedSource {
  const { shape } = table.pushed;
  return new PushedSource(table, (row) =>
    payloadIssues(shape, row).length > 0 ? 'unfit' : resolvePayload(shape, row),
  );
}
