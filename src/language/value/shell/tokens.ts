// Turns a shell line into tokens and removes here-documents. A quoted here-document is data; an unquoted one
// is data only when the shell would insert nothing into it. INVARIANT: the time is linear in the length of
// the line.

import { readShellWord, type ShellWord } from './split-words.ts';

export type ShellToken = ShellWord | ShellOperator | Redirection;

export interface ShellOperator {
  readonly kind: 'operator';
  readonly text: '\n' | ';' | ';;' | '&' | '&&' | '|' | '||' | '(' | ')';
  readonly end: number;
}

/**
 * A redirection. `opens` is null when no named file is opened: for duplicates of open files, here-documents
 * and `/dev/null`.
 */
export interface Redirection {
  readonly kind: 'redirection';
  readonly opens: '<' | '>' | '>>' | '<>' | null;
  readonly file: string;
  readonly end: number;
}

/** The maximum length of a line, in UTF-16 code units. Longer lines are not read. */
export const shellLineLengthMax = 16_384;

const operator = /&&|\|\||;;|[\n;&|()]/y;
const redirection = /<<-|<<|<&|<>|>&|>>|>\||[<>]/y;
const blank = /[ \t]+/y;
const skipped = /(?:[ \t]|\\\n)+/y;
/** Control characters, which shells and terminals may read in ways of their own. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is control characters that are looked for
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

interface HereDocument {
  readonly delimiter: string;
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
}

/** Returns the tokens of the line, or null when one of them is not understood. */
export function shellTokens(line: string): readonly ShellToken[] | null {
  if (line.length > shellLineLengthMax || control.test(line) || !line.isWellFormed()) return null;
  const tokens: ShellToken[] = [];
  const pending: HereDocument[] = [];
  let at = 0;
  while (at < line.length) {
    at = behindBlanks(line, at);
    if (at >= line.length) break;
    const token = readToken(line, at, pending);
    if (token === null) return null;
    tokens.push(token);
    at = token.end;
    if (token.kind === 'operator' && token.text === '\n') {
      const behind = behindDocuments(line, at, pending);
      if (behind === null) return null;
      at = behind;
    }
  }
  return pending.length === 0 ? tokens : null;
}

/** The position after blanks, continued lines and a comment. */
function behindBlanks(line: string, start: number): number {
  const blanks = matchAt(skipped, line, start);
  const at = start + (blanks?.length ?? 0);
  if (line[at] !== '#') return at;
  const end = line.indexOf('\n', at);
  return end < 0 ? line.length : end;
}

function readToken(line: string, at: number, pending: HereDocument[]): ShellToken | null {
  const text = matchAt(operator, line, at) as ShellOperator['text'] | null;
  if (text !== null) {
    const end = at + text.length;
    // Some shells read `&>`, `((` and a continued operator as other tokens.
    const isUnclear = (text === '&' && line[end] === '>') || (text === '(' && line[end] === '(');
    return isUnclear || isContinued(line, end, text) ? null : { kind: 'operator', text, end };
  }
  const sign = matchAt(redirection, line, at);
  if (sign !== null) return readRedirection(line, { at, sign }, pending);
  const word = readShellWord(line, at);
  if (word === null || line[word.end] === '(') return null;
  if (!isNumberOfFile(line, word)) return word;
  const behind = matchAt(redirection, line, word.end);
  return behind === null || word.text.length > 1 || word.text === '}'
    ? null
    : readRedirection(line, { at: word.end, sign: behind }, pending);
}

/**
 * Whether a word right before a redirection names a file descriptor: digits, or for some shells a name in
 * braces.
 */
function isNumberOfFile(line: string, { text, isPlain, end }: ShellWord): boolean {
  return isPlain && (line[end] === '<' || line[end] === '>') && /^(?:\d+|.*\})$/.test(text);
}

/**
 * Whether the line is continued right after an operator of one character. The next line could turn it into
 * another operator.
 */
function isContinued(line: string, end: number, text: string): boolean {
  return text.length === 1 && text !== '\n' && line.startsWith('\\\n', end);
}

interface OperatorToken {
  readonly at: number;
  readonly sign: string;
}

function readRedirection(
  line: string,
  { at, sign }: OperatorToken,
  pending: HereDocument[],
): Redirection | null {
  const behind = at + sign.length;
  if (line[behind] === '(' || (sign === '<<' && line[behind] === '<') || line.startsWith('\\\n', behind)) {
    return null;
  }
  const start = behind + (matchAt(blank, line, behind)?.length ?? 0);
  const target = line[start] === '#' ? null : readShellWord(line, start);
  if (target === null || target.isPattern || isEmpty(target) || line[target.end] === '(') return null;
  if (isNumberOfFile(line, target)) return null;
  const { end, text } = target;
  const nothing: Redirection = { kind: 'redirection', opens: null, file: '', end };
  switch (sign) {
    case '<&':
    case '>&':
      return target.isPlain && /^[\d-]$/.test(text) ? nothing : null;
    case '<<':
    case '<<-':
      if (text === '' || text.includes('\n')) return null;
      pending.push({ delimiter: text, isQuoted: !target.isPlain, stripsTabs: sign === '<<-' });
      return nothing;
    default: {
      if (text === '/dev/null') return nothing;
      const opens = sign === '>|' ? '>' : (sign as '<' | '>' | '>>' | '<>');
      return { kind: 'redirection', opens, file: text, end };
    }
  }
}

function isEmpty({ text, isPlain }: ShellWord): boolean {
  return text === '' && isPlain;
}

/** The position after the bodies of here-documents; null when one has no end or is not understood. */
function behindDocuments(line: string, start: number, pending: HereDocument[]): number | null {
  let at = start;
  for (const { delimiter, isQuoted, stripsTabs } of pending.splice(0)) {
    let hasEnded = false;
    while (!hasEnded) {
      if (at >= line.length) return null;
      const end = line.indexOf('\n', at);
      const row = line.slice(at, end < 0 ? line.length : end);
      hasEnded = (stripsTabs ? row.replace(/^\t+/, '') : row) === delimiter;
      if (!hasEnded && !isQuoted && /[$`\\]/.test(row)) return null;
      at = end < 0 ? line.length : end + 1;
    }
  }
  return at;
}

function matchAt(pattern: RegExp, line: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(line)?.[0] ?? null;
}
