// Decides calls as the documentation of Claude Code describes its permissions: entries that deny before those that ask, and
// those before entries that allow. Where the documentation leaves a choice, this answers the stricter way.

import {
  cutLine,
  type Effect,
  globs,
  hasWordPrefix,
  matchesSegments,
  resolved,
  wordsOf,
} from './shell-text.ts';

export interface Call {
  readonly tool: string;
  readonly value: string;
}

interface Permissions {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly defaultMode?: string;
}

const project = '/work/project';
const home = '/home/ann';

export function claudeDecides(
  { permissions = {} }: { readonly permissions?: Permissions },
  call: Call,
): Effect {
  const otherwise = permissions.defaultMode === 'dontAsk' ? 'deny' : 'ask';
  const isEdit = ['Edit', 'Write', 'NotebookEdit'].includes(call.tool);
  if (permissions.defaultMode === 'plan' && isEdit) return 'deny';
  if (matchesAny(permissions.deny, call, 'some')) return 'deny';
  if (matchesAny(permissions.ask, call, 'some')) return otherwise;
  if (matchesAny(permissions.allow, call, 'every')) return 'allow';
  const isRead =
    call.tool === 'Read' &&
    hasWordPrefix(resolved(call.value, project).replaceAll('/', ' '), ' work project');
  return isRead || ['TodoWrite', 'AskUserQuestion', 'Agent', 'Task'].includes(call.tool)
    ? 'allow'
    : otherwise;
}

function matchesAny(entries: readonly string[] = [], call: Call, how: 'some' | 'every'): boolean {
  const parsed = entries.map((text) => {
    const [, tool = text, specifier = ''] = /^([^(]+)\((.*)\)$/s.exec(text) ?? [];
    return { tool, specifier: specifier === '*' ? '' : specifier };
  });
  if (parsed.some(({ tool, specifier }) => specifier === '' && isNamed(tool, call.tool, how))) return true;
  if (call.tool === 'Bash') {
    const patterns = parsed.filter(({ tool }) => tool === 'Bash').map(({ specifier }) => specifier);
    return how === 'some'
      ? matchesSome(patterns, call.value) || opensFile(parsed, call.value)
      : matchesEvery(patterns, call.value);
  }
  return parsed.some(({ tool, specifier }) => matchesOne(tool, specifier, call));
}

function isNamed(pattern: string, tool: string, how: 'some' | 'every'): boolean {
  if (!pattern.startsWith('mcp__')) return pattern === tool;
  if (how === 'every' && /^mcp__[^_]*\*/.test(pattern)) return false;
  return globs(pattern, tool) || tool.startsWith(`${pattern}__`);
}

function matchesOne(tool: string, specifier: string, call: Call): boolean {
  switch (tool) {
    case 'Read':
      return call.tool === 'Read' && matchesPath(specifier, call.value);
    case 'Edit':
      return ['Edit', 'Write', 'NotebookEdit'].includes(call.tool) && matchesPath(specifier, call.value);
    case 'WebFetch': {
      if (call.tool !== 'WebFetch') return false;
      // A dot at the end of a name changes nothing for those who look it up.
      const host = new URL(call.value).hostname.replace(/\.$/, '');
      const wanted = specifier.replace(/^domain:/, '');
      return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) : host === wanted;
    }
    default:
      return false;
  }
}

/** Gitignore patterns, with the starts that Claude Code adds. */
function matchesPath(pattern: string, value: string): boolean {
  if (pattern.startsWith('!')) return false;
  const path = resolved(value, project).split('/').slice(1);
  const [folder, inner] = startOf(pattern);
  const own = inner.replace(/^(?:\.\/)+/, '');
  const isFolder = own.endsWith('/');
  const segments = own.split('/').filter((part) => part !== '');
  const start = folder.split('/').filter((part) => part !== '');
  if (!start.every((part, at) => path[at] === part)) return false;
  const rest = path.slice(start.length);
  const isAnchored = pattern.startsWith('/') || pattern.startsWith('~/') || segments.length > 1;
  const whole = isAnchored ? segments : ['**', ...segments];
  // A pattern that matches a folder matches what is below it.
  return rest.some((_, at) => matches(whole, rest.slice(0, at + 1)) && (!isFolder || at + 1 < rest.length));
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === '**' && rest.length > 0 && matchesSegments(rest, path)) return true;
  return matchesSegments(pattern, path);
}

function startOf(pattern: string): readonly [string, string] {
  if (pattern.startsWith('//')) return ['', pattern.slice(2)];
  if (pattern.startsWith('~/')) return [home, pattern.slice(2)];
  return [project, pattern.replace(/^\//, '')];
}

function matchesSome(patterns: readonly string[], line: string): boolean {
  return cutLine(line).segments.some((segment) =>
    [segment, stripped(segment)].some((text) => patterns.some((pattern) => matchesCommand(pattern, text))),
  );
}

function matchesEvery(patterns: readonly string[], line: string): boolean {
  const { segments, hasSubstitution, hasRedirection, hasOther } = cutLine(line);
  if (segments.length === 0 || hasSubstitution || hasRedirection || hasOther) return false;
  return segments.every((segment) => {
    const text = stripped(segment);
    if (/^(?:watch|setsid|ionice|flock)\b|^find\b.* -(?:exec|execdir|ok|delete)/.test(text)) return false;
    return patterns.some((pattern) => matchesCommand(pattern, text));
  });
}

/** Without assignments and the programs that Claude Code looks through. */
function stripped(segment: string): string {
  let text = segment;
  for (;;) {
    const next = text.replace(
      /^(?:[A-Za-z_]\w*=\S* +|timeout +(?:-\S+ +)*\S+ +|(?:time|nohup|xargs) +|(?:nice|stdbuf) +(?:-\S+ +)*)/,
      '',
    );
    if (next === text) return text;
    text = next;
  }
}

function matchesCommand(specifier: string, command: string): boolean {
  const pattern = specifier.replace(/:\*$/, ' *');
  const isLast = pattern.endsWith(' *') && pattern.indexOf('*') === pattern.length - 1;
  return globs(pattern, command) || (isLast && command === pattern.slice(0, -2));
}

/** Whether a command that Claude Code recognizes opens a file of an entry. */
function opensFile(
  entries: readonly { readonly tool: string; readonly specifier: string }[],
  line: string,
): boolean {
  const patterns = entries
    .filter(({ tool }) => tool === 'Read' || tool === 'Edit')
    .map(({ specifier }) => specifier);
  return cutLine(line).segments.some((segment) => {
    const text = stripped(segment);
    const [, ...args] = wordsOf(text) ?? [];
    return (
      /^(?:cat|head|tail|sed) /.test(text) &&
      args.some((arg) => patterns.some((pattern) => pattern !== '' && matchesPath(pattern, arg)))
    );
  });
}
