// Turns the settings of a coding agent into a policy file and the list of what became of each entry. Each tool has one
// policy: one rule allows the commands that the allowing entries cover, each entry that asks or denies is a guard, and
// a last rule is what the host does when no entry matches. INVARIANT: an entry has rules, or a reason why it has none.

import { isReading } from '../../language/check/warnings/rules/open-allows.ts';
import { parse } from '../../language/syntax/parse.ts';
import { printFile } from '../../language/syntax/print/print.ts';
import {
  type CallPattern,
  type Entry,
  type HostEffect,
  type HostRule,
  type HostSettings,
  type HostTool,
  SettingsError,
} from './host-settings.ts';
import { createNames } from './rule-names.ts';
import {
  commandCondition,
  commandGuard,
  commandLine,
  filesGuard,
  isReadable,
  patternText,
  plainLine,
  reservedLine,
  text,
  textGuard,
  textLine,
  whyNotAllowed,
} from './shell-patterns.ts';

/** What became of an entry. */
export interface ImportedEntry extends Entry {
  /** Names of the rules that carry it, as `policy/rule`. */
  readonly rules: readonly string[];
  /** Why no rule carries it; null when one does. */
  readonly reason: string | null;
  /** Why the policy is stricter than the entry; null where it is not. */
  readonly stricter: string | null;
}

export interface WrittenPolicies {
  readonly policy: string;
  readonly entries: readonly ImportedEntry[];
}

/** A rule of the policy file, and the entries that it carries. */
interface WrittenRule {
  readonly name: string;
  readonly text: string;
  readonly entries: readonly HostRule[];
}

/** The rules of one tool, and the entries that got none, each with the reason. */
interface WrittenTool {
  readonly tool: HostTool;
  readonly rules: readonly WrittenRule[];
  readonly without: ReadonlyMap<HostRule, string>;
}

export function writePolicies(settings: HostSettings): WrittenPolicies {
  const { rules, leftOut, tools } = settings;
  requireDistinctNames(tools);
  const written = tools.filter(({ keys }) => keys.length > 0).map((tool) => writeTool(tool, rules));
  return {
    policy: policyText(settings, written),
    entries: [
      ...joined(rules.map((rule) => importedEntry(rule, written))),
      ...leftOut.map((one) => ({ ...one, rules: [], stricter: null })),
    ],
  };
}

/** Rules name their tools, so a name that two tools share would give one the rules of the other. */
function requireDistinctNames(tools: readonly HostTool[]): void {
  const keys = new Map<string, string>();
  for (const { name, keys: own } of tools) {
    const before = keys.get(name);
    if (before !== undefined)
      throw new SettingsError(
        `\`${before}\` and \`${own[0]}\` differ too little to have policies of their own`,
      );
    keys.set(name, own[0] ?? name);
  }
}

/** One row for an entry with rules of several tools. */
function joined(entries: readonly ImportedEntry[]): readonly ImportedEntry[] {
  const byEntry = new Map<string, ImportedEntry>();
  for (const one of entries) {
    const key = JSON.stringify([one.list, one.text]);
    const { rules = [], reason = one.reason, stricter = null } = byEntry.get(key) ?? {};
    const all = [...new Set([...rules, ...one.rules])];
    byEntry.set(key, {
      ...one,
      rules: all,
      reason: all.length > 0 ? null : reason,
      stricter: stricter ?? one.stricter,
    });
  }
  return [...byEntry.values()];
}

function writeTool(tool: HostTool, all: readonly HostRule[]): WrittenTool {
  const own = all.filter(({ tools }) => tools.includes(tool.name));
  const whole = strictest(own.filter(({ pattern }) => pattern.kind === 'any'));
  const names = createNames();
  if (whole?.effect === 'deny') return denyWhole(tool, own, whole);
  const without = new Map<HostRule, string>();
  const guards = guardRules(tool, own, names);
  const allows = own.filter(({ effect, pattern }) => effect === 'allow' && !isWhole(pattern));
  if (whole?.effect === 'ask')
    for (const rule of allows)
      without.set(rule, `\`${whole.text}\` asks a person about each use of the tool`);
  const allowing = whole?.effect === 'ask' ? [] : allowRules(allows, { tool, names, without });
  const last = lastRules({ tool, own, names, whole, isEmpty: guards.length + allowing.length === 0 });
  return { tool, rules: [...allowing, ...guards, ...last], without };
}

function isWhole({ kind }: CallPattern): boolean {
  return kind === 'any' || kind === 'rest';
}

function strictest(rules: readonly HostRule[]): HostRule | undefined {
  const order: readonly HostEffect[] = ['deny', 'ask', 'allow'];
  return order.flatMap((effect) => rules.find((rule) => rule.effect === effect) ?? [])[0];
}

function denyWhole(tool: HostTool, own: readonly HostRule[], denial: HostRule): WrittenTool {
  const reason = `\`${denial.text}\` denies each use of the tool`;
  const allows = own.filter(({ effect }) => effect === 'allow');
  const entries = own.filter(({ effect }) => effect !== 'allow');
  const rule = { name: 'all', text: `deny all\n because ${because(denial.text, 'is denied')}`, entries };
  return { tool, rules: [rule], without: new Map(allows.map((one) => [one, reason])) };
}

interface AllowScope {
  readonly tool: HostTool;
  readonly names: (wanted: string) => string;
  readonly without: Map<HostRule, string>;
}

function allowRules(allows: readonly HostRule[], scope: AllowScope): readonly WrittenRule[] {
  const readable: HostRule[] = [];
  const alone = new Map<string, HostRule[]>();
  for (const rule of allows) {
    const { pattern } = rule;
    const reason = pattern.kind === 'command' ? whyNotAllowed(pattern) : null;
    const condition = conditionAlone(scope.tool, pattern);
    if (reason !== null) scope.without.set(rule, reason);
    else if (pattern.kind === 'command' && pattern.isAlone !== true && isReadable(pattern))
      readable.push(rule);
    else if (condition === null)
      scope.without.set(rule, 'it has no plain form, so people decide about each call');
    else alone.set(condition, [...(alone.get(condition) ?? []), rule]);
  }
  return [
    ...(readable.length === 0 ? [] : [commandsRule(readable, scope)]),
    ...[...alone].map(([condition, entries]) => aloneRule(condition, entries, scope)),
  ];
}

function aloneRule(condition: string, entries: readonly HostRule[], { names }: AllowScope): WrittenRule {
  const sources = [...new Set(entries.map(({ text: source }) => oneLine(source)))];
  const name = names(nameIn(entries[0]!));
  return { name, text: `${commentOf(sources)}allow ${name}\n when ${condition}`, entries };
}

/** The condition on a line, path or URL alone; null when none is both exact and plain. */
function conditionAlone({ field }: HostTool, pattern: CallPattern): string | null {
  const value = `payload.${field?.name}`;
  switch (pattern.kind) {
    case 'any':
    case 'rest':
    case 'pattern':
    case 'files':
      return null;
    case 'command':
      return `${value} matches ${patternText(commandLine(pattern))}`;
    case 'text': {
      const line = textLine(pattern.parts);
      return line === null ? null : `${value} matches ${patternText(line)}`;
    }
    case 'path':
      return `${value} matches ${patternText(pattern.pattern)}`;
    case 'host': {
      const { host, isBelow } = pattern;
      return isBelow
        ? `host(${value}) within ${text(host)} and host(${value}) != ${text(host)}`
        : `host(${value}) == ${text(host)}`;
    }
  }
}

/** One rule for all commands that are allowed by their first words, because a line may join several. */
function commandsRule(rules: readonly HostRule[], { names }: AllowScope): WrittenRule {
  const name = names('commands');
  const sources = new Map<string, string[]>();
  for (const { pattern, text: source } of rules) {
    if (pattern.kind !== 'command') continue;
    const condition = commandCondition(pattern);
    sources.set(condition, [...(sources.get(condition) ?? []), oneLine(source)]);
  }
  const conditions = [...sources].map(
    ([condition, from], at) => `${commentOf([...new Set(from)])}${at === 0 ? '' : 'or '}${condition}`,
  );
  return {
    name,
    text: `allow ${name}
      when payload.command matches any of plain_lines
        and not (payload.command matches any of reserved_lines)
        and every c in commands(payload.command) (
          ${conditions.join('\n')}
        )
      because "The settings allow each command of the line"`,
    entries: rules,
  };
}

function guardRules(
  tool: HostTool,
  own: readonly HostRule[],
  names: (wanted: string) => string,
): readonly WrittenRule[] {
  const entriesOf = new Map<string, HostRule[]>();
  for (const rule of own) {
    const condition = rule.effect === 'allow' ? null : guardCondition(tool, rule.pattern);
    if (condition === null) continue;
    const key = `${rule.effect} ${condition}`;
    entriesOf.set(key, [...(entriesOf.get(key) ?? []), rule]);
  }
  return [...entriesOf.values()].map((entries) => guardRule(tool, entries, names));
}

function guardRule(
  tool: HostTool,
  entries: readonly HostRule[],
  names: (wanted: string) => string,
): WrittenRule {
  const [{ effect, pattern, text: source }] = entries as readonly [HostRule];
  const name = names(nameIn(entries[0]!));
  const head = effect === 'deny' ? `deny ${name}` : `escalate ${name} to owner`;
  const reason = because(source, effect === 'deny' ? 'is denied' : 'asks a person');
  return { name, text: `${head}\n when ${guardCondition(tool, pattern)}\n because ${reason}`, entries };
}

/** The condition of a guard; null for an entry about every call. */
function guardCondition({ field }: HostTool, pattern: CallPattern): string | null {
  const value = `payload.${field?.name}`;
  switch (pattern.kind) {
    case 'any':
    case 'rest':
      return null;
    case 'command':
      return commandGuard(pattern);
    case 'text':
      return textGuard(pattern.parts);
    case 'files':
      return filesGuard(pattern);
    case 'pattern':
    case 'path':
      return `${value} matches ${patternText(pattern.pattern)}`;
    case 'host':
      return `host(${value}) within ${text(pattern.host)}`;
  }
}

interface LastScope {
  readonly tool: HostTool;
  readonly own: readonly HostRule[];
  readonly names: (wanted: string) => string;
  /** The entry about every use of the tool that decides. */
  readonly whole: HostRule | undefined;
  /** Whether the tool has no other rules. */
  readonly isEmpty: boolean;
}

/** What happens when no entry matches. */
function lastRules({ tool, own, names, whole, isEmpty }: LastScope): readonly WrittenRule[] {
  const rest = own.find(({ pattern }) => pattern.kind === 'rest');
  const effect = whole?.effect ?? rest?.effect ?? tool.otherwise;
  const entries = own.filter(({ pattern, effect: own }) => isWhole(pattern) && own === effect);
  const name = names(isEmpty ? 'all' : 'others');
  switch (effect) {
    case 'allow': {
      const silence = tool.keys.every(isReading)
        ? ''
        : '# writ: allow allow-unconditional because the settings allow each use of the tool\n';
      return [{ name, text: `${silence}allow ${name}\n because "The settings allow it"`, entries }];
    }
    case 'ask': {
      const reason = 'because "The settings ask a person"';
      return [{ name, text: `allow ${name} after approval by owner within 1h\n ${reason}`, entries }];
    }
    case 'deny': {
      // A reason for requests that no rule allows is a guard of its own only where no rule could allow them.
      if (own.some((rule) => rule.effect === 'allow')) return [];
      return [{ name, text: `deny ${name}\n because "The settings allow no use of the tool"`, entries }];
    }
  }
}

function policyText({ host, tools }: HostSettings, written: readonly WrittenTool[]): string {
  const usesPlain = written.some(({ rules }) => rules.some(({ text: rule }) => rule.includes('plain_lines')));
  const lists = [
    '# Lines of plain words, which every reader of shell lines cuts in the same way.',
    `list plain_lines = [${patternText(plainLine)}]\n`,
    '# Lines with a word of the shell at the place of a program.',
    `list reserved_lines = [${patternText(reservedLine)}]\n`,
  ].join('\n');
  const source = [
    `# The permissions of ${host}, imported by \`writ import\`. The report beside this file lists what became of each entry.\n`,
    ...tools.filter(({ keys }) => keys.length > 0).map(actionText),
    ...(usesPlain ? [lists] : []),
    ...written.map(
      ({ tool, rules }) =>
        `policy ${tool.name} on ${tool.keys.join(', ')} {\n${rules.map((rule) => rule.text).join('\n\n')}\n}\n`,
    ),
  ].join('\n');
  const { file, diagnostics } = parse({ path: 'import.policy', text: source });
  // The tree of a text with errors lacks what was not understood.
  const [error] = diagnostics.filter(({ severity }) => severity === 'error');
  if (error !== undefined)
    throw new SettingsError(`an entry cannot be written as a policy: ${error.message}`);
  return printFile(file);
}

function actionText({ keys, title, field }: HostTool): string {
  const types = { line: 'string ..16_000', path: 'path', url: 'url' };
  const body = field === null ? '...' : `${field.name}: ${types[field.kind]}, ...`;
  return `action ${keys.join(', ')} ${text(title)} { ${body} }\n`;
}

function importedEntry(rule: HostRule, written: readonly WrittenTool[]): ImportedEntry {
  const rules = written.flatMap(({ tool, rules: own }) =>
    own.filter(({ entries }) => entries.includes(rule)).map(({ name }) => `${tool.name}/${name}`),
  );
  const reasons = written.flatMap(({ without }) => without.get(rule) ?? []);
  // What no rule allows is denied without a rule.
  if (rules.length === 0 && rule.effect === 'deny' && rule.pattern.kind === 'rest')
    rules.push('default_deny');
  return {
    list: rule.list,
    text: rule.text,
    rules,
    reason: rules.length > 0 ? null : (reasons[0] ?? 'a stricter entry about every use of the tool decides'),
    stricter: rule.stricter ?? null,
  };
}

/** The text that names a rule: the words of its commands, or else the entry. */
function nameIn({ pattern, text: source }: HostRule): string {
  return pattern.kind === 'command' && pattern.starts.length <= 3
    ? (pattern.starts[0] ?? []).join(' ')
    : source;
}

function commentOf(sources: readonly string[]): string {
  return sources.map((source) => `# ${source}\n`).join('');
}

/** A reason that quotes an entry; braces would be placeholders. */
function because(source: string, what: string): string {
  return text(`${oneLine(source).replaceAll('{', '(').replaceAll('}', ')')} ${what}`);
}

function oneLine(value: string): string {
  return value.replaceAll(/\s+/g, ' ');
}
