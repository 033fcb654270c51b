// `writ author install`: adds the author server to the configuration of a client, beside what is there, and
// shows what it wrote.

import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { launcherIn } from '../mcp/launcher.ts';
import { fileError } from '../output/file-error.ts';
import { type ExitCode, exitCodes, print, printError, UsageError } from '../output/output.ts';
import { replaceFile } from '../output/replace-file.ts';
import { readTextOrNull } from '../support/configuration-file.ts';
import { authorClients, type ClientName } from './clients.ts';

export interface InstallOptions {
  readonly workspace: string;
  readonly skill?: boolean;
  readonly dryRun?: boolean;
}

export async function installAuthor(host: ClientName, options: InstallOptions): Promise<ExitCode> {
  const client = authorClients[host];
  const launch = launcherIn(process.cwd());
  const below = relative('', options.workspace);
  if (below.startsWith('..') || isAbsolute(below))
    throw new UsageError(`--workspace ${options.workspace} is not below this folder`);
  const place = below === '' ? client.project : `${client.project}/${below}`;
  const server = { command: launch.command, args: [...launch.args, 'author', place] };
  const before = await readTextOrNull(client.path);
  const { text, entry } = client.add(before, server, client.path);
  const skill = options.skill === true ? [join(client.skills, 'writ/SKILL.md')] : [];
  if (options.dryRun === true) {
    print(text);
    return exitCodes.ok;
  }
  await write(client.path, before, text);
  for (const path of skill) await write(path, await readTextOrNull(path), skillText());
  const others = skill.map((path) => `${path}: how a policy is written, step by step\n`);
  print(`${client.path}:\n${entry}${others.join('')}${client.next}\n`);
  if (!launch.isShared)
    printError(
      `${client.path} now names the writ of this machine: before you share the file, install the package writ in this folder and run the command again\n`,
    );
  return exitCodes.ok;
}

function skillText(): string {
  return readFileSync(new URL('../../../integrations/skills/writ/SKILL.md', import.meta.url), 'utf8');
}

async function write(file: string, before: string | null, text: string): Promise<void> {
  if (text === before) return;
  if (before !== null) return await replaceFile(file, text);
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    throw new UsageError(`cannot write ${file}: ${fileError(error)}`);
  }
}
