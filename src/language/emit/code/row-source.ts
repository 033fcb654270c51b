// The rows that code reads of a table: those of the set, or those that come with each request and pass the gate there.

import { isPushed, type Pushed } from '../../model/pushed-row.ts';
import type { Program } from '../../program/program.ts';
import { PushedSource, type RowSource } from '../runtime/tables.ts';
import { payloadIssues } from './payload-issues.ts';
import { resolvePayload } from './payload-resolve.ts';

/** Of a table that the program has. */
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
