// Splits a line of a policy file into the pieces that are coloured, for sources on display and for the
// editor. No token spans lines, so one line is enough. INVARIANT: the pieces together are the line, and the
// words are those of the grammar, as test/dashboard/policy-words.test.ts checks.

export const words = {
  declaration: [
    'action',
    'type',
    'group',
    'approvers',
    'list',
    'table',
    'hours',
    'let',
    'meter',
    'policy',
    'guarantee',
  ],
  outcome: ['allow', 'deny', 'escalate', 'reauth', 'risk', 'never', 'always', 'shadow'],
  constant: ['true', 'false', 'null'],
  word: [
    'and',
    'or',
    'not',
    'in',
    'like',
    'matches',
    'starts',
    'ends',
    'with',
    'contains',
    'mentions',
    'inside',
    'has',
    'is',
    'if',
    'else',
    'some',
    'every',
    'no',
    'when',
    'unless',
    'because',
    'per',
    'over',
    'then',
    'any',
    'of',
    'on',
    'except',
    'ignoring',
    'case',
    'from',
    'key',
    'pushed',
    'may',
    'be',
    'empty',
    'for',
    'after',
    'approval',
    'by',
    'needs',
    'within',
    'to',
    'standing',
    'up',
    'times',
    'chat',
    'owner',
    'tags',
    'link',
    'sum',
    'count',
    'distinct',
    'since',
    'today',
    'secret',
    'signed',
    'money',
    'result',
    'unapproved',
    'ask',
    'only',
    'single_script',
    'year',
    'years',
    'this',
    'week',
    'month',
    'months',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type PieceKind =
  | keyof typeof words
  | 'comment'
  | 'text'
  | 'escape'
  /** An `{expression}` within a text. */
  | 'value'
  | 'number'
  | 'name'
  | 'sign'
  /** Blanks, and characters that begin no token. */
  | 'other';

export interface Piece {
  readonly text: string;
  readonly kind: PieceKind;
}

const kinds: ReadonlyMap<string, PieceKind> = new Map(
  Object.entries(words).flatMap(([kind, list]) => list.map((word) => [word, kind as keyof typeof words])),
);

const tokens: readonly (readonly [PieceKind, RegExp])[] = [
  ['other', /\s+/y],
  ['comment', /#.*/y],
  ['text', /"(?:[^"\\]|\\.)*"?|'[^']*'?/y],
  [
    'number',
    /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?|\d{4}-\d{2}-\d{2}|\d{2}:\d{2}|\d+(?:_\d+)*[smhd](?!\w)|\d+(?:_\d+)*(?:\.\d+(?:_\d+)*)?(?: [A-Z]{3}(?!\w))?/y,
  ],
  ['name', /[A-Za-z_]\w*/y],
  ['sign', /\.\.\.|\.\.|\?:|==|!=|<=|>=|[<>=+*/|.,:()[\]{}-]/y],
];

/** Returns the pieces of a line; the line has no line break. */
export function piecesOf(line: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let before: Piece | null = null;
  for (let at = 0; at < line.length; ) {
    const [kind, text] = tokenAt(line, at);
    at += text.length;
    if (kind === 'text' && text.startsWith('"')) pieces.push(...quotedPieces(text));
    else {
      // A word after a dot, before a dot, `:` or `?:`, or after `has` is a name, even if it is a word of the
      // language.
      const isWord = kind === 'name' && !isFieldAfter(before) && !isLabelled(line, at);
      pieces.push({ text, kind: isWord ? (kinds.get(text) ?? 'name') : kind });
    }
    if (kind !== 'other') before = pieces.at(-1) ?? null;
  }
  return pieces;
}

function tokenAt(line: string, at: number): readonly [PieceKind, string] {
  for (const [kind, pattern] of tokens) {
    pattern.lastIndex = at;
    const match = pattern.exec(line);
    if (match !== null) return [kind, match[0]];
  }
  return ['other', String.fromCodePoint(line.codePointAt(at) ?? 0)];
}

const label = /\s*(?:\??:|\.(?!\.))/y;

function isLabelled(line: string, at: number): boolean {
  label.lastIndex = at;
  return label.test(line);
}

function isFieldAfter(before: Piece | null): boolean {
  return before?.text === '.' || (before?.text === 'has' && before.kind === 'word');
}

function quotedPieces(text: string): readonly Piece[] {
  return text
    .split(/(\\(?:u[0-9A-Fa-f]{4}|.)|\{\{|\{[^"{}]*\})/)
    .filter((part) => part !== '')
    .map((part) => ({
      text: part,
      kind: part.startsWith('\\') ? 'escape' : part.startsWith('{') && part !== '{{' ? 'value' : 'text',
    }));
}
