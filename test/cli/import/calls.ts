// Random calls of coding agents, made from the words of the settings and of attacks on prefix rules: shell lines with
// operators, quotes, substitutions, redirections, wrappers and assignments; paths with `..` and other cases of letters; URLs.

import type { HostSettings, HostTool } from '../../../src/cli/import/host-settings.ts';
import type { RandomSource } from '../../../src/language/value/random.ts';
import type { Call } from './reference/claude.ts';

const junk = [
  'touch x',
  'rm -rf /',
  'curl evil.example',
  'sudo id',
  'git push --force',
  'npm test',
  'ls',
  'cat .env',
  'echo hi',
];
const joins = [' && ', ' || ', '; ', ' | ', ' & ', '\n', '&&', ';', '|', ' |& ', ' ; ', '  &&  '];
const tails = [
  '',
  '',
  '',
  ' -v',
  ' --force',
  ' x',
  ' src/a.ts',
  ' "a b"',
  " 'x; y'",
  ' "$(rm -rf x)"',
  ' `id`',
  ' $HOME',
  ' > out',
  ' 2>&1',
  ' <in',
  ' *.ts',
  ' --oneline',
  ' main',
  ' # rm',
  ' "x',
  ' \\',
  ' {a,b}',
  ' ~',
  ' "it && is"',
  ' .env',
  ' a=b',
  ' -delete',
  ' "don\'t"',
  ' --x="y z"',
];
const heads = [
  '',
  '',
  '',
  '',
  '',
  'sudo ',
  'env ',
  'FOO=1 ',
  'timeout 5 ',
  'time ',
  'nohup ',
  'xargs ',
  './',
  '/usr/bin/',
  '! ',
  '(',
  '{ ',
  'if ',
  'command ',
  'exec ',
  'nice -n 5 ',
  '\\',
  ' ',
  '$(',
  'eval ',
  'sh -c ',
];

export interface ToolCall extends Call {
  readonly action: string;
  readonly payload: Readonly<Record<string, string>>;
}

/** A call of one of the tools; `words` are the commands, paths and hosts of the settings. */
export function randomCall(random: RandomSource, settings: HostSettings, words: SettingsWords): ToolCall {
  const tool = random.pick(weighted(settings.tools));
  const action = random.pick(tool.keys);
  const value = fieldValue(random, tool, words);
  const payload = tool.field === null ? {} : { [tool.field.name]: value };
  return { action, payload, tool: toolOf(action, settings), value };
}

/** Tools with a field more often, because their entries differ in more than the tool. */
function weighted(tools: readonly HostTool[]): readonly HostTool[] {
  return tools
    .filter(({ keys }) => keys.length > 0)
    .flatMap((tool) => (tool.field === null ? [tool] : Array<HostTool>(6).fill(tool)));
}

/** The name by which the host's entries call a tool. */
function toolOf(action: string, { name }: HostSettings): string {
  const [area = '', own = ''] = action.split('.');
  if (area === name) return own;
  if (name === 'cursor') return `${area}:${own}`;
  return name === 'gemini' ? `mcp_${area}_${own}` : `mcp__${area}__${own}`;
}

export interface SettingsWords {
  readonly commands: readonly string[];
  readonly paths: readonly string[];
  readonly hosts: readonly string[];
}

export function wordsOfSettings({ rules }: HostSettings): SettingsWords {
  const commands = new Set<string>();
  const paths = new Set<string>([
    '/work/project/a',
    '/etc/passwd',
    '/work/project/.env',
    '/home/ann/.ssh/id',
  ]);
  const hosts = new Set<string>(['example.com', 'evil.example']);
  for (const { pattern } of rules) {
    if (pattern.kind === 'command') for (const words of pattern.starts) commands.add(words.join(' '));
    if (pattern.kind === 'text') commands.add(pattern.parts.join('x').trim());
    if (pattern.kind === 'path') paths.add(pattern.sample);
    if (pattern.kind === 'host') hosts.add(pattern.host);
  }
  return { commands: [...commands, 'git status'], paths: [...paths], hosts: [...hosts] };
}

function fieldValue(random: RandomSource, { field }: HostTool, words: SettingsWords): string {
  switch (field?.kind) {
    case 'line':
      return lineOf(random, words.commands);
    case 'path':
      return pathOf(random, words.paths);
    case 'url':
      return urlOf(random, words.hosts);
    case undefined:
      return '';
  }
}

function lineOf(random: RandomSource, commands: readonly string[]): string {
  let line = commandOf(random, commands);
  while (random.chance(0.45))
    line += `${random.pick(random.chance(0.6) ? joins.slice(0, 4) : joins)}${commandOf(random, commands)}`;
  return line;
}

function commandOf(random: RandomSource, commands: readonly string[]): string {
  const base = random.chance(0.8) ? random.pick(commands) : random.pick(junk);
  const head = random.chance(0.2) ? random.pick(heads) : '';
  const tail = random.chance(0.4) ? random.pick(tails) : '';
  return `${head}${random.chance(0.12) ? disguised(random, base) : base}${tail}`;
}

/** Another spelling of a command. */
function disguised(random: RandomSource, command: string): string {
  const at = random.below(command.length + 1);
  const [before, after] = [command.slice(0, at), command.slice(at)];
  switch (random.below(7)) {
    case 0:
      return command.replace(' ', '  ');
    case 1:
      return `${before}""${after}`;
    case 2:
      return command.replace(/\S+$/, (word) => `"${word}"`);
    case 3:
      return `${before}\\${after}`;
    case 4:
      return command.toUpperCase();
    case 5:
      return `${before}${random.pick(['x', '-', ' ', '\t', "'", '.', '/', '*'])}${after}`;
    default:
      return command.replace(/ (\S+)/, (_, word: string) => ` -C . ${word}`);
  }
}

function pathOf(random: RandomSource, paths: readonly string[]): string {
  let path = random.pick(paths);
  if (random.chance(0.3)) path = path.replaceAll('/', () => random.pick(['/', '/', '//', '/./', '/b/../']));
  if (random.chance(0.2))
    path = `${path}/${random.pick(['..', '../..', 'a.ts', '.env', 'x/y.md', '../a.md', 'deep/er/z.ts'])}`;
  if (random.chance(0.1))
    path = path.replace(/[^/]+$/, (name) =>
      random.pick([name.toUpperCase(), `${name}x`, `x${name}`, `.${name}`]),
    );
  return random.chance(0.1)
    ? path.replace('/work/project', random.pick(['/work/project2', '/work', '/', '/work/project/sub']))
    : path;
}

function urlOf(random: RandomSource, hosts: readonly string[]): string {
  const host = random.pick(hosts);
  const spelt = random.pick([
    host,
    host,
    host,
    `www.${host}`,
    `${host}.evil.example`,
    `not-${host}`,
    host.toUpperCase(),
    `${host}.`,
    `a.b.${host}`,
  ]);
  return `${random.pick(['https', 'http', 'https'])}://${random.pick(['', '', '', 'user@', `${random.pick(hosts)}@`])}${spelt}${random.pick(['', '/', '/a?b=c', ':8443/', '#x', `/${random.pick(hosts)}`])}`;
}
