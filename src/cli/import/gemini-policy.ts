// Reads a policy file of Gemini CLI (`*.toml`): rules with a priority, of which the first that matches a call decides. A rule
// about every call of a tool decides for the rest; rules below it that allow are not carried. INVARIANT: a rule with a
// condition that policies do not have is not carried if it allows, and covers every call of its tools otherwise.

import { parse as parseToml, TomlError } from 'smol-toml';
import { serverToolKey } from '../../service/http/resources/hooks/claude-code.ts';
import { isTable, textsIn } from './codex.ts';
import { geminiSettings, geminiShell, geminiTools, prefixPattern } from './gemini.ts';
import {
  type EntryLeftOut,
  type HostEffect,
  type HostRule,
  type HostSettings,
  SettingsError,
} from './host-settings.ts';
import { escapePattern } from './shell-patterns.ts';
import { isToolKey, otherTool, toolName } from './tool-keys.ts';

const effects: Readonly<Record<string, HostEffect>> = { allow: 'allow', ask_user: 'ask', deny: 'deny' };

type GeminiTable = Readonly<Record<string, unknown>>;

/** A rule of the file, cut into what counts. */
interface GeminiRule {
  readonly list: string;
  readonly text: string;
  readonly table: GeminiTable;
  readonly effect: HostEffect;
  readonly priority: number;
  /** The action keys of its tools, as far as policies can name them. */
  readonly keys: readonly string[];
}

export function readGeminiPolicy(source: string): HostSettings {
  const tables = tablesIn(source);
  const named = namedKeys(tables);
  const rules = tables.map((table, at) => ruleOf(table, at, named));
  const read = rules.map((rule) => carriedRule(rule, rules));
  return geminiSettings({
    tools: named
      .filter((key) => !geminiTools.some(({ keys }) => keys.includes(key)))
      .map((key) => otherTool(key, 'ask')),
    rules: read.flatMap((one) => ('effect' in one ? [one] : [])),
    leftOut: read.flatMap((one) => ('reason' in one ? [one] : [])),
  });
}

function tablesIn(source: string): readonly GeminiTable[] {
  try {
    const { rule = [] } = parseToml(source);
    if (!Array.isArray(rule)) throw new SettingsError('`rule` is not a list of tables');
    const tables = rule.map((one: unknown) => (isTable(one) ? one : null));
    return tables.map((table) => {
      if (table === null) throw new SettingsError('`rule` is not a list of tables');
      return table;
    });
  } catch (error) {
    if (error instanceof TomlError)
      throw new SettingsError(`line ${error.line}: ${error.message.split('\n')[0]}`);
    throw error;
  }
}

/** The keys of the tools that rules name, with those of Gemini CLI. */
function namedKeys(tables: readonly GeminiTable[]): readonly string[] {
  const own = geminiTools.flatMap(({ keys }) => keys);
  const named = tables.flatMap((table) =>
    toolNames(table).flatMap((name) => {
      if (name.includes('*') || (table.mcpName === undefined && name.startsWith('mcp_'))) return [];
      const key = typeof table.mcpName === 'string' ? serverToolKey(table.mcpName, name) : `gemini.${name}`;
      return key !== null && isToolKey(key) ? [key] : [];
    }),
  );
  return [...new Set([...own, ...named])];
}

function toolNames({ toolName: name, commandPrefix, commandRegex }: GeminiTable): readonly string[] {
  const names = typeof name === 'string' ? [name] : textsIn(name);
  if (names.length > 0) return names;
  if (commandPrefix !== undefined || commandRegex !== undefined) return ['run_shell_command'];
  return ['*'];
}

function ruleOf(table: GeminiTable, at: number, named: readonly string[]): GeminiRule {
  const effect = typeof table.decision === 'string' ? effects[table.decision] : undefined;
  if (effect === undefined) throw new SettingsError(`rule ${at + 1} has no known decision`);
  const { denyMessage: _, ...shown } = table;
  const text = Object.entries(shown)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join(', ');
  const priority = typeof table.priority === 'number' ? table.priority : 0;
  return { list: `rule ${at + 1}`, text, table, effect, priority, keys: keysOf(table, named) };
}

function keysOf(table: GeminiTable, named: readonly string[]): readonly string[] {
  const { mcpName } = table;
  const patterns = toolNames(table).map((name) => {
    const inner = name.split('*').map(escapePattern).join('.*');
    if (typeof mcpName === 'string')
      return new RegExp(`^${mcpName.split('*').map(escapePattern).join('.*')}\\.${inner}$`, 's');
    return new RegExp(`^${inner}$`, 's');
  });
  return named.filter((key) =>
    patterns.some((pattern) => pattern.test(mcpName === undefined ? hostName(key) : key)),
  );
}

/** The name by which rules without `mcpName` call a tool. */
function hostName(key: string): string {
  const [server = '', name = ''] = key.split('.');
  return server === 'gemini' ? name : `mcp_${server}_${name}`;
}

function carriedRule(rule: GeminiRule, all: readonly GeminiRule[]): HostRule | EntryLeftOut {
  const { list, text, effect, table, keys } = rule;
  const entry = { list, text };
  const isWild = toolNames(table).some((name) => name.includes('*'));
  if (keys.length === 0) return { ...entry, reason: 'no policy declares these tools, so they are denied' };
  if (effect === 'allow' && isWild)
    return { ...entry, reason: 'it also allows tools that no rule names; name the tools' };
  const tools = keys.map(toolName);
  const condition = conditionsOf(table);
  if (condition !== null) {
    if (effect === 'allow') return { ...entry, reason: `policies do not know \`${condition}\`` };
    return {
      ...entry,
      effect,
      tools,
      pattern: { kind: 'any' },
      stricter: `it holds whatever \`${condition}\` is`,
    };
  }
  const isShell = table.commandPrefix !== undefined || table.commandRegex !== undefined;
  const above = all.filter((other) => isAbove(other, rule) && other.effect !== 'allow' && isAboutRest(other));
  const isOver = effect === 'allow' && keys.every((key) => above.some((other) => other.keys.includes(key)));
  if (isOver) return { ...entry, reason: `\`${above[0]?.list}\` has a priority that is not lower` };
  if (isShell) return shellRule(rule, entry);
  const winners = all.filter(
    (other) => isAboutRest(other) && isAbove(other, rule) && isStricterOrHigher(other, rule),
  );
  const left = keys.filter((key) => !winners.some((other) => other.keys.includes(key)));
  if (left.length === 0) return { ...entry, reason: `\`${winners[0]?.list}\` has a higher priority` };
  return { ...entry, effect, tools: left.map(toolName), pattern: { kind: 'rest' } };
}

/** Whether a rule is about every call of its tools, under no other condition. */
function isAboutRest({ table }: GeminiRule): boolean {
  return (
    table.commandPrefix === undefined && table.commandRegex === undefined && conditionsOf(table) === null
  );
}

function isAbove(one: GeminiRule, other: GeminiRule): boolean {
  return one !== other && one.priority >= other.priority;
}

const strictness: Readonly<Record<HostEffect, number>> = { allow: 0, ask: 1, deny: 2 };

/** Which of two rules about the rest decides: the higher, or the stricter of two with one priority. */
function isStricterOrHigher(one: GeminiRule, other: GeminiRule): boolean {
  if (one.priority > other.priority) return true;
  const [a, b] = [strictness[one.effect], strictness[other.effect]];
  return a > b || (a === b && one.list < other.list);
}

/** The name of a condition that policies do not have; null without one. */
function conditionsOf(table: GeminiTable): string | null {
  const names = ['argsPattern', 'modes', 'interactive', 'subagent', 'toolAnnotations'];
  return names.find((name) => table[name] !== undefined) ?? null;
}

function shellRule(
  { table, effect }: GeminiRule,
  entry: { readonly list: string; readonly text: string },
): HostRule | EntryLeftOut {
  const tools = [geminiShell.name];
  const { commandPrefix: prefix, commandRegex: regex } = table;
  if (typeof regex === 'string') {
    if (effect === 'allow')
      return {
        ...entry,
        reason: 'Gemini CLI matches it with the text of all arguments; use `commandPrefix`',
      };
    const pattern = widePattern(regex);
    if (pattern !== null) return { ...entry, effect, tools, pattern: { kind: 'pattern', pattern } };
    return { ...entry, effect, tools, pattern: { kind: 'any' }, stricter: 'it covers every command' };
  }
  const prefixes = typeof prefix === 'string' ? [prefix] : textsIn(prefix);
  if (prefixes.length === 0) throw new SettingsError(`${entry.list} has no text in \`commandPrefix\``);
  const starts = prefixes.flatMap((one) => {
    const pattern = prefixPattern(one);
    return pattern.kind === 'command' ? pattern.starts : [];
  });
  return { ...entry, effect, tools, pattern: { kind: 'command', starts, more: 'any' } };
}

/** A pattern that matches at least the lines of a regular expression; null when no pattern surely does. */
function widePattern(regex: string): string | null {
  const isPlain = /^(?:[A-Za-z0-9 _/:=.,@%&;|()*+?-]|\\[.bdw*+?()-])*$/.test(regex) && !regex.includes('(?');
  return isPlain ? `(?s).*(?:${regex}).*` : null;
}
