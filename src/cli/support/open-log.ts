// Opens the log that a command reads: an export of requests, or the records of a data directory.

import type { LogSource } from '../../analysis/replay/log-source.ts';
import { NoExportError, openExport } from '../../analysis/replay/read-export.ts';
import { openStoredLog, type StoredLogOptions } from '../../analysis/replay/read-store.ts';
import { commandStoreLocation, withRecords } from '../client/with-store.ts';
import { fileError } from '../output/file-error.ts';
import { type ExitCode, printError, UsageError } from '../output/output.ts';

export interface NamedLog extends StoredLogOptions {
  /** A file of exported requests; null for the records of `data`. */
  readonly file: string | null;
  readonly data: string;
  readonly json?: boolean | undefined;
}

/** Opens the log and runs `run` on it. Throws a UsageError for a file that cannot be read. */
export async function withLog(
  named: NamedLog,
  run: (log: LogSource) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { file } = named;
  if (file === null)
    return await withRecords(named, async (records) => {
      const location = commandStoreLocation(named);
      return await run(await openStoredLog(records, { ...named, location }));
    });
  const log = await openExport(file).catch((error: unknown) => {
    const isOther = error instanceof NoExportError;
    throw new UsageError(`cannot read \`${file}\`: ${isOther ? error.message : fileError(error)}`);
  });
  return await run(log);
}

/** Prints which parts of a log could not be read. */
export function showFaults({ named, count }: LogSource['faults']): void {
  for (const text of named) printError(`error: ${text}\n`);
  if (count > 0) printError(`error: ${count.toLocaleString('en')} unreadable, not in the figures\n`);
}
