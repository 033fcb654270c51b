// `writ verify-bundle`: checks that a bundle is whole, that the expected key has signed it, and that its
// program is what its texts compile to.

import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { wholeOf } from '../../language/program/packed/serialize.ts';
import { compileToProgram } from '../../pipeline.ts';
import { bundleContents } from '../../service/policies/bundles/bundle-contents.ts';
import { sourcesOf } from '../../service/policies/bundles/read-sources.ts';
import {
  BundleError,
  type OpenedBundle,
  readBundle,
  type SetFacts,
} from '../../service/policies/compiled/bundle.ts';
import { fileError } from '../output/file-error.ts';
import { many } from '../output/many.ts';
import { type ExitCode, exitCodes, print, printError, printJson, UsageError } from '../output/output.ts';
import { signedText } from './build.ts';

export function defineVerifyBundle(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('<file>', 'a bundle from `writ build`')
    .option('--key <key>', 'require a signature with this public key, as `writ build` prints it')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  writ verify-bundle policies.writ\n  writ verify-bundle policies.writ --key "$BUNDLE_KEY"\n',
    )
    .action(async (file: string, options: Options) => {
      finish(await verifyBundle(file, options));
    });
}

interface Options {
  readonly key?: string;
  readonly json?: boolean;
}

async function verifyBundle(file: string, { key, json }: Options): Promise<ExitCode> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new UsageError(`cannot read ${file}: ${fileError(error)}`);
  });
  const report = await examine(bytes, key);
  if (json === true) printJson(report);
  else if (report.problem !== null) printError(`${file}: ${report.problem}\n`);
  else
    print(
      `${file}: ${many(report.files, 'file')}, ${signedText(report.key)}, and the program matches them\n`,
    );
  return report.problem === null ? exitCodes.ok : exitCodes.wrong;
}

interface BundleReport {
  /** What is wrong with the bundle; null when nothing is. */
  readonly problem: string | null;
  readonly files: number;
  readonly key: string | null;
  readonly commit: string | null;
  readonly made: string | null;
}

async function examine(bytes: Uint8Array, key: string | undefined): Promise<BundleReport> {
  try {
    const bundle = await readBundle(bytes, key);
    return {
      problem: saysWhatItsTextsSay(bundle) ? null : 'its program does not match its sources',
      files: bundle.texts.length,
      key: bundle.key,
      commit: bundle.commit,
      made: new Date(bundle.madeMs).toISOString(),
    };
  } catch (error) {
    if (!(error instanceof BundleError)) throw error;
    return { problem: error.message, files: 0, key: null, commit: null, made: null };
  }
}

function saysWhatItsTextsSay({ texts, program, facts }: OpenedBundle): boolean {
  const read = sourcesOf({ texts });
  const made = bundleContents(read, compileToProgram(read.sources));
  if (made === null || !isDeepStrictEqual(wholeOf(made.program), wholeOf(program))) return false;
  return (
    facts === undefined || (made.facts !== undefined && isDeepStrictEqual(asRead(made.facts), asRead(facts)))
  );
}

/** The facts of a set in the form that reading a bundle gives them. */
function asRead({ about, ...others }: SetFacts): unknown {
  return { others: JSON.parse(JSON.stringify(others)), about };
}
