// Reads the permissions of a settings file of Claude Code: lists of entries that allow, ask or deny, of which the strictest
// decides. An entry is `Tool` or `Tool(specifier)`. Claude Code cuts a shell line at `&&`, `||`, `;`, `|`, `&` and line
// breaks and asks for each command; `*` in an entry stands for any text, and a last ` *` or `:*` also for none.

import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import { serverToolKey } from '../../service/http/resources/hooks/claude-code.ts';
import { CommentedJsonError, readCommentedJson } from '../output/commented-json.ts';
import {
  type CallPattern,
  type EntryLeftOut,
  type HostEffect,
  type HostFolders,
  type HostRule,
  type HostSettings,
  type HostTool,
  SettingsError,
} from './host-settings.ts';
import { gitignorePatterns } from './path-patterns.ts';
import { escapePattern } from './shell-patterns.ts';
import { isToolKey, namedServerTools, otherTool, toolName } from './tool-keys.ts';

const lists = ['deny', 'ask', 'allow'] as const;

/** An entry, cut into the name of its tool and its specifier. */
interface Permission {
  readonly list: HostEffect;
  readonly text: string;
  readonly tool: string;
  /** Null for an entry about every use of the tool. */
  readonly specifier: string | null;
}

/** Tools of Claude Code with a policy of their own; the others have one when an entry names them. */
const builtIn: readonly HostTool[] = [
  tool('Bash', 'Run {command}', { name: 'command', kind: 'line' }),
  tool('Read', 'Read {file_path}', { name: 'file_path', kind: 'path' }),
  tool('Edit', 'Edit {file_path}', { name: 'file_path', kind: 'path' }),
  tool('Write', 'Write {file_path}', { name: 'file_path', kind: 'path' }),
  tool('NotebookEdit', 'Edit {notebook_path}', { name: 'notebook_path', kind: 'path' }),
  tool('WebFetch', 'Fetch {url}', { name: 'url', kind: 'url' }),
  tool('Glob', 'Find files', null),
  tool('Grep', 'Search files', null),
];

/** Tools for which Claude Code asks nobody, and which change nothing outside of the session. */
const unasked = ['TodoWrite', 'AskUserQuestion', 'Task', 'Agent'];

const editTools = ['claude_code_edit', 'claude_code_write', 'claude_code_notebook_edit'];

/** Programs whose files Claude Code compares with the entries about files. */
const openers = ['cat', 'head', 'tail', 'sed'];

/** Programs that open files, about which people decide when there are entries about files. */
const filePrograms = [
  ...openers,
  ...'less more grep egrep fgrep rg awk cut sort uniq wc nl od xxd strings diff cp mv tee ls find tree stat file'.split(
    ' ',
  ),
];

export function readClaudeSettings(source: string, folders: HostFolders): HostSettings {
  const permissions = permissionsIn(source);
  const mode = permissions.defaultMode;
  const entries = lists.flatMap((list) => entriesIn(permissions, list));
  const read = entries.map((one) => ruleOf(one, { folders, entries }));
  const isSilent = mode === 'dontAsk';
  const rules = [
    ...read.flatMap(({ rules: some }) => some),
    ...modeRules(mode),
    readsInProject(folders),
    ...fileCommandRules(entries),
  ].map((rule) => (isSilent && rule.effect === 'ask' ? { ...rule, effect: 'deny' as const } : rule));
  return {
    host: 'Claude Code',
    name: 'claude_code',
    tools: toolsOf(entries, isSilent),
    rules,
    leftOut: [...read.flatMap(({ leftOut }) => leftOut), ...settingsLeftOut(permissions)],
    notes: notesOf(folders),
  };
}

function permissionsIn(source: string): JsonObject {
  try {
    const settings = readCommentedJson(source);
    const permissions = isJsonObject(settings) ? (settings.permissions ?? {}) : null;
    if (!isJsonObject(permissions)) throw new SettingsError('`permissions` is not an object');
    return permissions;
  } catch (error) {
    if (error instanceof CommentedJsonError) throw new SettingsError(error.message);
    throw error;
  }
}

function entriesIn(permissions: JsonObject, list: HostEffect): readonly Permission[] {
  const entries: Json = permissions[list] ?? [];
  if (!Array.isArray(entries)) throw new SettingsError(`\`permissions.${list}\` is not a list`);
  return entries.map((text: Json) => {
    if (typeof text !== 'string')
      throw new SettingsError(`\`permissions.${list}\` has an entry that is no text`);
    const { name = text, specifier = null } =
      /^(?<name>[^()]+)\((?<specifier>.*)\)$/s.exec(text)?.groups ?? {};
    return {
      list,
      text,
      tool: name.trim(),
      specifier: specifier === '' || specifier === '*' ? null : specifier,
    };
  });
}

interface EntryScope {
  readonly folders: HostFolders;
  readonly entries: readonly Permission[];
}

interface ReadEntry {
  readonly rules: readonly HostRule[];
  readonly leftOut: readonly EntryLeftOut[];
}

function ruleOf(entry: Permission, scope: EntryScope): ReadEntry {
  const { tool: name, specifier } = entry;
  if (name.startsWith('mcp__')) return serverRule(entry, scope.entries);
  if (!isToolKey(`claude_code.${name}`)) return leftOut(entry, `\`${name}\` is not the name of a tool`);
  if (specifier === null)
    return carried(entry, { tools: [toolName(`claude_code.${name}`)], pattern: { kind: 'any' } });
  switch (name) {
    case 'Bash':
      return carried(entry, { tools: ['claude_code_bash'], pattern: shellPattern(specifier) });
    case 'Read':
      return pathRule(entry, { tools: ['claude_code_read'], ...scope });
    case 'Edit':
      return pathRule(entry, { tools: editTools, ...scope });
    case 'Write':
    case 'NotebookEdit':
      if (entry.list === 'allow')
        return leftOut(entry, `Claude Code asks entries of \`Edit\`, not of \`${name}\`, about files`);
      return pathRule(entry, { tools: editTools, ...scope });
    case 'WebFetch':
      return hostRule(entry);
    default:
      return wholeTool(entry, `claude_code.${name}`);
  }
}

/** An entry with a specifier that no condition carries: one that asks or denies covers every use of the tool. */
function wholeTool(entry: Permission, key: string): ReadEntry {
  if (entry.list === 'allow') return leftOut(entry, 'no rule can tell which calls of this tool it covers');
  return carried(entry, {
    tools: [toolName(key)],
    pattern: { kind: 'any' },
    stricter: 'it covers every use of the tool',
  });
}

interface CarriedPattern {
  readonly tools: readonly string[];
  readonly pattern: CallPattern;
  readonly stricter?: string;
}

function carried({ list, text }: Permission, { tools, pattern, stricter }: CarriedPattern): ReadEntry {
  const rule: HostRule = {
    list,
    text,
    effect: list,
    tools,
    pattern,
    ...(stricter === undefined ? {} : { stricter }),
  };
  return { rules: [rule], leftOut: [] };
}

function leftOut({ list, text }: Permission, reason: string): ReadEntry {
  return { rules: [], leftOut: [{ list, text, reason }] };
}

/** The commands of an entry of `Bash`. */
function shellPattern(specifier: string): CallPattern {
  const body = specifier.endsWith(':*') ? `${specifier.slice(0, -2)} *` : specifier;
  if (!body.includes('*')) return { kind: 'command', starts: [body.split(' ')], more: 'none' };
  const start = body.slice(0, -2);
  if (body.endsWith(' *') && !start.includes('*'))
    return { kind: 'command', starts: [start.split(' ')], more: 'any' };
  return { kind: 'text', parts: body.split('*') };
}

function pathRule(
  entry: Permission,
  { tools, folders }: EntryScope & { readonly tools: readonly string[] },
): ReadEntry {
  const patterns = gitignorePatterns(entry.specifier ?? '', folders);
  if (patterns === null) return leftOut(entry, 'the pattern matches no path by itself');
  const { allow, guard, sample, core } = patterns;
  if (entry.list !== 'allow') {
    const { rules } = carried(entry, { tools, pattern: { kind: 'path', pattern: guard, sample } });
    const files = carried(entry, {
      tools: ['claude_code_bash'],
      pattern: { kind: 'files', programs: openers, core },
    });
    return { rules: entry.list === 'deny' ? [...rules, ...files.rules] : rules, leftOut: [] };
  }
  if (allow === null) return leftOut(entry, 'the pattern has signs that hosts read in different ways');
  return carried(entry, { tools, pattern: { kind: 'path', pattern: allow, sample } });
}

function hostRule(entry: Permission): ReadEntry {
  const host = /^domain:(?<host>(?:\*\.)?[a-zA-Z0-9.-]+)$/
    .exec(entry.specifier ?? '')
    ?.groups?.host?.toLowerCase();
  if (host === undefined) return wholeTool(entry, 'claude_code.WebFetch');
  const isBelow = host.startsWith('*.');
  const name = isBelow ? host.slice(2) : host;
  const stricter = entry.list === 'allow' ? {} : { stricter: 'it also covers the hosts below' };
  return carried(entry, {
    tools: ['claude_code_web_fetch'],
    pattern: { kind: 'host', host: name, isBelow },
    ...stricter,
  });
}

function serverRule(entry: Permission, entries: readonly Permission[]): ReadEntry {
  const declared = namedServerTools(entries.map(({ tool: name }) => serverKey(name)));
  const key = serverKey(entry.tool);
  if (key !== null && isToolKey(key))
    return carried(entry, { tools: [toolName(key)], pattern: { kind: 'any' } });
  if (entry.list === 'allow')
    return leftOut(
      entry,
      'the tools of a server are declared one by one, and a key has only letters, digits and `_`',
    );
  const pattern = new RegExp(`^${entry.tool.split('*').map(escapePattern).join('.*')}(?:__.*)?$`, 's');
  const covered = declared.filter((one) => pattern.test(`mcp__${one.replace('.', '__')}`));
  if (covered.length === 0) return leftOut(entry, 'Writ denies each action that no policy declares');
  return carried(entry, { tools: covered.map(toolName), pattern: { kind: 'any' } });
}

/** The action key of `mcp__server__tool`; null for a server alone. */
function serverKey(name: string): string | null {
  const { server, tool: own } = /^mcp__(?<server>.+?)__(?<tool>.+)$/s.exec(name)?.groups ?? {};
  return server === undefined || own === undefined ? null : serverToolKey(server, own);
}

function modeRules(mode: Json | undefined): readonly HostRule[] {
  if (mode !== 'plan') return [];
  return [{ list: 'defaultMode', text: 'plan', effect: 'deny', tools: editTools, pattern: { kind: 'any' } }];
}

function readsInProject({ project }: HostFolders): HostRule {
  const folder = project.replace(/\/+$/, '');
  const pattern = `${escapePattern(folder)}(?:/.*)?`;
  return {
    list: 'built in',
    text: 'files of the project',
    effect: 'allow',
    tools: ['claude_code_read'],
    pattern: { kind: 'path', pattern, sample: `${folder}/a` },
  };
}

/**
 * Claude Code compares the files of some shell commands with the entries about files. Policies do not know the
 * folder of the shell, so people decide about these commands.
 */
function fileCommandRules(entries: readonly Permission[]): readonly HostRule[] {
  const guards = entries.filter(
    ({ tool: name, list }) => list !== 'allow' && ['Read', 'Edit', 'Write'].includes(name),
  );
  if (guards.length === 0) return [];
  return [
    {
      list: 'built in',
      text: 'a program that opens files',
      effect: 'ask',
      tools: ['claude_code_bash'],
      pattern: { kind: 'command', starts: filePrograms.map((name) => [name]), more: 'any' },
      stricter: 'people decide, whichever file it is, unless an entry denies it',
    },
    ...['Glob', 'Grep'].map(
      (name): HostRule => ({
        list: 'built in',
        text: `${name} with entries about files`,
        effect: 'ask',
        tools: [toolName(`claude_code.${name}`)],
        pattern: { kind: 'any' },
      }),
    ),
  ];
}

function toolsOf(entries: readonly Permission[], isSilent: boolean): readonly HostTool[] {
  const otherwise = isSilent ? 'deny' : 'ask';
  const known = new Set(builtIn.flatMap(({ keys }) => keys));
  const named = entries
    .map(({ tool: name }) => (name.startsWith('mcp__') ? serverKey(name) : `claude_code.${name}`))
    .filter((key): key is string => key !== null && isToolKey(key) && !known.has(key));
  const others = [...new Set(named)];
  const free = unasked.map((name) => `claude_code.${name}`).filter((key) => !others.includes(key));
  return [
    ...builtIn.map((one) => ({ ...one, otherwise }) as const),
    ...others.map((key) =>
      otherTool(key, unasked.includes(key.slice('claude_code.'.length)) ? 'allow' : otherwise),
    ),
    {
      name: 'claude_code_session',
      keys: free,
      title: 'Work within the session',
      field: null,
      otherwise: 'allow',
    },
  ];
}

function tool(name: string, title: string, field: HostTool['field']): HostTool {
  const key = `claude_code.${name}`;
  return { name: toolName(key), keys: [key], title, field, otherwise: 'ask' };
}

/** Settings beside the lists. */
function settingsLeftOut({ defaultMode, additionalDirectories }: JsonObject): readonly EntryLeftOut[] {
  const modes: Readonly<Record<string, string>> = {
    acceptEdits: 'people decide about edits that no entry allows',
    auto: 'people decide where no entry does',
    bypassPermissions: 'it would allow everything; people decide where no entry does',
  };
  const reason = typeof defaultMode === 'string' ? modes[defaultMode] : undefined;
  const folders = Array.isArray(additionalDirectories) ? additionalDirectories : [];
  return [
    ...(reason === undefined ? [] : [{ list: 'defaultMode', text: String(defaultMode), reason }]),
    ...folders.map((folder) => ({
      list: 'additionalDirectories',
      text: String(folder),
      reason: 'people decide about files outside of the project that no entry allows',
    })),
  ];
}

function notesOf({ project, home }: HostFolders): readonly string[] {
  return [
    `Relative patterns mean files below \`${project}\`, and \`~\` means \`${home}\`. Guards with a relative pattern cover such files in every folder, in any case of letters.`,
    'A rule allows only plain lines: bare words with one blank between them, texts in quotes, and `&&`, `||`, `;` or `|` with blanks around them. Lines with variables, substitutions, globs or redirections are decided by people.',
    'Claude Code runs some commands that only read, such as `ls`, without asking. The policies ask people about them, unless an entry allows them.',
    'A guard covers a command wherever it is in a line, also behind `env` or `sudo` and with its words in another order.',
    'Tools that the report does not name are not declared, so they are denied.',
  ];
}
