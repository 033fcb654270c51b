// `writ backup`: copies the store of a data directory, with its master key, while the service runs, and checks the copy.

import { dirname } from 'node:path';
import type { Command } from 'commander';
import { verifyChain } from '../../../../service/audit/verify.ts';
import { openStore } from '../../../../service/store/open.ts';
import { type DataOption, withDataOption, withStore } from '../../client/with-store.ts';
import { createMarks, type ExitCode, exitCodes, print, printError } from '../../output/output.ts';

export function defineBackup(command: Command, finish: (code: ExitCode) => void): void {
  withDataOption(command)
    .argument('<file>', 'where to put the copy; its key goes beside it, to FILE.key')
    .addHelpText('after', examples)
    .action(async (file: string, options: DataOption) => {
      finish(
        await withStore(options, async (store) => {
          await store.copyTo(file);
          return await check(file);
        }),
      );
    });
}

const examples = `
Examples:
  writ backup /backup/writ-2026-03-01.db
  cp /backup/writ-2026-03-01.db var/writ.db && cp /backup/writ-2026-03-01.db.key var/writ.db.key   # to restore`;

/** Opens the copy as the service would: its key must match, and its records must verify. */
async function check(file: string): Promise<ExitCode> {
  const copy = await openStore({ path: file });
  try {
    const result = await verifyChain(copy);
    if (result.kind === 'broken') {
      printError(`error: copied as it is, but record ${result.break.sequence}: ${result.break.message}\n`);
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
