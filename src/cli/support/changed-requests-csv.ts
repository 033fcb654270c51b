// Writes every changed request as a line of a CSV file, while the requests are found.

import { closeSync, openSync, writeSync } from 'node:fs';
import type { ChangedRequest } from '../../analysis/replay/engine/tally.ts';
import type { AskedVotes } from '../../analysis/replay/engine/workload.ts';
import { csvCell } from '../../service/audit/export.ts';
import { fileError } from '../output/file-error.ts';
import { UsageError } from '../output/output.ts';

const cellsOf = {
  request_id: ({ id }) => id,
  at: ({ atMs }) => new Date(atMs).toISOString(),
  agent_id: ({ agentId }) => agentId ?? '',
  agent: ({ agent }) => agent,
  action: ({ action }) => action,
  before: ({ before }) => before.outcome,
  before_by: ({ before }) => before.by,
  before_asks: ({ asked }) => askedText(asked.before),
  now: ({ now }) => now.outcome,
  now_by: ({ now }) => now.by,
  now_asks: ({ asked }) => askedText(asked.now),
  finding: ({ finding }) => finding ?? '',
  incomplete_meters: ({ incompleteMeters }) => incompleteMeters.join('; '),
} as const satisfies Readonly<Record<string, (changed: ChangedRequest) => string>>;

export interface ChangedCsv {
  readonly write: (changed: ChangedRequest) => void;
  readonly close: () => void;
}

/** Lines in one write. */
const linesAtOnce = 500;

/** Opens the file, and replaces an existing one. Throws a UsageError when the file cannot be written. */
export function openChangedCsv(path: string): ChangedCsv {
  const file = tryOn(path, () => openSync(path, 'w'));
  let lines = [Object.keys(cellsOf).join(',')];
  const flush = (): void => {
    if (lines.length > 0) tryOn(path, () => writeSync(file, `${lines.join('\r\n')}\r\n`));
    lines = [];
  };
  return {
    write: (changed) => {
      lines.push(
        Object.values(cellsOf)
          .map((cellOf) => csvCell(cellOf(changed)))
          .join(','),
      );
      if (lines.length >= linesAtOnce) flush();
    },
    close: () => {
      flush();
      closeSync(file);
    },
  };
}

function tryOn<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new UsageError(`cannot write \`${path}\`: ${fileError(error)}`);
  }
}

function askedText(asked: AskedVotes): string {
  return [...asked].map(([group, needs]) => `${needs} ${group}`).join('; ');
}
