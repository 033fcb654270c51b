// `writ init`: makes a directory with a small policy or a pack, its tests, a page about them and one
// for coding agents. INVARIANT: the command changes no existing file, and refuses a directory that is not empty.

import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { nearestOf } from '../../language/diagnostic/suggest.ts';
import { parse } from '../../language/syntax/parse.ts';
import { printFile } from '../../language/syntax/print/print.ts';
import { writCommand } from '../../service/http/writ-command.ts';
import { createMarks, type ExitCode, exitCodes, print, UsageError } from '../output/output.ts';

// Asks on a terminal for what the arguments of `writ init` leave open: a line for each question, with a
// default answer for Enter. INVARIANT: without a terminal nothing is asked, and a person who ends the input
// answers nothing.

export interface InitAnswers {
  /** The name of the pack; null for the small policy. */
  readonly pack: string | null;
  readonly directory: string;
  /** The domain of the organisation; null keeps the domain of the texts. */
  readonly domain: string | null;
}

/** The values from the command line; the questions ask for undefined ones. */
export interface InitArguments {
  readonly pack?: string | undefined;
  readonly directory?: string | undefined;
  readonly domain?: string | undefined;
}

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

export const directoryDefault = 'policies';
export const exampleDomain = 'example.com';

export async function answersOf(
  given: InitArguments,
  packs: readonly string[],
  { input, output }: Terminal,
): Promise<InitAnswers> {
  const { pack, directory, domain } = given;
  if (domain !== undefined && !isDomain(domain)) throw new UsageError(`--domain ${notDomain(domain)}`);
  if (input.isTTY !== true || output.isTTY !== true)
    return { pack: pack ?? null, directory: directory ?? directoryDefault, domain: domain ?? null };
  const lines = createInterface({ input, output });
  // Lines that were typed ahead are kept for later questions, even after the input has ended.
  const typed = lines[Symbol.asyncIterator]();
  let isOpen = true;
  lines.once('close', () => {
    isOpen = false;
  });
  const ask: Ask = async (question) => {
    lines.setPrompt(question);
    if (isOpen) lines.prompt();
    else output.write(question);
    const { value, done } = await typed.next();
    if (done === true)
      throw new UsageError('the input ended before all questions were answered; nothing was written');
    return value;
  };
  try {
    return {
      pack: pack ?? (await packOf(ask, packs, output)),
      directory:
        directory ?? ((await ask(`Which directory? [${directoryDefault}] `)).trim() || directoryDefault),
      domain: domain ?? (await domainOf(ask, output)),
    };
  } finally {
    lines.close();
  }
}

type Ask = (question: string) => Promise<string>;

async function packOf(
  ask: Ask,
  packs: readonly string[],
  output: Terminal['output'],
): Promise<string | null> {
  output.write(`Packs: ${packs.join(', ')}\n`);
  for (;;) {
    const answer = (await ask('Which pack? [none: a small policy] ')).trim();
    if (answer === '') return null;
    if (packs.includes(answer)) return answer;
    const nearest = nearestOf(answer, packs);
    output.write(`There is no such pack${nearest === null ? '' : `: did you mean ${nearest}?`}\n`);
  }
}

async function domainOf(ask: Ask, output: Terminal['output']): Promise<string | null> {
  for (;;) {
    const answer = (await ask(`Your domain? [${exampleDomain}] `)).trim();
    if (answer === '') return null;
    if (isDomain(answer)) return answer;
    output.write(`${notDomain(answer)}\n`);
  }
}

function isDomain(text: string): boolean {
  return text.length <= 200 && /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/.test(text);
}

function notDomain(text: string): string {
  return `${JSON.stringify(text)} is not a domain: use one such as acme.org, in lower case`;
}

export function defineInit(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument(
      '[directory]',
      `the new directory; must not exist, or must be empty (default: "${directoryDefault}")`,
    )
    .option(
      '--pack <name>',
      `start from a policy pack instead of the small example: ${packNames().join(', ')}`,
    )
    .option('--domain <name>', `the domain of your organisation, instead of ${exampleDomain}`)
    .addHelpText(
      'after',
      '\nOn a terminal it asks for missing values.\n\nExamples:\n  writ init\n  writ init agents/support\n  writ init --pack devops\n  writ init agents/shell --pack coding',
    )
    .action(async (directory: string | undefined, { pack, domain }: Options) => {
      if (pack !== undefined) folderOf(pack);
      const terminal = { input: process.stdin, output: process.stdout };
      finish(await init(await answersOf({ directory, pack, domain }, packNames(), terminal)));
    });
}

interface Options {
  readonly pack?: string;
  readonly domain?: string;
}

async function init({ directory, pack, domain }: InitAnswers): Promise<ExitCode> {
  const folder = pack === null ? small : folderOf(pack);
  const starters = [...new Set([...(await startersIn(folder)), forAgents])].toSorted();
  const placeOf = (name: string): string => join(name === forAgents ? small : folder, name);
  const texts = await Promise.all(starters.map((name) => readFile(placeOf(name), 'utf8')));
  try {
    await mkdir(directory, { recursive: true });
    if ((await readdir(directory)).length > 0)
      throw new UsageError(`${directory} is not empty; nothing was written`);
    // The flag `wx` fails on a file that somebody made in the meantime.
    for (const [index, name] of starters.entries()) {
      await mkdir(dirname(join(directory, name)), { recursive: true });
      const text = ofDomain(name, asPlaced(texts[index]!, directory), domain);
      await writeFile(join(directory, name), text, { flag: 'wx' });
    }
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `cannot write ${directory}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  print(describe(directory, starters, pack === null ? [exampleRequest] : []));
  return exitCodes.ok;
}

/**
 * The folders of the packs, in a checkout and in a package: the policies that `npm start` serves, and packs
 * to start from.
 */
const packFolders = ['policies', 'examples/packs'].map((path) =>
  fileURLToPath(new URL(`../../../${path}/`, import.meta.url)),
);

function packNames(): readonly string[] {
  return packFolders
    .flatMap((folder) => readdirSync(folder, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}

function folderOf(pack: string): string {
  const folder = packFolders.map((one) => join(one, pack)).find((one) => existsSync(one));
  if (folder !== undefined && packNames().includes(pack)) return folder;
  const nearest = nearestOf(pack, packNames());
  const hint = nearest === null ? `choose one of ${packNames().join(', ')}` : `did you mean \`${nearest}\`?`;
  throw new UsageError(`there is no pack \`${escapeForTerminal(pack)}\`: ${hint}`);
}

/** The folder of the small policy. */
const small = fileURLToPath(new URL('../init/', import.meta.url));

/** The page for coding agents, which each new directory gets. */
const forAgents = 'AGENTS.md';

/** Paths of a pack's files, relative to its folder. Requests for benchmarks (`.jsonl`) are left out. */
async function startersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.jsonl'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

/** Rewrites the links and commands of a checkout for files that lie in `directory`. */
function asPlaced(text: string, directory: string): string {
  return text
    .replaceAll(/^npm run writ -- bench .*\n/gm, '')
    .replaceAll('npm run writ -- ', 'writ ')
    .replaceAll(/\[([^\]]+)\]\((?:\.\.\/)+[^)]+\)/g, '$1')
    .replaceAll(/\b(?:examples\/packs|policies)\/\w[\w-]*(?=[ \n])/g, () => pathOf(directory));
}

/** Replaces the example's domain by `domain`, and formats policies as `writ fmt` does. */
function ofDomain(name: string, text: string, domain: string | null): string {
  if (domain === null) return text;
  const changed = text.replaceAll(new RegExp(exampleDomain.replace('.', '\\.'), 'gi'), (match) =>
    match === exampleDomain ? domain : domain.toUpperCase(),
  );
  return name.endsWith('.policy') ? printFile(parse({ path: name, text: changed }).file) : changed;
}

/** The example names an agent and a meter, because unknown facts never open the gate. */
const exampleRequest = `--action refund.create --payload '{"order": "A-1001", "amount": 20, "currency": "EUR"}' --agent '{"risk_tier": "low"}' --meters '{"refunded_today": "0 EUR"}'`;

function describe(directory: string, starters: readonly string[], requests: readonly string[]): string {
  const marks = createMarks();
  const made = starters.map((name) => `${marks.good('✓')} ${escapeForTerminal(join(directory, name))}\n`);
  const path = pathOf(directory);
  const commands = [
    `check --strict ${path}`,
    `test ${path} --coverage`,
    ...requests.map((request) => `decide --policies ${path} ${request}`),
  ].map((command) => writCommand(command));
  return `${made.join('')}\nNext:\n${commands.map((line) => `  ${line}\n`).join('')}`;
}

/** The directory's path, quoted for a shell if needed. */
function pathOf(directory: string): string {
  const path = isAbsolute(directory) ? directory : relative('', directory) || '.';
  return /^[\w./-]+$/.test(path) && !path.startsWith('-') ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
