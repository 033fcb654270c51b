// `writ backup`: copies the store of a data directory, with its master key, while the service runs, and checks the copy.

import { dirname } from 'node:path';
import type { Command } from 'commander';
import { verifyChain } from '../../service/audit/verify.ts';
import { StoreError } from '../../service/store/contract/store-error.ts';
import { type CopySource, openStore, openToCopy } from '../../service/store/open.ts';
import { commandLineUser, type DataOption, withDataOption, withStoreAt } from '../client/with-store.ts';
import { createMarks, type ExitCode, exitCodes, print, printError } from '../output/output.ts';

export function defineBackup(command: Command, finish: (code: ExitCode) => void): void {
  withDataOption(command)
    .argument('<file>', 'the file for the copy; its key is copied to FILE.key')
    .addHelpText('after', examples)
    .action(async (file: string, options: DataOption) => {
      finish(
        await withStoreAt(
          options,
          (location) => openToCopy({ ...location, actor: commandLineUser() }),
          async (source) => {
            await source.copyTo(file);
            const code = source.isEarlier ? tellEarlier(file) : await check(file);
            if (code === exitCodes.ok) await note(source);
            return code;
          },
        ),
      );
    });
}

const examples = `
Examples:
  writ backup /backup/writ-2026-03-01.db
  writ restore /backup/writ-2026-03-01.db    # to restore it, while no service runs`;

/** The service shows in its metrics when the last backup was made; the backup is good without that. */
async function note(source: CopySource): Promise<void> {
  try {
    await source.noteBackup(Date.now());
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    printError(`warning: the time of this backup could not be noted: ${error.message}\n`);
  }
}

/** Only the earlier version knows how to verify its records, and the copy must stay one for that version. */
function tellEarlier(file: string): ExitCode {
  print(
    `${createMarks().good('✓')} ${file} and its key are in ${dirname(file)}, in the format of an earlier version\n` +
      '  its pages were checked, not its records: use `writ audit verify` of that version\n',
  );
  return exitCodes.ok;
}

/** Opens the copy as the service would: its key must match, and its records must verify. */
async function check(file: string): Promise<ExitCode> {
  const copy = await openStore({ path: file });
  try {
    const result = await verifyChain(copy);
    if (result.kind === 'broken') {
      printError(`error: copied unchanged, but record ${result.break.sequence}: ${result.break.message}\n`);
      return exitCodes.wrong;
    }
    const { sequence } = result.end;
    print(
      `${createMarks().good('✓')} ${file} and its key are in ${dirname(file)}, with records up to ${sequence}\n`,
    );
    return exitCodes.ok;
  } finally {
    await copy.close();
  }
}
