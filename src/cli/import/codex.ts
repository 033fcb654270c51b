// Reads the rules of Codex (`*.rules`) and its `config.toml`. A rule is a call `prefix_rule(pattern=[...], decision="...")`
// over the words of a command, and the strictest of all matching rules decides. Codex cuts a line only at `&&`, `||`, `;`
// and `|` between plain words; any other line is one command that no rule matches.

import { parse as parseToml, TomlError } from 'smol-toml';
import { serverToolKey } from '../../service/http/resources/hooks/claude-code.ts';
import {
  type EntryLeftOut,
  type HostEffect,
  type HostRule,
  type HostSettings,
  type HostTool,
  SettingsError,
} from './host-settings.ts';
import { readCalls, type StarlarkValue } from './starlark-calls.ts';
import { isToolKey, otherTool, toolName } from './tool-keys.ts';

const shell: HostTool = {
  name: 'codex_bash',
  keys: ['codex.Bash'],
  title: 'Run {command}',
  field: { name: 'command', kind: 'line' },
  otherwise: 'ask',
};
const patch: HostTool = {
  name: 'codex_apply_patch',
  keys: ['codex.apply_patch'],
  title: 'Apply a patch',
  field: null,
  otherwise: 'ask',
};

/** The most commands that the alternatives of one pattern may spell out. */
const startsMax = 64;

const effects: Readonly<Record<string, HostEffect>> = { allow: 'allow', prompt: 'ask', forbidden: 'deny' };

export function readCodexRules(source: string): HostSettings {
  const calls = readCalls(source);
  const read = calls.map(({ name, args, text }) => {
    const entry = { list: name, text };
    if (name !== 'prefix_rule') return { ...entry, reason: 'it does not say which commands may run' };
    return prefixRule(entry, args);
  });
  return settingsOf({
    tools: [shell, patch],
    rules: read.filter((one): one is HostRule => 'effect' in one),
    leftOut: read.filter((one): one is EntryLeftOut => 'reason' in one),
  });
}

function prefixRule(
  entry: { readonly list: string; readonly text: string },
  args: ReadonlyMap<string, StarlarkValue>,
): HostRule | EntryLeftOut {
  const decision = args.get('decision') ?? 'allow';
  const effect = typeof decision === 'string' ? effects[decision] : undefined;
  if (effect === undefined) throw new SettingsError(`the decision of ${entry.text} is not known`);
  const starts = startsOf(args.get('pattern'), entry.text);
  if (starts.length > startsMax) {
    if (effect === 'allow')
      return { ...entry, reason: `its alternatives spell out more than ${startsMax} commands` };
    const firsts = [...new Set(starts.map(([first = '']) => first))].map((first) => [first]);
    return {
      ...entry,
      effect,
      tools: [shell.name],
      pattern: { kind: 'command', starts: firsts, more: 'any' },
    };
  }
  if (effect !== 'allow' && starts.some(([name = '']) => shells.has(name)))
    return {
      ...entry,
      effect,
      tools: [shell.name],
      pattern: { kind: 'any' },
      stricter: 'it covers every command',
    };
  return { ...entry, effect, tools: [shell.name], pattern: { kind: 'command', starts, more: 'any' } };
}

/** Codex runs each line that it does not cut by one of these programs, so a rule about them is about any line. */
const shells = new Set(['bash', 'sh', 'zsh']);

/** The commands that a pattern with alternatives spells out. */
function startsOf(pattern: StarlarkValue | undefined, text: string): readonly (readonly string[])[] {
  if (!Array.isArray(pattern) || pattern.length === 0) throw new SettingsError(`${text} has no pattern`);
  return (pattern as readonly StarlarkValue[]).reduce<readonly (readonly string[])[]>(
    (starts, part) => {
      const words = typeof part === 'string' ? [part] : part;
      if (!Array.isArray(words) || words.length === 0)
        throw new SettingsError(`the pattern of ${text} is not of words`);
      return starts.flatMap((start) =>
        (words as readonly StarlarkValue[]).map((word) => {
          if (typeof word !== 'string') throw new SettingsError(`the pattern of ${text} is not of words`);
          return [...start, word];
        }),
      );
    },
    [[]],
  );
}

export function readCodexConfig(source: string): HostSettings {
  const config = tomlOf(source);
  const policy = config.approval_policy ?? 'on-request';
  const sandbox = config.sandbox_mode ?? 'read-only';
  const servers = isTable(config.mcp_servers) ? Object.entries(config.mcp_servers) : [];
  const read = servers.map(([server, table]) => serverTools(server, isTable(table) ? table : {}));
  return settingsOf({
    tools: [shell, patch, ...read.flatMap(({ tools }) => tools)],
    rules: read.flatMap(({ rules }) => rules),
    leftOut: [
      { list: 'config', text: `approval_policy = ${JSON.stringify(policy)}`, reason: policyReason(policy) },
      {
        list: 'config',
        text: `sandbox_mode = ${JSON.stringify(sandbox)}`,
        reason: 'policies do not know the sandbox, so people decide about each command and patch',
      },
      ...read.flatMap(({ leftOut }) => leftOut),
    ],
  });
}

function policyReason(policy: unknown): string {
  return policy === 'never'
    ? 'Codex would run each command in the sandbox and ask nobody; the policies ask a person'
    : 'the policies ask a person about each command that no rule allows';
}

interface ServerTools {
  readonly tools: readonly HostTool[];
  readonly rules: readonly HostRule[];
  readonly leftOut: readonly EntryLeftOut[];
}

/** The tools that a server's table names. A tool of both lists is disabled. */
function serverTools(server: string, table: Readonly<Record<string, unknown>>): ServerTools {
  const list = `mcp_servers.${server}`;
  const isOff = table.enabled === false;
  const disabled = new Set(textsIn(table.disabled_tools));
  const approvals = isTable(table.tools) ? table.tools : {};
  const fallback = table.default_tools_approval_mode;
  const names = [...new Set([...textsIn(table.enabled_tools), ...Object.keys(approvals), ...disabled])];
  const enabled = Array.isArray(table.enabled_tools) ? new Set(textsIn(table.enabled_tools)) : null;
  const tools: HostTool[] = [];
  const rules: HostRule[] = [];
  const leftOut: EntryLeftOut[] = [];
  for (const name of names) {
    const key = serverToolKey(server, name);
    if (key === null || !isToolKey(key)) {
      leftOut.push({
        list,
        text: name,
        reason: 'an action key has only letters, digits and `_`; it stays denied',
      });
      continue;
    }
    const own = isTable(approvals[name]) ? approvals[name].approval_mode : undefined;
    const isDenied = isOff || disabled.has(name) || (enabled !== null && !enabled.has(name));
    const effect = isDenied ? 'deny' : (own ?? fallback) === 'approve' ? 'allow' : 'ask';
    tools.push(otherTool(key, 'ask'));
    rules.push({ list, text: name, effect, tools: [toolName(key)], pattern: { kind: 'any' } });
  }
  if (enabled === null && !isOff)
    leftOut.push({
      list,
      text: 'tools without a name here',
      reason: 'they are not declared, so they are denied',
    });
  return { tools, rules, leftOut };
}

function tomlOf(source: string): Readonly<Record<string, unknown>> {
  try {
    return parseToml(source);
  } catch (error) {
    if (error instanceof TomlError)
      throw new SettingsError(`line ${error.line}: ${error.message.split('\n')[0]}`);
    throw error;
  }
}

export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

function settingsOf({ tools, rules, leftOut }: ServerTools): HostSettings {
  return {
    host: 'Codex',
    name: 'codex',
    tools,
    rules,
    leftOut,
    notes: [
      'A rule of Codex lets a command run outside of the sandbox. The policies decide whether the command runs at all, and ask a person where no rule matches.',
      'A rule allows only plain lines: bare words with one blank between them, texts in quotes, and `&&`, `||`, `;` or `|` with blanks around them.',
      'A guard covers a command wherever it is in a line, also behind `env` or `sudo` and with its words in another order. Codex matches the first words alone, and no line with variables, substitutions or redirections.',
      'Tools that the report does not name are not declared, so they are denied.',
    ],
  };
}
