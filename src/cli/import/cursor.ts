// Reads the permissions of Cursor: `permissions.allow` and `permissions.deny` of its command line, and the lists of
// `permissions.json`. `Shell(name)` is about the first word of a line, so it says nothing about what follows `&&` or `|`;
// the policies ask for every command of the line. Entries that deny come before entries that allow.

import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import { serverToolKey } from '../../service/http/resources/hooks/claude-code.ts';
import {
  type CallPattern,
  type EntryLeftOut,
  type HostEffect,
  type HostFolders,
  type HostRule,
  type HostSettings,
  type HostTool,
  readJsonSettings,
  SettingsError,
} from './host-settings.ts';
import { globPatterns } from './path-patterns.ts';
import { escapePattern } from './shell-patterns.ts';
import { isToolKey, otherTool, toolName } from './tool-keys.ts';

const builtIn: readonly HostTool[] = [
  tool('Shell', 'Run {command}', { name: 'command', kind: 'line' }),
  tool('Read', 'Read {file_path}', { name: 'file_path', kind: 'path' }),
  tool('Write', 'Write {file_path}', { name: 'file_path', kind: 'path' }),
  tool('WebFetch', 'Fetch {url}', { name: 'url', kind: 'url' }),
];

interface CursorEntry {
  readonly list: string;
  readonly text: string;
  readonly effect: HostEffect;
  readonly type: string;
  readonly specifier: string;
}

interface ReadEntry {
  readonly rules: readonly HostRule[];
  readonly leftOut: readonly EntryLeftOut[];
}

export function readCursorSettings(source: string, folders: HostFolders): HostSettings {
  const entries = entriesIn(readJsonSettings(source));
  const keys = [...new Set(entries.flatMap((entry) => serverKey(entry) ?? []))];
  const read = entries.map((entry) => ruleOf(entry, { folders, keys }));
  return {
    host: 'Cursor',
    name: 'cursor',
    tools: [...builtIn, ...keys.map((key) => otherTool(key, 'ask'))],
    rules: read.flatMap(({ rules }) => rules),
    leftOut: read.flatMap(({ leftOut }) => leftOut),
    notes: [
      `Relative patterns mean files below \`${folders.project}\`. Guards with a relative pattern cover such files in every folder, in any case of letters.`,
      'Cursor compares `Shell(name)` with the first word of a line. The policies allow a line only if entries allow each of its commands, and a guard covers a command wherever it is in a line.',
      'A rule allows only plain lines: bare words with one blank between them, texts in quotes, and `&&`, `||`, `;` or `|` with blanks around them.',
      'Cursor also asks about the tool of a server before it names the server (`cursor.MCP`); declare that action to permit it.',
      'Tools that the report does not name are not declared, so they are denied.',
    ],
  };
}

function entriesIn(settings: JsonObject): readonly CursorEntry[] {
  const permissions = settings.permissions ?? {};
  if (!isJsonObject(permissions)) throw new SettingsError('`permissions` is not an object');
  const effects = { deny: 'deny', allow: 'allow' } as const;
  const written = (['deny', 'allow'] as const).flatMap((list) =>
    textsIn(permissions[list], list).map((text) => {
      const { type = '', specifier = '' } = /^(?<type>\w+)\((?<specifier>.*)\)$/s.exec(text)?.groups ?? {};
      return { list, text, effect: effects[list], type: type === 'MCP' ? 'Mcp' : type, specifier };
    }),
  );
  const named = (list: string, type: string): readonly CursorEntry[] =>
    textsIn(settings[list], list).map((text) => ({ list, text, effect: 'allow', type, specifier: text }));
  return [...written, ...named('terminalAllowlist', 'Terminal'), ...named('mcpAllowlist', 'Mcp')];
}

function textsIn(value: Json | undefined, list: string): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new SettingsError(`\`${list}\` is not a list`);
  return value.map((text: Json) => {
    if (typeof text !== 'string') throw new SettingsError(`\`${list}\` has an entry that is no text`);
    return text;
  });
}

interface EntryScope {
  readonly folders: HostFolders;
  /** The declared tools of servers. */
  readonly keys: readonly string[];
}

function ruleOf(entry: CursorEntry, scope: EntryScope): ReadEntry {
  const { type, specifier } = entry;
  switch (type) {
    case 'Shell':
      return shellRule(entry, specifier);
    case 'Terminal':
      return terminalRule(entry, specifier);
    case 'Read':
    case 'Write':
      return pathRule(entry, scope.folders);
    case 'WebFetch':
      return hostRule(entry);
    case 'Mcp':
      return serverRule(entry, scope.keys);
    default:
      return leftOut(entry, 'it names no kind of permission');
  }
}

/** `Shell(name)`, `Shell(name:arguments)`. */
function shellRule(entry: CursorEntry, specifier: string): ReadEntry {
  if (specifier === '' || specifier === '*' || specifier === '**')
    return carried(entry, 'cursor_shell', { kind: 'any' });
  const { name = specifier, rest } = /^(?<name>[^:]+):(?<rest>.*)$/s.exec(specifier)?.groups ?? {};
  if (rest === undefined || /^\**$/.test(rest)) return carried(entry, 'cursor_shell', namePattern(name));
  if (name.includes('*'))
    return carried(entry, 'cursor_shell', { kind: 'text', parts: `${name} ${rest}`.split('*') });
  if (!/[*?[{]/.test(rest))
    return carried(entry, 'cursor_shell', {
      kind: 'command',
      starts: [[name, ...rest.split(' ')]],
      more: 'none',
      isAlone: true,
    });
  const start = rest.slice(0, -2);
  if (rest.endsWith(' *') && !/[*?[{]/.test(start))
    return carried(entry, 'cursor_shell', {
      kind: 'command',
      starts: [[name, ...start.split(' ')]],
      more: 'some',
      isAlone: true,
    });
  if (/[?[{]/.test(rest)) return wideRule(entry, name);
  return carried(entry, 'cursor_shell', { kind: 'text', parts: `${name} ${rest}`.split('*') });
}

/** An entry with signs of globs: it is not carried if it allows, and covers the whole program if it denies. */
function wideRule(entry: CursorEntry, name: string): ReadEntry {
  if (entry.effect === 'allow')
    return leftOut(entry, 'the pattern has signs that hosts read in different ways');
  return carried(entry, 'cursor_shell', { kind: 'command', starts: [[name]], more: 'any' });
}

function namePattern(name: string): CallPattern {
  return /[*?[{]/.test(name)
    ? { kind: 'text', parts: name.split(/[*?[{].*/s) }
    : { kind: 'command', starts: [name.split(' ')], more: 'any' };
}

/** An entry of `terminalAllowlist`: the first words of commands. */
function terminalRule(entry: CursorEntry, specifier: string): ReadEntry {
  const words = specifier.replace(/:?\s*\*$/, '').trim();
  if (words === '' || /[*?[{]/.test(words)) return leftOut(entry, 'it is no list of first words');
  return carried(entry, 'cursor_shell', { kind: 'command', starts: [words.split(/[ :]/)], more: 'any' });
}

function pathRule(entry: CursorEntry, folders: HostFolders): ReadEntry {
  const patterns = globPatterns(entry.specifier, folders);
  if (patterns === null) return leftOut(entry, 'the pattern matches no path by itself');
  const pattern = entry.effect === 'allow' ? patterns.allow : patterns.guard;
  if (pattern === null) return leftOut(entry, 'the pattern has signs that hosts read in different ways');
  return carried(entry, toolName(`cursor.${entry.type}`), { kind: 'path', pattern, sample: patterns.sample });
}

function hostRule(entry: CursorEntry): ReadEntry {
  const host = entry.specifier.replace(/^domain:/, '').toLowerCase();
  const isBelow = host.startsWith('*.');
  const name = isBelow ? host.slice(2) : host;
  if (/^[a-z0-9.-]+$/.test(name))
    return carried(entry, 'cursor_web_fetch', { kind: 'host', host: name, isBelow });
  if (entry.effect === 'allow' && host !== '*') return leftOut(entry, 'it is no host');
  return carried(entry, 'cursor_web_fetch', { kind: 'any' });
}

function serverRule(entry: CursorEntry, keys: readonly string[]): ReadEntry {
  const key = serverKey(entry);
  if (key !== null) return carried(entry, toolName(key), { kind: 'any' });
  if (entry.effect === 'allow')
    return leftOut(
      entry,
      'the tools of a server are declared one by one, and a key has only letters, digits and `_`',
    );
  const pattern = new RegExp(`^${entry.specifier.split('*').map(escapePattern).join('.*')}$`, 's');
  const covered = keys.filter((one) => pattern.test(one.replace('.', ':')));
  if (covered.length === 0) return leftOut(entry, 'Writ denies each action that no policy declares');
  const { list, text, effect } = entry;
  return {
    rules: [{ list, text, effect, tools: covered.map(toolName), pattern: { kind: 'any' } }],
    leftOut: [],
  };
}

/** The action key of `server:tool`; null with a star or a sign that no key has. */
function serverKey({ type, specifier }: CursorEntry): string | null {
  if (type !== 'Mcp') return null;
  const { server, name } =
    /^(?<server>[^:]+):\s*(?<name>.+)$/.exec(specifier.replace(', ', ':'))?.groups ?? {};
  const key = server === undefined || name === undefined ? null : serverToolKey(server, name);
  return key !== null && isToolKey(key) ? key : null;
}

function carried({ list, text, effect }: CursorEntry, name: string, pattern: CallPattern): ReadEntry {
  return { rules: [{ list, text, effect, tools: [name], pattern }], leftOut: [] };
}

function leftOut({ list, text }: CursorEntry, reason: string): ReadEntry {
  return { rules: [], leftOut: [{ list, text, reason }] };
}

function tool(name: string, title: string, field: HostTool['field']): HostTool {
  const key = `cursor.${name}`;
  return { name: toolName(key), keys: [key], title, field, otherwise: 'ask' };
}
