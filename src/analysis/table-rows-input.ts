// Reads rows of pushed tables as a person writes them beside a request. INVARIANT: each row fits its table
// and is found by the canonical form of its key.

import { nearestOf } from '../language/diagnostic/suggest.ts';
import { isJsonObject, type JsonObject } from '../language/model/json.ts';
import type { PolicySet } from '../language/model/policy.ts';
import { isPushed, keyedRow, type Pushed, pushedKey, strayKey } from '../language/model/pushed-row.ts';
import type { PushedRows } from '../language/model/request.ts';
import { checkPayload, resolveRecord } from '../language/spec/payload.ts';

/** Reports an issue at a place below `tables`; `help` says what to write, or is null. */
type ReportRow = (steps: readonly string[], message: string, help: string | null) => unknown;

/** The result holds all rows of these tables: there are no others. */
export function readGivenRows(given: JsonObject, set: PolicySet, report: ReportRow): PushedRows {
  const tables = Object.entries(given).map(([name, rows]) => {
    const table = set.tables.get(name);
    if (!isPushed(table)) reportTable(name, set, report);
    else if (isJsonObject(rows)) return [name, rowsOf(table, rows, report)] as const;
    else report([name], `\`tables.${name}\` must be an object of rows by key`, null);
    return [name, {}] as const;
  });
  return { given: Object.fromEntries(tables), areAll: true };
}

function reportTable(name: string, { tables }: PolicySet, report: ReportRow): void {
  const pushed = [...tables.values()].filter(isPushed).map((table) => table.name);
  const nearest = nearestOf(name, pushed);
  const help = nearest === null ? null : `did you mean \`${nearest}\``;
  report([name], `the policies have no table \`${name}\` whose rows are pushed`, help);
}

function rowsOf(table: Pushed, rows: JsonObject, report: ReportRow): PushedRows['given'][string] {
  const fitting = Object.entries(rows).flatMap(([key, row]) => {
    const place = [table.name, key];
    if (!isJsonObject(row)) {
      report(place, `\`tables.${place.join('.')}\` must be an object of cells by column`, null);
      return [];
    }
    const { shape, record } = keyedRow(table, key, row);
    const issues = [...strayKey(table, row), ...checkPayload(shape, record)];
    for (const { pointer, message } of issues) {
      const steps = [...place, ...pointer.split('/').slice(1)];
      report(steps, `\`tables.${steps.join('.')}\` ${message}`, null);
    }
    return issues.length > 0 ? [] : [[pushedKey(table, resolveRecord(shape, record)), row] as const];
  });
  return Object.fromEntries(fitting);
}
