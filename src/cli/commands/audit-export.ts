// `writ audit export`: prints the records, and writes the policy sets that decided them for a verifier.

import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { checkpointText, createCheckpointSigner } from '../../service/audit/checkpoint.ts';
import { decidingSets } from '../../service/audit/deciding-sets.ts';
import { type ExportFormat, exportFormats, exportRecords } from '../../service/audit/export.ts';
import { exportedSet } from '../../service/policies/bundles/exported-set.ts';
import { keptTexts } from '../../service/policies/policy-history.ts';
import type { Store } from '../../service/store/contract/store.ts';
import { type DataOption, withDataOption, withStore } from '../client/with-store.ts';
import { fileError } from '../output/file-error.ts';
import { type ExitCode, exitCodes, printError, UsageError } from '../output/output.ts';
import { readMoment } from '../support/parse-time.ts';

interface Options extends DataOption {
  readonly since?: number;
  readonly until?: number;
  readonly format: ExportFormat;
  readonly policies?: string;
}

export function defineExport(command: Command, finish: (code: ExitCode) => void): void {
  withDataOption(command.command('export'))
    .description('print the records, oldest first')
    .option('--since <time>', 'records since this time', readMoment)
    .option('--until <time>', 'records before this time', readMoment)
    .addOption(new Option('--format <format>', 'output format').choices(exportFormats).default('jsonl'))
    .option(
      '--policies <directory>',
      'also write the policy sets that decided, and the checkpoints, for a verifier',
    )
    .action(async (options: Options) => {
      finish(await withStore(options, (store) => exportAll(store, options)));
    });
}

async function exportAll(store: Store, { since, until, format, policies }: Options): Promise<ExitCode> {
  const digests = new Set<string>();
  const onRecord =
    policies === undefined
      ? undefined
      : (entry: Parameters<typeof decidingSets>[0]) => {
          for (const digest of decidingSets(entry)) digests.add(digest);
        };
  for await (const line of exportRecords(store, { format, sinceMs: since, untilMs: until, onRecord })) {
    // With a slow reader, lines must not pile up in memory.
    if (!process.stdout.write(line)) await once(process.stdout, 'drain');
  }
  if (policies === undefined) return exitCodes.ok;
  makeDirectory(policies);
  await writeCheckpoints(store, policies);
  return await writeSets(store, digests, policies);
}

/** Writes the checkpoints of the store, and the one that permits records to be missing at the beginning. */
async function writeCheckpoints(store: Store, directory: string): Promise<void> {
  const signer = createCheckpointSigner(store.masterKey);
  const { pruning } = await store.chain.segment(0, 1);
  const checkpoints = [...(pruning === null ? [] : [pruning]), ...(await store.chain.checkpoints())];
  const lines = checkpoints.map((checkpoint) => checkpointText(checkpoint, signer));
  writeFileSync(join(directory, 'checkpoints.jsonl'), lines.join(''));
}

/** Writes each set as `DIGEST.json`. Names the sets that cannot be written. */
async function writeSets(store: Store, digests: ReadonlySet<string>, directory: string): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok;
  for (const digest of digests) {
    const texts = await keptTexts(store.documents, digest);
    const file = texts === null ? null : exportedSet(texts, digest);
    if (file === null) {
      const why =
        texts === null
          ? 'its texts are no longer kept'
          : 'its texts have another meaning in this release; export it with the release that decided';
      printError(`error: the policy set ${digest} cannot be written: ${why}\n`);
      code = exitCodes.wrong;
    } else writeFileSync(join(directory, `${digest}.json`), file);
  }
  return code;
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new UsageError(`cannot write to ${path}: ${fileError(error)}`);
  }
}
