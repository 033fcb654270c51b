// Turns source text into tokens. One table lists every word, operator and literal of the language; the
// parser, the EBNF page and the editor colours are derived from it. Reserved words have token types of their
// own. All other words of the language belong to the category `Word`, so that each may also be a name. Never
// throws: characters that begin no token are left out and returned separately.

import { createToken, type IToken, Lexer, type TokenType } from 'chevrotain';

// Lists of texts, such as `["a", "b"]` behind `in`, as single tokens: most long lists are of this kind, and a
// token and a node for each of their texts would take longer than the rest of their files. A list that holds
// anything else (an escape, a comment, another value) is read token by token.

const characters = { quote: 34, comma: 44, openSquare: 91, backslash: 92, closeSquare: 93 } as const;
const lineEnds: readonly number[] = [10, 13];
const blanks: readonly number[] = [9, 10, 13, 32];

/**
 * Returns the offset behind the list that begins at `offset`: two quoted texts or more, without escapes, and
 * nothing else but blanks and the commas between them. Null for any other list.
 */
function textListEnd(text: string, offset: number): number | null {
  let at = offset;
  let separator: number = characters.openSquare;
  for (let count = 0; ; count++) {
    if (text.charCodeAt(at) !== separator) {
      return count > 1 && text.charCodeAt(at) === characters.closeSquare ? at + 1 : null;
    }
    const close = textEnd(text, behindBlanks(text, at + 1));
    if (close === null) return null;
    at = behindBlanks(text, close);
    separator = characters.comma;
  }
}

/** Returns the offset behind the quoted text that begins at `offset`; null if none does, or with an escape. */
function textEnd(text: string, offset: number): number | null {
  if (text.charCodeAt(offset) !== characters.quote) return null;
  for (let at = offset + 1; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === characters.quote) return at + 1;
    if (character === characters.backslash || lineEnds.includes(character)) return null;
  }
  return null;
}

function behindBlanks(text: string, offset: number): number {
  let at = offset;
  while (blanks.includes(text.charCodeAt(at))) at++;
  return at;
}

export type Token = IToken;

const logicWords = ['and', 'or', 'not', 'in'] as const;
const likenessWords = ['like', 'matches', 'starts', 'ends', 'with'] as const;
const holdingWords = ['contains', 'mentions', 'inside'] as const;
const valueWords = ['has', 'is', 'if', 'else', 'some', 'every', 'no', 'true', 'false', 'null'] as const;
const describeCondition = ['when', 'unless', 'risk', 'because', 'per', 'over'] as const;
/** Words for the effects of rules, except `risk`. */
export const effectWords = ['allow', 'deny', 'escalate', 'reauth'] as const;
const modeWords = ['never', 'always', 'shadow'] as const;
/** Words that begin a declaration which gives a name a value. */
const assigningWords = ['list', 'table', 'hours', 'let', 'meter', 'type'] as const;
export const declaringWords = [
  ...assigningWords,
  ...(['action', 'policy', 'guarantee', 'group', 'approvers'] as const),
] as const;

/** Words that no declaration may take as its name. */
export const reservedWords = [
  ...[...logicWords, ...likenessWords, ...holdingWords, ...valueWords, ...describeCondition],
  ...[...effectWords, ...modeWords, ...declaringWords],
] as const;

/** Reserved words that may name a policy, a rule or a guarantee, whose names no condition reads. */
export const ruleNameWords: ReadonlySet<string> = new Set([
  ...['inside', 'mentions', 'like', 'matches', 'starts', 'ends'],
  ...['some', 'every', 'never', 'always'],
]);

const joiningWords = [
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
] as const;
const parameterWords = [
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
] as const;
const metadataWords = ['owner', 'tags', 'link'] as const;
const quantityWords = ['sum', 'count', 'distinct', 'since', 'today'] as const;
const jsonTypeText = ['secret', 'signed', 'money', 'result'] as const;
const claimWords = ['unapproved', 'ask', 'only'] as const;
const qualityWords = ['single_script'] as const;
const calendarWords = ['year', 'years', 'this', 'week', 'month', 'months'] as const;

/** Types that need no declaration; `money` is a word of its own. */
export const builtInTypeWords = [
  ...(['string', 'email', 'url', 'web_address', 'host', 'path'] as const),
  ...(['boolean', 'number', 'integer', 'date', 'timestamp', 'datetime', 'ip', 'any'] as const),
] as const;
export type BuiltInTypeWord = (typeof builtInTypeWords)[number];

/** Words that mean something in one place and are ordinary names elsewhere. */
export const contextualWords = [
  ...[...joiningWords, ...parameterWords, ...metadataWords],
  ...[...quantityWords, ...jsonTypeText, ...claimWords, ...qualityWords, ...calendarWords],
] as const;

type ReservedWord = (typeof reservedWords)[number];
type ContextualWord = (typeof contextualWords)[number];

/** Any name: an ordinary one or a contextual word. */
export const Word = literalToken('Word', Lexer.NA, 'a name');

/**
 * The one pattern for words: each word is read as a name first, and its own token type is then looked up.
 * That is faster than trying a pattern for each word.
 */
export const NameToken = literalToken('Name', /[A-Za-z_][A-Za-z0-9_]*/, 'a name', [Word]);

/** Three capitals: a currency after a number, a name elsewhere. */
export const Currency = literalToken('Currency', Lexer.NA, 'a currency such as `USD`', [Word]);
const currencyForm = /^(?!AND$|NOT$|ANY$|ALL$)[A-Z]{3}$/;

export const WeekdayToken = literalToken('Weekday', Lexer.NA, 'a weekday such as `mon`', [Word]);
const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** Token types of the words of the language, by word. */
export const keyword = {
  ...wordTokens<ReservedWord>(reservedWords, []),
  ...wordTokens<ContextualWord>(contextualWords, [Word]),
};

export function wordTypes(...words: readonly (keyof typeof keyword)[]): ReadonlySet<unknown> {
  return new Set(words.map((one) => keyword[one]));
}

/** Words that begin a declaration which gives a name a value, mostly with `=`. */
export const assigning = wordTypes(...assigningWords);
/** Words that begin a declaration. */
export const declaring = wordTypes(...declaringWords);
export const effects = wordTypes(...effectWords);

/** Any text: `"quoted"` or `'raw'`. */
export const Text = literalToken('Text', Lexer.NA, 'a text in quotes');

export const literal = {
  quoted: literalToken('QuotedText', /"(?:[^"\\\r\n]|\\[^\r\n])*"/, 'a text in quotes', [Text]),
  raw: literalToken('RawText', /'[^'\r\n]*'/, 'a text in quotes', [Text]),
  instant: literalToken(
    'Instant',
    /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?/,
    'an instant such as `2026-12-25T09:00Z`',
  ),
  date: literalToken('Date', /\d{4}-\d{2}-\d{2}/, 'a date such as `2026-12-25`'),
  clock: literalToken('Clock', /\d{2}:\d{2}/, 'a clock time such as `09:00`'),
  duration: literalToken(
    'Duration',
    /\d+(?:_\d+)*[smhd](?![A-Za-z0-9_])/,
    'a duration such as `30s`, `15m`, `24h` or `7d`',
  ),
  number: literalToken('Number', /\d+(?:_\d+)*(?:\.\d+(?:_\d+)*)?/, 'a number'),
};

export const symbol = {
  ellipsis: signToken('Ellipsis', '...'),
  range: signToken('Range', '..'),
  dot: signToken('Dot', '.'),
  comma: signToken('Comma', ','),
  optional: signToken('Optional', '?:'),
  colon: signToken('Colon', ':'),
  equal: signToken('Equal', '=='),
  notEqual: signToken('NotEqual', '!='),
  atMost: signToken('AtMost', '<='),
  below: signToken('Below', '<'),
  atLeast: signToken('AtLeast', '>='),
  above: signToken('Above', '>'),
  assign: signToken('Assign', '='),
  plus: signToken('Plus', '+'),
  minus: signToken('Minus', '-'),
  star: signToken('Star', '*'),
  slash: signToken('Slash', '/'),
  bar: signToken('Bar', '|'),
  openParen: signToken('OpenParen', '('),
  closeParen: signToken('CloseParen', ')'),
  openSquare: signToken('OpenSquare', '['),
  closeSquare: signToken('CloseSquare', ']'),
  openCurly: signToken('OpenCurly', '{'),
  closeCurly: signToken('CloseCurly', '}'),
};

/**
 * What a token adds to the depth of brackets, by the number of its token type; undefined if it is no bracket.
 */
export const bracketStep: (1 | -1 | undefined)[] = [];
for (const type of [symbol.openParen, symbol.openSquare, symbol.openCurly])
  bracketStep[type.tokenTypeIdx!] = 1;
for (const type of [symbol.closeParen, symbol.closeSquare, symbol.closeCurly])
  bracketStep[type.tokenTypeIdx!] = -1;

/** Words that begin a quantifier. */
export const describeQuantifier = ['some', 'every', 'no', 'count', 'sum'] as const;
const quantifiers: ReadonlySet<string | undefined> = new Set(describeQuantifier);

/** A list of texts behind the `in` of a comparison, as one token, which `text-literal.ts` reads. */
export const TextListToken = createToken({
  name: 'TextList',
  pattern: (text, offset, matched) => {
    if (matched.at(-1)?.image !== 'in' || quantifiers.has(matched.at(-3)?.image)) return null;
    const end = textListEnd(text, offset);
    return end === null ? null : [text.slice(offset, end)];
  },
  start_chars_hint: ['['],
  line_breaks: true,
  label: 'a list',
});

const takesText: ReadonlySet<string> = new Set(['matches', 'like', '==', '!=', '=', '=~', '~=', '~']);

function regexAt(text: string, offset: number): RegExpExecArray | null {
  const pattern = /\/(?![/*])(?:[^/\\\r\n]|\\[^\r\n])+\/[a-z]*/y;
  pattern.lastIndex = offset;
  return pattern.exec(text);
}

/** Matches a comment such as `-- this one`, if only blanks stand before it on its line. */
function dashesAt(text: string, offset: number): RegExpExecArray | null {
  if (text.charAt(offset + 1) !== '-') return null;
  let start = offset;
  while (start > 0 && (text.charAt(start - 1) === ' ' || text.charAt(start - 1) === '\t')) start--;
  if (start > 0 && !/[\r\n]/.test(text.charAt(start - 1))) return null;
  const pattern = /--[ \t][^\r\n]*/y;
  pattern.lastIndex = offset;
  return pattern.exec(text);
}

/** Signs that stand between the two sides of a comparison; operators in words are not among them. */
export const comparingSigns = [
  symbol.equal,
  symbol.notEqual,
  symbol.below,
  symbol.atMost,
  symbol.above,
  symbol.atLeast,
];
export const comparing: ReadonlySet<unknown> = new Set(comparingSigns);
/** First words of the operators that relate a text to another, or a time to now. */
export const relatingWords = ['like', 'matches', 'starts', 'ends', ...holdingWords, 'within'] as const;

/**
 * Tokens for what people write out of habit from other languages, or leave unfinished. No rule of the grammar
 * accepts them.
 */
export const mistake = {
  strictEqual: signToken('StrictEqual', '==='),
  strictNotEqual: signToken('StrictNotEqual', '!=='),
  lessGreater: signToken('LessGreater', '<>'),
  tilde: literalToken('Tilde', /=~|~=?/, '`matches`'),
  doubleAmpersand: signToken('DoubleAmpersand', '&&'),
  doubleBar: signToken('DoubleBar', '||'),
  bang: literalToken('Bang', /!(?!=)/, '`!`'),
  comment: literalToken('ForeignComment', /\/\/[^\r\n]*|\/\*(?:[\s\S]{0,1000}?\*\/|[^\r\n]*)/, 'a comment'),
  dashes: createToken({
    name: 'ForeignDashes',
    pattern: dashesAt,
    start_chars_hint: ['-'],
    line_breaks: false,
    label: 'a comment',
  }),
  regex: createToken({
    name: 'Regex',
    // A slash divides, except behind an operator that takes a text.
    pattern: (text, offset, matched) =>
      takesText.has(matched.at(-1)?.image ?? '') ? regexAt(text, offset) : null,
    start_chars_hint: ['/'],
    line_breaks: false,
    label: 'a text in quotes',
  }),
  curlyQuotes: literalToken(
    'CurlyQuotes',
    /[“”„‟][^“”„‟"\r\n]*[“”„‟"]|[‘’‚][^‘’‚'\r\n]*[‘’‚']|`[^`\r\n]*`/,
    'a text in quotes',
  ),
  currencySign: literalToken('CurrencySign', /[€£¥]|\$(?=\d)/, 'an amount'),
  percent: signToken('Percent', '%'),
  semicolon: signToken('Semicolon', ';'),
  optionalDot: signToken('OptionalDot', '?.'),
  question: literalToken('Question', /\?(?!:)/, '`?`'),
  colonAssign: signToken('ColonAssign', ':='),
  arrow: signToken('Arrow', '=>'),
  atLeast: signToken('AtLeastSign', '≥'),
  atMost: signToken('AtMostSign', '≤'),
  notEqual: signToken('NotEqualSign', '≠'),
  unterminatedQuoted: literalToken('UnterminatedQuoted', /"(?:[^"\\\r\n]|\\[^\r\n])*/, 'a text in quotes'),
  unterminatedRaw: literalToken('UnterminatedRaw', /'[^'\r\n]*/, 'a text in quotes'),
};

const Comment = createToken({ name: 'Comment', pattern: /#[^\r\n]*/, group: 'comments' });

// Control and direction characters are skipped like blanks: `refusedCharacters` scans the whole text and
// reports each of them once.
const Blank = createToken({
  name: 'Blank',
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what the pattern is about
  pattern: /[\u0000-\u0020\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/,
  group: Lexer.SKIPPED,
});

/** Every token type, in the order in which the lexer tries them. */
export const tokenTypes: readonly TokenType[] = [
  Blank,
  Comment,
  ...Object.values(keyword),
  Currency,
  WeekdayToken,
  NameToken,
  // The lexer takes the first pattern that matches, so `===` goes before `==`.
  ...Object.values(literal),
  ...Object.values(mistake),
  TextListToken,
  ...Object.values(symbol),
  Word,
  Text,
];

/** Creates the lexer. Validating the token types takes longer than reading a file, so it can be skipped. */
export function createLexer(skipValidations: boolean): Lexer {
  const options = { positionTracking: 'onlyOffset', ensureOptimizations: true, skipValidations } as const;
  return new Lexer([...tokenTypes], options);
}

const lexer = createLexer(true);

interface LexResult {
  readonly tokens: Token[];
  readonly comments: readonly Token[];
  /** Runs of characters that begin no token. */
  readonly strays: readonly { readonly start: number; readonly end: number }[];
}

/**
 * The tokens of a text in order, with offsets in UTF-16 units. A word beside a dot, before `:` or `?:`, or
 * after `has` is a name even if it is a word of the language.
 */
export function tokenize(text: string): LexResult {
  const lexed = tokenizeWithLists(text);
  return { ...lexed, tokens: withoutLists(lexed.tokens) };
}

/** Replaces each token that is a list of texts by the tokens of the list. */
export function withoutLists(tokens: Token[]): Token[] {
  if (!tokens.some(({ tokenType }) => tokenType === TextListToken)) return tokens;
  return tokens.flatMap((token) => {
    if (token.tokenType !== TextListToken) return token;
    // Behind nothing, a list is no token of its own.
    const inner = lexer.tokenize(token.image).tokens;
    return inner.map((one) => ({ ...one, startOffset: token.startOffset + one.startOffset }));
  });
}

/** Like `tokenize`, but a list of texts behind `in` is one token. */
export function tokenizeWithLists(text: string): LexResult {
  const { tokens, groups, errors } = lexer.tokenize(text);
  const comments = groups.comments ?? [];
  tellWords(tokens);
  const strays = errors.map(({ offset, length }) => ({ start: offset, end: offset + length }));
  return { tokens, comments, strays };
}

/**
 * Offset at which a token ends. Only a token that was moved or read as another type holds this offset itself.
 */
export function tokenEnd({ startOffset, endOffset, image }: Token): number {
  return endOffset === undefined ? startOffset + image.length : endOffset + 1;
}

/** A token at the same place in the text, with another type and, if given, another image. */
export function retype(token: Token, type: TokenType, image: string = token.image): Token {
  const endOffset = tokenEnd(token) - 1;
  return {
    startOffset: token.startOffset,
    endOffset,
    image,
    tokenType: type,
    tokenTypeIdx: type.tokenTypeIdx!,
  };
}

const reserved: ReadonlySet<string> = new Set(reservedWords);

export function isReservedWord(text: string): boolean {
  return reserved.has(text);
}

/** Whether a token is a word, reserved or not. */
export function isAnyWord(token: Token | undefined): boolean {
  return (
    token !== undefined && (token.tokenType.CATEGORIES?.includes(Word) === true || isReservedToken(token))
  );
}

export function isReservedToken(token: Token | undefined): boolean {
  return reservedTypes.has(token?.tokenType);
}

const reservedTypes = wordTypes(...reservedWords);

export function isAnyText(token: Token | undefined): token is Token {
  return token?.tokenType === literal.quoted || token?.tokenType === literal.raw;
}

const typeOfWord: ReadonlyMap<string, TokenType> = new Map([
  ...Object.entries(keyword),
  ...weekdays.map((day) => [day, WeekdayToken] as const),
]);

/**
 * Gives names that are words of the language the token types of these words, except beside a dot, before `:`
 * or `?:`, after `has`, and in the place of the name of a policy, rule or guarantee.
 */
function tellWords(tokens: readonly Token[]): void {
  let before: TokenType | undefined;
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!;
    const isWord = token.tokenType === NameToken && before !== symbol.dot && before !== keyword.has;
    if (isWord && !(ruleNameWords.has(token.image) && isRuleName(before, tokens[index - 2]?.tokenType))) {
      const next = tokens[index + 1]?.tokenType;
      const type =
        next !== symbol.dot && next !== symbol.colon && next !== symbol.optional && wordType(token.image);
      if (type) {
        token.tokenType = type;
        token.tokenTypeIdx = type.tokenTypeIdx!;
      }
    }
    before = token.tokenType;
  }
}

/** Whether a name stands behind `policy`, `guarantee` or an effect that no claim states. */
function isRuleName(before: TokenType | undefined, earlier: TokenType | undefined): boolean {
  if (before === keyword.policy || before === keyword.guarantee) return true;
  return effects.has(before) && earlier !== keyword.never && earlier !== keyword.always;
}

/** The token type of a word in a place where it need not be a name. */
export function typeOfName(text: string): TokenType {
  return wordType(text) ?? NameToken;
}

function wordType(text: string): TokenType | undefined {
  return typeOfWord.get(text) ?? (text.length === 3 && currencyForm.test(text) ? Currency : undefined);
}

function wordTokens<W extends string>(words: readonly W[], categories: TokenType[]): Record<W, TokenType> {
  const entries = words.map((text) => {
    const name = text.charAt(0).toUpperCase() + text.slice(1);
    return [text, literalToken(name, Lexer.NA, `\`${text}\``, categories)] as const;
  });
  return Object.fromEntries(entries) as Record<W, TokenType>;
}

function literalToken(name: string, pattern: RegExp, label: string, categories: TokenType[] = []): TokenType {
  return createToken({ name, pattern, label, categories });
}

function signToken(name: string, text: string): TokenType {
  return createToken({ name, pattern: text, label: `\`${text}\`` });
}
