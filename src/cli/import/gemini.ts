// Reads the settings of Gemini CLI (`tools.core`, `tools.exclude`, `tools.allowed`, MCP servers). An entry about the shell
// is `run_shell_command(prefix)`. Gemini CLI cuts a line at the operators of the shell and asks for each command; a
// prefix ends where a word ends.

import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import { serverToolKey } from '../../service/http/resources/hooks/claude-code.ts';
import {
  type EntryLeftOut,
  type HostEffect,
  type HostRule,
  type HostSettings,
  type HostTool,
  readJsonSettings,
  SettingsError,
} from './host-settings.ts';
import { isToolKey, otherTool, toolName } from './tool-keys.ts';

export const geminiShell: HostTool = {
  name: 'gemini_run_shell_command',
  keys: ['gemini.run_shell_command'],
  title: 'Run {command}',
  field: { name: 'command', kind: 'line' },
  otherwise: 'ask',
};

/** Tools that read the workspace, which Gemini CLI runs without asking. */
const readers = [
  'read_file',
  'list_directory',
  'glob',
  'grep_search',
  'search_file_content',
  'read_many_files',
];
const others = ['write_file', 'replace', 'web_fetch', 'google_web_search', 'save_memory'];

/** Names of classes, which older settings use for tools. */
const classNames: Readonly<Record<string, string>> = {
  ShellTool: 'run_shell_command',
  ReadFileTool: 'read_file',
  WriteFileTool: 'write_file',
  EditTool: 'replace',
  LSTool: 'list_directory',
  GlobTool: 'glob',
  GrepTool: 'grep_search',
  ReadManyFilesTool: 'read_many_files',
  WebFetchTool: 'web_fetch',
  WebSearchTool: 'google_web_search',
  MemoryTool: 'save_memory',
};

export const geminiTools: readonly HostTool[] = [
  geminiShell,
  ...readers.map((name) => otherTool(`gemini.${name}`, 'allow')),
  ...others.map((name) => otherTool(`gemini.${name}`, 'ask')),
];

/** An entry of a list, cut into the tool and the prefix of a command. */
interface GeminiEntry {
  readonly list: string;
  readonly text: string;
  readonly tool: string;
  readonly prefix: string | null;
}

interface GeminiRules {
  readonly tools: readonly HostTool[];
  readonly rules: readonly HostRule[];
  readonly leftOut: readonly EntryLeftOut[];
}

export function readGeminiSettings(source: string): HostSettings {
  const settings = readJsonSettings(source);
  const tools = objectIn(settings, 'tools');
  const core = entriesIn('tools.core', tools.core ?? settings.coreTools);
  const excluded = entriesIn('tools.exclude', tools.exclude ?? settings.excludeTools) ?? [];
  const allowed = entriesIn('tools.allowed', tools.allowed ?? settings.allowedTools) ?? [];
  const parts = [
    listRules(excluded, 'deny'),
    listRules(
      allowed.filter((one) => isInCore(one, core)),
      'allow',
    ),
    leftOutOfCore(allowed.filter((one) => !isInCore(one, core))),
    coreRules(core),
    serverRules(objectIn(settings, 'mcpServers')),
    modeLeftOut(settings),
  ];
  return geminiSettings({
    tools: parts.flatMap((part) => part.tools),
    rules: parts.flatMap((part) => part.rules),
    leftOut: parts.flatMap((part) => part.leftOut),
  });
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = object[name] ?? {};
  if (!isJsonObject(value)) throw new SettingsError(`\`${name}\` is not an object`);
  return value;
}

function entriesIn(list: string, value: Json | undefined): readonly GeminiEntry[] | null {
  if (value === undefined) return null;
  if (!Array.isArray(value)) throw new SettingsError(`\`${list}\` is not a list`);
  return value.map((text: Json) => {
    if (typeof text !== 'string') throw new SettingsError(`\`${list}\` has an entry that is no text`);
    const { name = text, prefix = null } = /^(?<name>\w+)\((?<prefix>.*)\)$/s.exec(text)?.groups ?? {};
    return {
      list,
      text,
      tool: classNames[name] ?? name,
      prefix: prefix === '' || prefix === '*' ? null : prefix,
    };
  });
}

function listRules(entries: readonly GeminiEntry[], effect: HostEffect): GeminiRules {
  const tools: HostTool[] = [];
  const rules: HostRule[] = [];
  const leftOut: EntryLeftOut[] = [];
  for (const { list, text, tool, prefix } of entries) {
    const key = `gemini.${tool}`;
    if (!isToolKey(key) || tool.startsWith('mcp_')) {
      leftOut.push({
        list,
        text,
        reason: 'it does not name a tool of Gemini CLI; tools that are not declared are denied',
      });
      continue;
    }
    if (!geminiTools.some(({ keys }) => keys.includes(key))) tools.push(otherTool(key, 'ask'));
    const isShell = tool === 'run_shell_command';
    if (prefix !== null && !isShell && effect === 'allow') {
      leftOut.push({ list, text, reason: 'no rule can tell which calls of this tool it covers' });
      continue;
    }
    rules.push({
      list,
      text,
      effect,
      tools: [toolName(key)],
      pattern: prefix !== null && isShell ? prefixPattern(prefix) : { kind: 'any' },
    });
  }
  return { tools, rules, leftOut };
}

export function prefixPattern(prefix: string): HostRule['pattern'] {
  return { kind: 'command', starts: [prefix.trim().split(' ')], more: 'any' };
}

/** Whether `tools.core` has the calls of an entry; without that list, every tool is there. */
function isInCore({ tool, prefix }: GeminiEntry, core: readonly GeminiEntry[] | null): boolean {
  if (core === null) return true;
  return core.some(
    (one) =>
      one.tool === tool &&
      (one.prefix === null || (prefix !== null && `${prefix} `.startsWith(`${one.prefix.trim()} `))),
  );
}

function leftOutOfCore(entries: readonly GeminiEntry[]): GeminiRules {
  const reason = '`tools.core` does not have the tool or the command';
  return { tools: [], rules: [], leftOut: entries.map(({ list, text }) => ({ list, text, reason })) };
}

/** Tools that `tools.core` does not have are off; commands that it does not have are refused. */
function coreRules(core: readonly GeminiEntry[] | null): GeminiRules {
  if (core === null) return { tools: [], rules: [], leftOut: [] };
  const rules = geminiTools.flatMap(({ name, keys }): readonly HostRule[] => {
    const own = core.filter(({ tool }) => keys.includes(`gemini.${tool}`));
    if (own.some(({ prefix }) => prefix === null)) return [];
    const [list, text, kind] =
      own.length === 0
        ? (['built in', `${keys[0]} is not in \`tools.core\``, 'any'] as const)
        : (['built in', 'commands that are not in `tools.core`', 'rest'] as const);
    return [{ list, text, effect: 'deny', tools: [name], pattern: { kind } }];
  });
  const leftOut = core.map(({ list, text, prefix }) => ({
    list,
    text,
    reason:
      prefix === null
        ? 'the tool is there; other entries decide about its calls'
        : 'Gemini CLI would ask a person about these commands; the policies deny what `tools.allowed` does not have',
  }));
  return { tools: [], rules, leftOut };
}

function serverRules(servers: JsonObject): GeminiRules {
  const parts = Object.entries(servers).map(([server, value]) =>
    serverPart(server, isJsonObject(value) ? value : {}),
  );
  return {
    tools: parts.flatMap(({ tools }) => tools),
    rules: parts.flatMap(({ rules }) => rules),
    leftOut: parts.flatMap(({ leftOut }) => leftOut),
  };
}

function serverPart(server: string, { includeTools, excludeTools, trust }: JsonObject): GeminiRules {
  const list = `mcpServers.${server}`;
  const excluded = new Set(textsOf(excludeTools));
  const names = [...new Set([...textsOf(includeTools), ...excluded])];
  const keys = names.map((name) => ({ name, key: serverToolKey(server, name) }));
  const fit = keys.flatMap(({ name, key }) => (key !== null && isToolKey(key) ? [{ name, key }] : []));
  const unfit = keys.filter(({ key }) => key === null || !isToolKey(key));
  const effectOf = (name: string): HostEffect =>
    excluded.has(name) ? 'deny' : trust === true ? 'allow' : 'ask';
  const isNamed = Array.isArray(includeTools);
  return {
    tools: fit.map(({ key }) => otherTool(key, 'ask')),
    rules: fit.map(({ name, key }) => ({
      list,
      text: name,
      effect: effectOf(name),
      tools: [toolName(key)],
      pattern: { kind: 'any' },
    })),
    leftOut: [
      ...unfit.map(({ name }) => ({
        list,
        text: name,
        reason: 'an action key has only letters, digits and `_`; it stays denied',
      })),
      ...(isNamed
        ? []
        : [{ list, text: 'tools without a name here', reason: 'they are not declared, so they are denied' }]),
    ],
  };
}

function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one: Json): one is string => typeof one === 'string') : [];
}

function modeLeftOut(settings: JsonObject): GeminiRules {
  const general = isJsonObject(settings.general) ? settings.general : {};
  const mode = general.defaultApprovalMode;
  const isLoose = mode === 'auto_edit' || mode === 'autoEdit' || mode === 'yolo';
  const text = String(mode);
  const reason = 'people decide about each call that no entry allows';
  return {
    tools: [],
    rules: [],
    leftOut: isLoose ? [{ list: 'general.defaultApprovalMode', text, reason }] : [],
  };
}

export function geminiSettings({ tools, rules, leftOut }: GeminiRules): HostSettings {
  const all = new Map([...geminiTools, ...tools].map((tool) => [tool.keys.join(), tool]));
  return {
    host: 'Gemini CLI',
    name: 'gemini',
    tools: [...all.values()],
    rules,
    leftOut,
    notes: [
      'A rule allows only plain lines: bare words with one blank between them, texts in quotes, and `&&`, `||`, `;` or `|` with blanks around them. Lines with redirections are decided by people, also where `allowRedirection` is set.',
      'A guard covers a command wherever it is in a line, also behind `env` or `sudo` and with its words in another order. It holds even if an entry with a higher priority allows the command.',
      'Tools that the report does not name are not declared, so they are denied.',
    ],
  };
}
