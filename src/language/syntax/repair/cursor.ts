// A cursor over the tokens of a text during repair, with access to the tokens before and after it, and the
// result type of repairs. Most repairs only describe what is wrong; `repair.ts` reports it and replaces the
// tokens.

import type { TokenType } from 'chevrotain';
import type { Code } from '../../diagnostic/codes.ts';
import { type Reader, syntaxError, tokenSpan } from '../parse/context.ts';
import {
  bracketStep,
  effects,
  isAnyWord,
  keyword,
  literal,
  NameToken,
  retype,
  symbol,
  type Token,
  tokenEnd,
  wordTypes,
} from '../parse/tokens.ts';

/** Returns the repair of the tokens at the cursor; null if nothing is to be repaired. */
export type RepairAt = (cursor: Cursor) => Repair | null;

/** What is read in the place of a run of tokens, and what is reported of the run. */
export interface Repair {
  /**
   * Offset of the first token of the run, counted from the cursor; 0 by default. Tokens between the cursor
   * and the run stay as they are.
   */
  readonly from?: number;
  /**
   * Offset of the last token of the run; by default the cursor, or `from` if that lies behind it. If `to` is
   * less than `from`, nothing is replaced, and `read` goes before the token that is reported.
   */
  readonly to?: number;
  /** Tokens that are read instead; by default a value of which nothing more is known. */
  readonly read?: readonly Token[];
  /** The message to report; undefined if there is nothing to report, or if the repair has reported it. */
  readonly message?: string;
  /** Code of the diagnostic; by default that of a form of another language. */
  readonly code?: Code;
  /**
   * Text to write instead, as a fix. Undefined if several things may be meant; empty if the run is to be
   * removed.
   */
  readonly write?: string | undefined;
  /** What to do; by default, to write the text of the fix. */
  readonly help?: string | undefined;
}

export interface PathBefore {
  readonly text: string;
  /** Number of tokens in the path. */
  readonly length: number;
}

/** How many tokens are searched for the other end of something that has begun. */
export const lookaheadMax = 200;

/**
 * The tokens of a text and a position among them. A class, since there is one for each text, and each repair
 * moves or marks it. Offsets of tokens count from the cursor.
 */
export class Cursor {
  readonly tokens: readonly Token[];
  readonly reader: Reader;
  index = 0;
  /** Whether a declaration has begun whose name is still to be given a value by `=`. */
  awaitsAssign = false;
  braces = 0;
  /** The word that began the current declaration; null before the first declaration. */
  declaration: TokenType | null = null;
  /** Index of the word that began the current declaration. */
  declarationAt = 0;
  /** Tokens further on that are to be read as other tokens, by index. */
  readonly rereads = new Map<number, Token>();

  constructor(tokens: readonly Token[], reader: Reader) {
    this.tokens = tokens;
    this.reader = reader;
  }

  get token(): Token {
    return this.tokens[this.index]!;
  }

  /**
   * Whether the cursor is in the block of a policy, where rules may begin unless a round or square bracket is
   * open.
   */
  get isInPolicy(): boolean {
    return this.braces === 1 && this.declaration === keyword.policy;
  }

  /** Whether the cursor is in an action and outside of braces: before its payload or right behind it. */
  get isBeforePayload(): boolean {
    return this.braces === 0 && this.declaration === keyword.action;
  }

  /** Whether the cursor is right behind the effect and the name of a rule, where its clauses begin. */
  get isAwaitedByRule(): boolean {
    return effects.has(this.type(-2)) && this.braces === 1;
  }

  at(offset: number): Token | undefined {
    return this.tokens[this.index + offset];
  }

  type(offset: number): TokenType | undefined {
    return this.at(offset)?.tokenType;
  }

  /** The tokens from one offset to another, both included. */
  run(from: number, to: number): readonly Token[] {
    return this.tokens.slice(this.index + from, this.index + to + 1);
  }

  /** Tokens for a text such as `starts with`, in the place of the token at the cursor. */
  readAs(text: string): readonly Token[] {
    return text
      .trim()
      .split(' ')
      .map((part) => retype(this.token, typeOf.get(part)!, part));
  }

  /** The source text from one token to another; empty if either token does not exist. */
  text(from: number, to: number): string {
    const [first, last] = [this.at(from), this.at(to)];
    if (first === undefined || last === undefined) return '';
    return this.reader.source.text.slice(first.startOffset, tokenEnd(last));
  }

  /** Whether the token at an offset touches the token before it. */
  isAdjacent(offset: number): boolean {
    return tokenEnd(this.at(offset - 1)!) === this.at(offset)!.startOffset;
  }

  /** Whether the token at an offset is the first on its line. */
  beginsLine(offset: number): boolean {
    const [before, token] = [this.at(offset - 1), this.at(offset)];
    if (before === undefined || token === undefined) return true;
    const { text } = this.reader.source;
    let at = token.startOffset - 1;
    while (at >= before.startOffset && text[at] !== '\n' && text[at] !== '\r') at--;
    return at >= before.startOffset;
  }

  /** The path that ends right before an offset; null if something else ends there. */
  pathBefore(offset: number): PathBefore | null {
    let first = offset - 1;
    while (this.type(first) === NameToken && this.type(first - 1) === symbol.dot && this.at(first - 2))
      first -= 2;
    if (this.type(first) !== NameToken) return null;
    return { text: this.text(first, offset - 1), length: offset - first };
  }

  /** Offset of the first token behind the path that begins at an offset. */
  pathEnd(start: number): number {
    let end = start + 1;
    while (this.type(end) === symbol.dot && isAnyWord(this.at(end + 1))) end += 2;
    return end;
  }

  /**
   * The path in the parentheses behind the token at the cursor, with the offset of `)`. Null if anything else
   * is in them.
   */
  pathInParentheses(): (PathBefore & { readonly closing: number }) | null {
    const closing = this.type(1) === symbol.openParen ? this.closing(1) : null;
    const path = closing === null ? null : this.pathBefore(closing);
    return closing === null || path?.length !== closing - 2 ? null : { ...path, closing };
  }

  /**
   * Offset of the first token for which `isFound` holds, from an opening bracket up to its closing one; null
   * if there is none.
   */
  within(open: number, isFound: (type: TokenType, depth: number) => boolean): number | null {
    let depth = 0;
    for (let offset = open; offset < open + lookaheadMax; offset++) {
      const token = this.at(offset);
      if (token === undefined) return null;
      depth += bracketStep[token.tokenTypeIdx] ?? 0;
      if (isFound(token.tokenType, depth)) return offset;
      if (depth <= 0) return null;
    }
    return null;
  }

  /**
   * Whether a round or square bracket is open at the cursor; also true if the search goes too far back to
   * tell.
   */
  isInBrackets(): boolean {
    let depth = 0;
    for (let at = 0; this.at(at) !== undefined; at--) {
      const { tokenType, tokenTypeIdx } = this.at(at)!;
      if (tokenType === symbol.openCurly || tokenType === symbol.closeCurly) return false;
      depth += bracketStep[tokenTypeIdx] ?? 0;
      if (depth > 0 || at < -lookaheadMax) return true;
    }
    return false;
  }

  /** Offset of the bracket that closes the one at an offset; null if it is not near. */
  closing(open: number): number | null {
    return this.within(open, (_, depth) => depth === 0);
  }
}

const typeOf: ReadonlyMap<string, TokenType> = new Map([
  ...Object.entries(keyword),
  ...Object.values(symbol).map((type) => [String(type.PATTERN), type] as const),
]);

/** The repair of a token that is spelled differently in this language. */
export function spelled(cursor: Cursor, write: string, code?: Code): Repair {
  const message = `\`${cursor.token.image}\` is written \`${write.trim()}\` here`;
  return { message, write, read: cursor.readAs(write), ...(code === undefined ? {} : { code }) };
}

/** The repair of a token that separates or ends something without need: the token is removed. */
export function removedToken({ token }: Cursor): Repair {
  const help = 'remove it: declarations and rules need nothing between them';
  return { message: removedTokenMessage(token.image), help, write: '', read: [] };
}

export function removedTokenMessage(image: string): string {
  return `\`${image}\` ends nothing here`;
}

/** A token that stands for itself and all tokens up to another one. */
export function spanningToken(token: Token, last: Token): Token {
  return { ...token, endOffset: tokenEnd(last) - 1 };
}

/** An empty name in the place of a value that is reported, so that nothing more is reported of the value. */
export function emptyName(token: Token): Token {
  return { ...retype(token, NameToken, ''), endOffset: token.startOffset - 1 };
}

interface OtherBrackets {
  readonly open: string;
  readonly close: string;
  readonly message: string;
  readonly help: string;
  readonly title: string;
}

/**
 * The repair of a pair of brackets, opened at the cursor, that have to be of another kind. Reports at once,
 * since the fix changes two places.
 */
export function rebracketed(cursor: Cursor, closing: number, other: OtherBrackets): Repair {
  const { open, close, message, help, title } = other;
  const last = cursor.at(closing)!;
  cursor.rereads.set(cursor.index + closing, retype(last, typeOf.get(close)!, close));
  const span = tokenSpan(cursor.token, cursor.reader);
  const edits = [
    { span, text: open },
    { span: tokenSpan(last, cursor.reader), text: close },
  ];
  cursor.reader.report({ ...syntaxError('foreign-form', span, message, help), fix: { title, edits } });
  return { read: cursor.readAs(open) };
}

/** The text that tests whether the field at a path is present, such as `payload has note`. */
export function presenceOf(path: string): string {
  const [root, ...steps] = path.split('.');
  return `${root} has ${steps.join('.') || '...'}`;
}

/**
 * The spelling in this language by the word of another language. `words` lists the foreign words by that
 * spelling.
 */
export function spellingByForeignWord(
  words: Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(words).flatMap(([spelling, foreign]) => foreign.map((one) => [one, spelling] as const)),
  );
}

/** Words that a condition follows. */
export const beforeCondition = wordTypes('when', 'unless', 'and', 'or', 'not');
/** Words that begin a clause. */
export const clauseStarts = wordTypes(
  ...([
    'when',
    'unless',
    'risk',
    'because',
    'for',
    'after',
    'to',
    'except',
    'needs',
    'within',
    'standing',
  ] as const),
);
/** Token types of literals that are one token. */
export const literalTypes: ReadonlySet<unknown> = new Set(Object.values(literal));
