// Turns an entry about shell commands into conditions on a shell line. An entry that allows covers only plain lines, whose
// words every reader of shell lines cuts in the same way: bare words with one blank between them, and quoted texts that
// contain a blank or another sign that no word of an entry has. INVARIANT: a line that meets an allowing condition is
// made of commands that begin, as text, with the words of an entry; a line that a host matches as text meets the guard.

import { shellCommands } from '../../language/value/shell/commands.ts';
import type { CallPattern } from './host-settings.ts';

type CommandPattern = Extract<CallPattern, { readonly kind: 'command' }>;

const bare = '[A-Za-z0-9_@%+=:,./-]';
const program = '[A-Za-z0-9_.@+-][A-Za-z0-9_./@+-]*';
const inQuotes = '[A-Za-z0-9_@%+=:,./ ?#^~*-]*[ ?#^~*][A-Za-z0-9_@%+=:,./ ?#^~*-]*';
const argument = `(?:${bare}+|"${inQuotes}"|'${inQuotes}')`;
const command = `${program}(?: ${argument})*`;

/** Lines of one or more plain commands. */
export const plainLine = `${command}(?:(?: && | \\|\\| | \\| |; )${command})*`;

/** Lines with a reserved word of the shell at the place of a program. */
export const reservedLine = `(?s)(?:.*(?:&&|\\|\\||[;|]) )?(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|in|function|select|time|coproc|eval|exec|command|builtin)(?:[ ;].*)?`;

const bareWord = new RegExp(`^${bare}+$`);
const programWord = new RegExp(`^${program}$`);

/** Programs that run what their arguments say, or do more than they read: hosts treat them apart, so no prefix allows them. */
const runners = new Set(
  'timeout time nice nohup stdbuf xargs env sudo doas watch setsid ionice flock find command exec eval builtin sh bash zsh dash ksh fish ssh parallel'.split(
    ' ',
  ),
);

/** Why no rule can allow these commands; null when one can. */
export function whyNotAllowed({ starts }: CommandPattern): string | null {
  for (const [name = '', ...words] of starts) {
    if (!programWord.test(name)) return `\`${name}\` is not the plain name of a program`;
    if (runners.has(name)) return `\`${name}\` runs what its arguments say, so people decide about each line`;
    const odd = words.find((word) => !bareWord.test(word));
    if (odd !== undefined) return `\`${odd}\` has a sign that a shell may read in another way`;
  }
  return null;
}

/** Whether `commands(...)` reads some lines that begin so; if not, a rule can only compare their text. */
export function isReadable({ starts }: CommandPattern): boolean {
  return starts.every((words) =>
    ['', ' x', ' --version'].some((rest) => shellCommands(`${words.join(' ')}${rest}`)?.length === 1),
  );
}

/** The condition that the command `c` begins with the words of an entry. */
export function commandCondition({ starts, more }: CommandPattern): string {
  return starts
    .map(([name = '', ...words]) => {
      const parts = [`c.program == ${text(name)}`];
      if (more === 'none') parts.push(`length(c.args) == ${words.length}`);
      if (more === 'some') parts.push(`length(c.args) > ${words.length}`);
      if (words.length > 0) parts.push(`c.args starts with [${words.map(text).join(', ')}]`);
      return parts.join(' and ');
    })
    .join(' or ');
}

/** The pattern of lines with one such command alone. */
export function commandLine({ starts, more }: CommandPattern): string {
  const rest = { none: '', some: `(?: ${argument})+`, any: `(?: ${argument})*` }[more];
  const heads = starts.map((words) => words.map(escapePattern).join(' '));
  return `${heads.length === 1 ? heads[0] : `(?:${heads.join('|')})`}${rest}`;
}

/** The pattern of lines with one command alone that has the texts in order; null when they are not plain. */
export function textLine(parts: readonly string[]): string | null {
  const [first = ''] = parts;
  const [name = '', ...behind] = first.split(' ');
  if (behind.length === 0 || !programWord.test(name) || runners.has(name)) return null;
  if (parts.some((part) => !/^[A-Za-z0-9_@%+=:,./ -]*$/.test(part) || part.includes('  '))) return null;
  return parts.map(escapePattern).join('[A-Za-z0-9_@%+=:,./ -]*');
}

/**
 * The guard against commands that begin with the words of an entry. If the commands of a line are unknown, it
 * has its effect on the lines that contain these words, also with quotes within a word.
 */
export function commandGuard({ starts, more }: CommandPattern): string {
  if (starts.length > 3 && more === 'any' && starts.every(({ length }) => length === 1))
    return `some c in commands(payload.command) (c.program in [${starts.map(([name = '']) => text(name)).join(', ')}])`;
  const conditions = starts.map(([name = '', ...words]) => {
    const contained = [name, ...words].map((word) => `payload.command matches ${patternText(spelt(word))}`);
    const isPlain = programWord.test(name) && words.every((word) => bareWord.test(word));
    if (!isPlain) return `payload.command matches ${patternText(spelt([name, ...words].join(' ')))}`;
    const parts = [`c.program == ${text(name)}`];
    if (more === 'none') parts.push(`length(c.args) == ${words.length}`);
    parts.push(...words.map((word) => `${text(word)} in c.args`));
    return `${contained.join(' and ')} and some c in commands(payload.command) (${parts.join(' and ')})`;
  });
  return conditions.length === 1 ? conditions[0]! : conditions.map((one) => `(${one})`).join(' or ');
}

/** A pattern of lines that contain a word, also with quotes or other signs within it. */
function spelt(word: string): string {
  return `(?s).*${[...word].map(escapePattern).join('\\W*')}.*`;
}

/** Paths that go through `..`, `.` or two slashes, so their text says less than they mean. */
const roundabout = '[^/.][^/]*/+\\.\\.?/|//';

/**
 * The guard against programs that open files with such names. If the commands of a line are unknown, it has its effect
 * on lines with a program, and behind it such a name or a quote.
 */
export function filesGuard({ programs, core }: Extract<CallPattern, { readonly kind: 'files' }>): string {
  const name = `(?is)(?:.*[/=])?${core}(?:/.*)?|(?s:.*(?:${roundabout}).*)`;
  const line = `(?is).*\\b(?:${programs.join('|')})\\b.*(?:${core}|${roundabout}|["'\\\\]).*`;
  const listed = programs.map(text).join(', ');
  return `payload.command matches ${patternText(line)} and some c in commands(payload.command) (c.program in [${listed}] and some a in c.args (a matches ${patternText(name)}))`;
}

/** The guard against lines with these texts in order. */
export function textGuard(parts: readonly string[]): string {
  const escaped = parts.map((part) => part.trim().replaceAll('\\', '\\\\').replaceAll('"', '\\"'));
  return `payload.command like "${`*${escaped.join('*')}*`.replaceAll(/\*+/g, '*')}"`;
}

/** A text of a policy. */
export function text(value: string): string {
  return JSON.stringify(value);
}

/** A pattern of a policy. */
export function patternText(pattern: string): string {
  return pattern.includes("'") ? JSON.stringify(pattern) : `'${pattern}'`;
}

/** The pattern that matches exactly this text. */
export function escapePattern(value: string): string {
  return value.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
