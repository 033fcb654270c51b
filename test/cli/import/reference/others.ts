// Decides calls as the documentation of Codex, Gemini CLI and Cursor describes their permissions. Where the documentation
// leaves a choice, this answers the stricter way.

import { parse as parseToml } from 'smol-toml';
import type { Call } from './claude.ts';
import {
  cutLine,
  type Effect,
  globs,
  hasWordPrefix,
  matchesSegments,
  resolved,
  wordsOf,
} from './shell-text.ts';

const project = '/work/project';
const strictness: Readonly<Record<Effect, number>> = { allow: 0, ask: 1, deny: 2 };

function strictest(effects: readonly Effect[]): Effect {
  return effects.toSorted((a, b) => strictness[b] - strictness[a])[0] ?? 'ask';
}

// ---- Codex

interface PrefixRule {
  readonly pattern: readonly (string | readonly string[])[];
  readonly decision: Effect;
}

/** The rules, read by turning the calls into JSON. */
export function codexRules(source: string): readonly PrefixRule[] {
  const text = source.replaceAll(/^\s*#.*$/gm, '').replaceAll("'", '"');
  const decisions = { allow: 'allow', prompt: 'ask', forbidden: 'deny' } as const;
  return [...text.matchAll(/prefix_rule\(([^)]*)\)/gs)].map(([, inside = '']) => {
    const pattern = /pattern\s*=\s*(\[(?:[^[\]]|\[[^\]]*\])*\])/s.exec(inside)?.[1] ?? '[]';
    const decision = (/decision\s*=\s*"(\w+)"/.exec(inside)?.[1] ?? 'allow') as keyof typeof decisions;
    return { pattern: JSON.parse(pattern.replaceAll(/,\s*\]/g, ']')), decision: decisions[decision] };
  });
}

export function codexDecides(rules: readonly PrefixRule[], { tool, value }: Call): Effect {
  if (tool !== 'Bash') return 'ask';
  const { segments, hasSubstitution, hasRedirection, hasOther } = cutLine(value);
  const isPlain =
    !hasSubstitution &&
    !hasRedirection &&
    !hasOther &&
    segments.length > 0 &&
    !/[\n#]/.test(value) &&
    !segments.some((segment) => /^\w+=/.test(segment));
  const commands = isPlain ? segments.map((segment) => wordsOf(segment) ?? []) : [['bash', '-lc', value]];
  const effects = commands.map((words): Effect => {
    const own = rules.filter(({ pattern }) =>
      pattern.every((part, at) => (typeof part === 'string' ? [part] : part).includes(words[at] ?? '\0')),
    );
    const effect = own.length === 0 ? 'ask' : strictest(own.map(({ decision }) => decision));
    return isPlain || effect === 'deny' ? effect : 'ask';
  });
  return strictest(effects);
}

// ---- Gemini CLI

interface GeminiSettings {
  readonly tools?: {
    readonly core?: readonly string[];
    readonly allowed?: readonly string[];
    readonly exclude?: readonly string[];
  };
  readonly coreTools?: readonly string[];
  readonly excludeTools?: readonly string[];
  readonly allowedTools?: readonly string[];
}

const geminiReaders = [
  'read_file',
  'list_directory',
  'glob',
  'grep_search',
  'search_file_content',
  'read_many_files',
];
const geminiClasses: Readonly<Record<string, string>> = {
  ShellTool: 'run_shell_command',
  ReadFileTool: 'read_file',
  EditTool: 'replace',
  ReadManyFilesTool: 'read_many_files',
};

export function geminiDecides(settings: GeminiSettings, { tool, value }: Call): Effect {
  const core = settings.tools?.core ?? settings.coreTools;
  const { segments, hasSubstitution, hasRedirection, hasOther } = cutLine(value);
  const has = (entries: readonly string[] = [], text: string): boolean =>
    entries.some((entry) => {
      const [, name = entry, prefix = ''] = /^(\w+)\((.*)\)$/.exec(entry) ?? [];
      return (geminiClasses[name] ?? name) === tool && (prefix === '' || hasWordPrefix(text, prefix));
    });
  const texts = tool === 'run_shell_command' ? segments : [''];
  if (texts.some((text) => has(settings.tools?.exclude ?? settings.excludeTools, text))) return 'deny';
  if (core !== undefined && !texts.every((text) => has(core, text))) return 'deny';
  const allowed = settings.tools?.allowed ?? settings.allowedTools;
  const isPlain = !hasSubstitution && !hasRedirection && !hasOther && texts.length > 0;
  if (tool !== 'run_shell_command') return has(allowed, '') || geminiReaders.includes(tool) ? 'allow' : 'ask';
  return isPlain && texts.every((text) => has(allowed, text)) ? 'allow' : 'ask';
}

interface GeminiRule {
  readonly toolName?: string | readonly string[];
  readonly mcpName?: string;
  readonly commandPrefix?: string | readonly string[];
  readonly commandRegex?: string;
  readonly argsPattern?: string;
  readonly modes?: readonly string[];
  readonly decision: 'allow' | 'ask_user' | 'deny';
  readonly priority: number;
}

export function geminiRules(source: string): readonly GeminiRule[] {
  return (parseToml(source).rule ?? []) as unknown as readonly GeminiRule[];
}

/** Each command of a line is decided by its first rule; redirections and what cannot be cut ask at least. */
export function geminiPolicyDecides(rules: readonly GeminiRule[], { tool, value }: Call): Effect {
  const isShell = tool === 'run_shell_command';
  const { segments, hasSubstitution, hasRedirection, hasOther } = cutLine(value);
  const texts = isShell ? segments : [value];
  const effects = texts.map((text) => geminiRuleDecides(rules, { tool, value: text }));
  if (isShell)
    effects.push(
      ...(hasSubstitution || hasRedirection || hasOther || texts.length === 0 ? (['ask'] as const) : []),
    );
  return strictest(effects);
}

function geminiRuleDecides(rules: readonly GeminiRule[], { tool, value }: Call): Effect {
  const own = rules.filter((rule) => {
    const names =
      rule.toolName === undefined
        ? [rule.commandPrefix === undefined && rule.commandRegex === undefined ? '*' : 'run_shell_command']
        : [rule.toolName].flat();
    const full = rule.mcpName === undefined ? names : names.map((name) => `mcp_${rule.mcpName}_${name}`);
    if (!full.some((name) => globs(name, tool))) return false;
    if (rule.modes !== undefined && !rule.modes.includes('default')) return false;
    const json = JSON.stringify({ [tool === 'run_shell_command' ? 'command' : 'file_path']: value });
    if (rule.argsPattern !== undefined && !new RegExp(rule.argsPattern).test(json)) return false;
    if (rule.commandRegex !== undefined && !new RegExp(`"command":"${rule.commandRegex}`).test(json))
      return false;
    const prefixes = rule.commandPrefix === undefined ? null : [rule.commandPrefix].flat();
    return prefixes === null || prefixes.some((prefix) => hasWordPrefix(value, prefix));
  });
  const top = Math.max(...own.map(({ priority }) => priority));
  const effects = own.filter(({ priority }) => priority === top).map(({ decision }) => decision);
  if (effects.length === 0) return geminiReaders.includes(tool) ? 'allow' : 'ask';
  return strictest(effects.map((effect) => (effect === 'ask_user' ? 'ask' : effect)));
}

// ---- Cursor

interface CursorSettings {
  readonly permissions?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
  readonly terminalAllowlist?: readonly string[];
  readonly mcpAllowlist?: readonly string[];
}

/** Cursor looks at the first word of a line alone. */
export function cursorDecides(
  { permissions, terminalAllowlist, mcpAllowlist }: CursorSettings,
  call: Call,
): Effect {
  const has = (entries: readonly string[] = []): boolean =>
    entries.some((entry) => {
      const [, type = '', specifier = ''] = /^(\w+)\((.*)\)$/.exec(entry) ?? [];
      return (
        type.toLowerCase() === (call.tool.includes(':') ? 'mcp' : call.tool.toLowerCase()) &&
        cursorMatches(specifier, call)
      );
    });
  if (has(permissions?.deny)) return 'deny';
  if (has(permissions?.allow)) return 'allow';
  const line = call.value;
  if (
    call.tool === 'Shell' &&
    terminalAllowlist?.some(
      (entry) => entry === '*' || /^(?:$|[\s;&|])/.test(withoutStart(line, entry.replace(/:?\s*\*$/, ''))),
    ) === true
  )
    return 'allow';
  return call.tool.includes(':') && mcpAllowlist?.some((entry) => globs(entry, call.tool)) === true
    ? 'allow'
    : 'ask';
}

/** The text behind a start; a letter when it does not begin so. */
function withoutStart(text: string, start: string): string {
  return text.startsWith(start) ? text.slice(start.length) : 'x';
}

function cursorMatches(specifier: string, { tool, value }: Call): boolean {
  switch (tool) {
    case 'Shell': {
      const [, base = specifier, args = '*'] = /^([^:]*):(.*)$/.exec(specifier) ?? [];
      const [, first = '', rest = ''] = /^([^\s;&|]*)\s*(.*)$/s.exec(value.trim()) ?? [];
      return globs(base, first) && globs(args, rest);
    }
    case 'Read':
    case 'Write': {
      const path = resolved(value, project);
      const pattern = specifier.startsWith('/') ? specifier : `${project}/${specifier.replace(/^\.\//, '')}`;
      return matchesSegments(pattern.split('/').slice(1), path.split('/').slice(1));
    }
    case 'WebFetch': {
      const host = new URL(value).hostname.replace(/\.$/, '');
      return specifier.startsWith('*.') ? host.endsWith(specifier.slice(1)) : host === specifier;
    }
    default:
      return globs(specifier.replace(', ', ':'), tool);
  }
}
