// The words of a shell line, as far as what they say is in the line itself: quotes are taken off, and whatever a shell
// would put in from elsewhere (parameters, commands, arithmetic, home directories) is no word at all. What `dash` and `bash` read
// differently is none either.

export interface ShellWord {
  readonly kind: 'word';
  readonly text: string;
  /** No quote stands in it: only such a word can be a reserved one. */
  readonly isPlain: boolean;
  /** It begins with a name and `=`, unquoted. */
  readonly isSetting: boolean;
  /** It holds `*`, `?` or `[`, unquoted: files would be put in its place. */
  readonly isPattern: boolean;
  /** The place behind it. */
  readonly end: number;
}

/** What ends a word unless it is quoted. */
const wordEnds: ReadonlySet<string> = new Set([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']);

/** Characters that mean themselves, wherever in a word they stand. */
const literal = /[\w%@+\-./,:^\]!#]+/y;
const name = /^[A-Za-z_]\w*$/;
/** So a line is searched for characters that are not as they are in every shell. */
const strange = /[^\t\n -~]/;
/** Behind a dollar sign these say that it is one. */
const behindDollar = new Set([...' \t\n/|).,:%+=;]}^']);

/** A word while it is read. */
interface Draft {
  readonly line: string;
  at: number;
  text: string;
  isPlain: boolean;
  isSetting: boolean;
  isPattern: boolean;
  hasBrace: boolean;
}

/** The word that begins at `start`, or null where what it says is not in the line. */
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
  // `{a,b}` and `{1..3}` are several words to some shells; `name+=` sets a variable for some and is a program for others.
  if (draft.hasBrace && /,|\.\./.test(text)) return null;
  const isPattern = draft.isPattern && text !== '[';
  return { kind: 'word', text, isPlain, isSetting, isPattern, end };
}

/** Reads what stands at the draft's place; false where that is not known. */
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
      // At the beginning, or behind what may be the beginning of a value, it is a home directory.
      return !['', '=', ':'].includes(draft.text.at(-1) ?? '') && append(draft, '~', 1);
    // A backtick, or what shells may take for a blank.
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

/** A continued line ends a word for nobody, but shells differ in where a word may be continued. */
function readEscaped(draft: Draft): boolean {
  const next = draft.line[draft.at + 1];
  if (next === undefined || next === '\n' || strange.test(next)) return false;
  draft.isPlain = false;
  return append(draft, next, 2);
}

/** Whether the dollar sign puts nothing in. */
function isDollarItself(line: string, at: number, isQuoted: boolean): boolean {
  const next = line[at + 1];
  return next === undefined ? !isQuoted : behindDollar.has(next) || (isQuoted && next === '"');
}
