// Reads the words of a shell line whose text is known from the line alone. Quotes are removed. A word into
// which a shell would insert something (parameters, commands, arithmetic, home directories) is not read, nor
// is a word that `dash` and `bash` read differently.

export interface ShellWord {
  readonly kind: 'word';
  readonly text: string;
  /** The word has no quotes. Only such a word can be a reserved word. */
  readonly isPlain: boolean;
  /** The word begins with a name and `=`, unquoted. */
  readonly isSetting: boolean;
  /** The word has an unquoted `*`, `?` or `[`, so the shell would replace it with file names. */
  readonly isPattern: boolean;
  /** The position after the word. */
  readonly end: number;
}

/** Characters that end a word unless they are quoted. */
const wordEnds: ReadonlySet<string> = new Set([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']);

/** Characters that stand for themselves anywhere in a word. */
const literal = /[\w%@+\-./,:^\]!#]+/y;
const name = /^[A-Za-z_]\w*$/;
/** Characters that not every shell reads alike. An escaped one is not read. */
const strange = /[^\t\n -~]/;
/** Characters after a dollar sign that make the dollar sign stand for itself. */
const behindDollar = new Set([...' \t\n/|).,:%+=;]}^']);

/** A word that is being read. */
interface Draft {
  readonly line: string;
  at: number;
  text: string;
  isPlain: boolean;
  isSetting: boolean;
  isPattern: boolean;
  hasBrace: boolean;
}

/** Returns the word that begins at `start`, or null when its text is not known from the line alone. */
export function readShellWord(line: string, start: number): ShellWord | null {
  const draft: Draft = {
    line,
    at: start,
    text: '',
    isPlain: true,
    isSetting: false,
    isPattern: false,
    hasBrace: false,
  };
  while (draft.at < line.length && !wordEnds.has(line[draft.at]!)) if (!readPiece(draft)) return null;
  const { text, isPlain, isSetting, at: end } = draft;
  // Some shells read `{a,b}` and `{1..3}` as several words. (Likewise `name+=` sets a variable in some shells
  // and is a program in others; `readPiece` rejects it.)
  if (draft.hasBrace && /,|\.\./.test(text)) return null;
  const isPattern = draft.isPattern && text !== '[';
  return { kind: 'word', text, isPlain, isSetting, isPattern, end };
}

/** Reads the next piece of the word; false when its meaning is not known. */
function readPiece(draft: Draft): boolean {
  const { line } = draft;
  const character = line[draft.at]!;
  literal.lastIndex = draft.at;
  const stretch = literal.exec(line);
  if (stretch !== null) return append(draft, stretch[0], stretch[0].length);
  switch (character) {
    case "'":
      return readSingleQuoted(draft);
    case '"':
      return readDoubleQuoted(draft);
    case '\\':
      return readEscaped(draft);
    case '$':
      return isDollarItself(line, draft.at, false) && append(draft, '$', 1);
    case '=':
      if (draft.isPlain && draft.text.endsWith('+')) return false;
      if (draft.isPlain && name.test(draft.text)) draft.isSetting = true;
      return append(draft, '=', 1);
    case '*':
    case '?':
    case '[':
      draft.isPattern = true;
      return append(draft, character, 1);
    case '{':
    case '}':
      draft.hasBrace = true;
      return append(draft, character, 1);
    case '~':
      // A tilde at the beginning, or where a value may begin, is a home directory.
      return !['', '=', ':'].includes(draft.text.at(-1) ?? '') && append(draft, '~', 1);
    // A backtick, or a character that shells may take for a blank.
    default:
      return false;
  }
}

function append(draft: Draft, text: string, length: number): true {
  draft.text += text;
  draft.at += length;
  return true;
}

function readSingleQuoted(draft: Draft): boolean {
  const end = draft.line.indexOf("'", draft.at + 1);
  if (end < 0) return false;
  draft.isPlain = false;
  return append(draft, draft.line.slice(draft.at + 1, end), end + 1 - draft.at);
}

function readDoubleQuoted(draft: Draft): boolean {
  const { line } = draft;
  draft.isPlain = false;
  for (draft.at += 1; draft.at < line.length; ) {
    const character = line[draft.at]!;
    if (character === '"') return append(draft, '', 1);
    if (character === '`' || (character === '$' && !isDollarItself(line, draft.at, true))) return false;
    if (character !== '\\') {
      append(draft, character, 1);
      continue;
    }
    const next = line[draft.at + 1];
    if (next === '\n') draft.at += 2;
    else if (next !== undefined && '$`"\\'.includes(next)) append(draft, next, 2);
    else append(draft, '\\', 1);
  }
  return false;
}

/**
 * Reads an escaped character. An escaped line end is not read: it ends no word, but shells differ in where a
 * word may be continued.
 */
function readEscaped(draft: Draft): boolean {
  const next = draft.line[draft.at + 1];
  if (next === undefined || next === '\n' || strange.test(next)) return false;
  draft.isPlain = false;
  return append(draft, next, 2);
}

/** Whether the dollar sign stands for itself and inserts nothing. */
function isDollarItself(line: string, at: number, isQuoted: boolean): boolean {
  const next = line[at + 1];
  return next === undefined ? !isQuoted : behindDollar.has(next) || (isQuoted && next === '"');
}
