// The tables of a program whose rows are pushed, and the check of such rows.

import type { CheckedRow, PolicyEngine } from '../model/active-policies.ts';
import type { JsonObject } from '../model/json.ts';
import { isPushed, keyedRow, type Pushed, pushedKey, strayKey } from '../model/pushed-row.ts';
import type { Program } from '../program/program.ts';
import { payloadIssues } from './code/payload-issues.ts';
import { resolvePayload } from './code/payload-resolve.ts';

/** Finds the tables when they are first needed. */
export function createPushedTables({ tables }: Program): Pick<PolicyEngine, 'checkRow' | 'pushedTables'> {
  let pushed: ReadonlyMap<string, Pushed> | null = null;
  const pushedTables = () => {
    pushed ??= new Map([...tables.values()].filter(isPushed).map((table) => [table.name, table]));
    return pushed;
  };
  return {
    pushedTables,
    checkRow: (name, key, row) => {
      const table = pushedTables().get(name);
      return table === undefined ? null : checkRow(table, key, row);
    },
  };
}

function checkRow(table: Pushed, key: string, row: JsonObject): CheckedRow {
  const { shape, record } = keyedRow(table, key, row);
  const issues = [...strayKey(table, row), ...payloadIssues(shape, record)];
  if (issues.length > 0) return { kind: 'unfit', issues };
  return { kind: 'fit', key: pushedKey(table, resolvePayload(shape, record)) };
}
