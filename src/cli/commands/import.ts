// `writ import`: turns the permissions of a coding agent, or Cedar policies, into policies, tests and a report. INVARIANT: it
// writes over no file, and an entry that no policy can carry is in the report.

import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { Argument, type Command, Option } from 'commander';
import { type CedarOptions, importCedarFolder } from '../import/cedar/import-folder.ts';
import { principalFacts } from '../import/cedar/write-cedar.ts';
import { readClaudeSettings } from '../import/claude-settings.ts';
import { readCodexConfig, readCodexRules } from '../import/codex.ts';
import { readCursorSettings } from '../import/cursor.ts';
import { readGeminiSettings } from '../import/gemini.ts';
import { readGeminiPolicy } from '../import/gemini-policy.ts';
import { type HostFolders, type HostSettings, SettingsError } from '../import/host-settings.ts';
import { importFiles } from '../import/import-files.ts';
import type { ImportFiles } from '../import/report.ts';
import { fileError } from '../output/file-error.ts';
import { many } from '../output/many.ts';
import { type ExitCode, exitCodes, print, printError, UsageError } from '../output/output.ts';

export const importSources = ['claude-settings', 'codex', 'gemini', 'cursor'] as const;
export type ImportSource = (typeof importSources)[number];

export function defineImport(command: Command, finish: (code: ExitCode) => void): void {
  command
    .addArgument(
      new Argument('<source>', 'the coding agent whose permissions are imported, or cedar').choices([
        ...importSources,
        'cedar',
      ]),
    )
    .argument(
      '<file>',
      'a settings file, a `.rules` file of Codex, a policy file of Gemini CLI, or a folder of Cedar policies',
    )
    .option('--out <directory>', 'write the policies, tests and report there, instead of printing them')
    .option('--project <directory>', "the project's folder (default: the folder of the settings)")
    .option('--home <directory>', 'the home directory, for `~` (default: yours)')
    .option('--schema <file>', "cedar: the schema, in Cedar's own format or in JSON")
    .option('--point <name>', 'cedar: the enforcement point that sends the requests (default: gateway)')
    .addOption(
      new Option(
        '--principal <fact>',
        "cedar: deny a principal that is not the request's user or agent",
      ).choices(principalFacts),
    )
    .option('--requests <number>', 'cedar: how many requests Cedar and the policies decide (default: 100000)')
    .addHelpText(
      'after',
      '\nExamples:\n  writ import claude-settings .claude/settings.json\n  writ import codex ~/.codex/rules/default.rules --out policies/codex\n  writ import gemini .gemini/settings.json --out policies/gemini\n  writ import cedar policies --schema schema.cedarschema --out policies/cedar',
    )
    .action(async (source: ImportSource | 'cedar', file: string, options: Options) => {
      requireFit(source, options);
      finish(
        source === 'cedar'
          ? await importCedar(file, options)
          : await importPermissions(source, file, options),
      );
    });
}

interface Options extends CedarOptions {
  readonly out?: string;
  readonly project?: string;
  readonly home?: string;
}

const optionsOf = {
  cedar: ['schema', 'point', 'principal', 'requests'],
  agents: ['project', 'home'],
} as const;

/** An option of another source would be ignored, so it is an error. */
function requireFit(source: ImportSource | 'cedar', options: Options): void {
  const unfit = optionsOf[source === 'cedar' ? 'agents' : 'cedar'].find(
    (name) => options[name] !== undefined,
  );
  if (unfit !== undefined) throw new UsageError(`\`--${unfit}\` is no option of \`writ import ${source}\``);
}

async function importCedar(folder: string, options: Options): Promise<ExitCode> {
  if (options.out !== undefined) requireNew('cedar', options.out);
  const files = await importCedarFolder(folder, options);
  if (files === null) return exitCodes.wrong;
  await output('cedar', files, options.out);
  return exitCodes.ok;
}

async function importPermissions(source: ImportSource, file: string, options: Options): Promise<ExitCode> {
  const folders = {
    project: resolve(options.project ?? projectOf(file)),
    home: resolve(options.home ?? homedir()),
  };
  const settings = settingsOf(source, { file, text: await textOf(file), folders });
  const files = await filesOf(settings, file);
  await output(settings.name, files, options.out);
  return exitCodes.ok;
}

async function output(name: string, files: ImportFiles, out: string | undefined): Promise<void> {
  if (out !== undefined) return await writeFiles(name, files, out);
  print(files.policy);
  printError(files.report);
}

async function filesOf(settings: HostSettings, file: string): Promise<ImportFiles> {
  try {
    return await importFiles(settings);
  } catch (error) {
    if (error instanceof SettingsError) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}

/** The folder above a settings folder such as `.claude`, or else the folder of the file. */
function projectOf(file: string): string {
  const folder = dirname(resolve(file));
  return basename(folder).startsWith('.') ? dirname(folder) : folder;
}

async function textOf(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`${file} is not valid UTF-8`);
    throw new UsageError(`cannot read ${file}: ${fileError(error)}`);
  }
}

interface SettingsFile {
  readonly file: string;
  readonly text: string;
  readonly folders: HostFolders;
}

export function settingsOf(source: ImportSource, { file, text, folders }: SettingsFile): HostSettings {
  try {
    switch (source) {
      case 'claude-settings':
        return readClaudeSettings(text, folders);
      case 'codex':
        return file.endsWith('.toml') ? readCodexConfig(text) : readCodexRules(text);
      case 'gemini':
        return file.endsWith('.toml') ? readGeminiPolicy(text) : readGeminiSettings(text);
      case 'cursor':
        return readCursorSettings(text, folders);
    }
  } catch (error) {
    if (error instanceof SettingsError) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}

const suffixes = ['policy', 'test.yaml', 'report.md'] as const;

function requireNew(name: string, directory: string): void {
  const existing = suffixes
    .map((suffix) => join(directory, `${name}.${suffix}`))
    .find((path) => existsSync(path));
  if (existing !== undefined) throw new UsageError(`${existing} exists already; nothing was written`);
}

async function writeFiles(name: string, files: ImportFiles, directory: string): Promise<void> {
  const contents = [files.policy, files.tests, files.report];
  const texts = suffixes.map((suffix, at) => [join(directory, `${name}.${suffix}`), contents[at]!] as const);
  requireNew(name, directory);
  try {
    await mkdir(directory, { recursive: true });
    for (const [path, text] of texts) await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    throw new UsageError(`cannot write to ${directory}: ${fileError(error)}`);
  }
  const left = files.entries.filter(({ reason }) => reason !== null).length;
  print(`${texts.map(([path]) => path).join('\n')}\n`);
  print(
    `${many(files.entries.length - left, files.words.entry, files.words.entries)} imported, ${left} not: see the report\n`,
  );
}
