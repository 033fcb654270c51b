// `writ import`: turns the permissions of a coding agent into policies, tests and a report. INVARIANT: it writes over no
// file, and an entry that no policy can carry is in the report.

import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { Argument, type Command } from 'commander';
import { readClaudeSettings } from '../import/claude-settings.ts';
import { readCodexConfig, readCodexRules } from '../import/codex.ts';
import { readCursorSettings } from '../import/cursor.ts';
import { readGeminiSettings } from '../import/gemini.ts';
import { readGeminiPolicy } from '../import/gemini-policy.ts';
import { type HostFolders, type HostSettings, SettingsError } from '../import/host-settings.ts';
import { type ImportFiles, importFiles } from '../import/import-files.ts';
import { fileError } from '../output/file-error.ts';
import { many } from '../output/many.ts';
import { type ExitCode, exitCodes, print, printError, UsageError } from '../output/output.ts';

export const importSources = ['claude-settings', 'codex', 'gemini', 'cursor'] as const;
export type ImportSource = (typeof importSources)[number];

export function defineImport(command: Command, finish: (code: ExitCode) => void): void {
  command
    .addArgument(
      new Argument('<source>', 'the coding agent whose permissions are imported').choices(importSources),
    )
    .argument('<file>', 'a settings file, a `.rules` file of Codex, or a policy file of Gemini CLI')
    .option('--out <directory>', 'write the policies, tests and report there, instead of printing them')
    .option('--project <directory>', "the project's folder (default: the folder of the settings)")
    .option('--home <directory>', 'the home directory, for `~` (default: yours)')
    .addHelpText(
      'after',
      '\nExamples:\n  writ import claude-settings .claude/settings.json\n  writ import codex ~/.codex/rules/default.rules --out policies/codex\n  writ import gemini .gemini/settings.json --out policies/gemini',
    )
    .action(async (source: ImportSource, file: string, options: Options) => {
      finish(await importPermissions(source, file, options));
    });
}

interface Options {
  readonly out?: string;
  readonly project?: string;
  readonly home?: string;
}

async function importPermissions(source: ImportSource, file: string, options: Options): Promise<ExitCode> {
  const folders = {
    project: resolve(options.project ?? projectOf(file)),
    home: resolve(options.home ?? homedir()),
  };
  const settings = settingsOf(source, { file, text: await textOf(file), folders });
  const files = await filesOf(settings, file);
  if (options.out === undefined) {
    print(files.policy);
    printError(files.report);
  } else await writeFiles(settings.name, files, options.out);
  return exitCodes.ok;
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

async function writeFiles(name: string, files: ImportFiles, directory: string): Promise<void> {
  const texts = [
    [join(directory, `${name}.policy`), files.policy],
    [join(directory, `${name}.test.yaml`), files.tests],
    [join(directory, `${name}.report.md`), files.report],
  ] as const;
  const existing = texts.find(([path]) => existsSync(path));
  if (existing !== undefined) throw new UsageError(`${existing[0]} exists already; nothing was written`);
  try {
    await mkdir(directory, { recursive: true });
    for (const [path, text] of texts) await writeFile(path, text, { flag: 'wx' });
  } catch (error) {
    throw new UsageError(`cannot write to ${directory}: ${fileError(error)}`);
  }
  const left = files.entries.filter(({ reason }) => reason !== null).length;
  print(`${texts.map(([path]) => path).join('\n')}\n`);
  print(`${many(files.entries.length - left, 'entry', 'entries')} imported, ${left} not: see the report\n`);
}
