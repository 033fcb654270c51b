// The tokens of a text while they are repaired: a cursor that stands at one of them and looks at those around it, and what
// a repair answers. Repairs say what is wrong as data; `repair.ts` alone reports it and replaces tokens.

import type { TokenType } from 'chevrotain';
import type { Code } from '../../diagnostic/codes.ts';
import { type Reader, syntaxError, tokenSpan } from '../parse/context.ts';
import {
  bracketStep,
  isAnyWord,
  literal,
  NameToken,
  retype,
  sign,
  type Token,
  tokenEnd,
  word,
  wordTypes,
} from '../parse/tokens.ts';

/** Repairs what stands at the cursor; null where nothing is to be repaired. */
export type RepairAt = (here: Cursor) => Repair | null;

/** What is read in the place of a run of tokens, and what is reported of them. */
export interface Repair {
  /** Where the run begins, counted from the cursor: at 0 unless it is said. Tokens up to it stay as they are. */
  readonly from?: number;
  /**
   * Where the run ends, its last token included: at the cursor or where it begins unless it is said. Before that, nothing is
   * replaced, and what is read goes before the token that is reported.
   */
  readonly to?: number;
  /** What is read instead: a value of which nothing more is known unless it is said. */
  readonly read?: readonly Token[];
  /** Undefined where nothing is to be reported, or where the repair has done so. */
  readonly message?: string;
  /** A form of another language unless it is said. */
  readonly code?: Code;
  /** What to write instead; not said where several things may be meant, empty for nothing. */
  readonly write?: string | undefined;
  /** What to do; to write that unless it is said. */
  readonly help?: string | undefined;
}

export interface PathBefore {
  readonly text: string;
  /** Tokens of it. */
  readonly length: number;
}

/** Tokens that are looked through for the other end of what has begun. */
export const lookaheadMax = 200;

/** A class, since a text has one and each repair moves or marks it; offsets of tokens count from where it stands. */
export class Cursor {
  readonly tokens: readonly Token[];
  readonly reader: Reader;
  index = 0;
  /** Whether a declaration has begun that gives its name a value. */
  awaitsAssign = false;
  braces = 0;
  /** The word that began the declaration. */
  declaration: TokenType | null = null;
  /** Where that word stands, by index. */
  declarationAt = 0;
  /** Tokens further on, by index, that are to be read as others. */
  readonly rereads = new Map<number, Token>();

  constructor(tokens: readonly Token[], reader: Reader) {
    this.tokens = tokens;
    this.reader = reader;
  }

  get token(): Token {
    return this.tokens[this.index]!;
  }

  /** Whether rules may begin here, but for what stands open in round or square brackets. */
  get isInPolicy(): boolean {
    return this.braces === 1 && this.declaration === word.policy;
  }

  /** Whether an action has begun, and its payload not yet. */
  get isBeforePayload(): boolean {
    return this.braces === 0 && this.declaration === word.action;
  }

  at(offset: number): Token | undefined {
    return this.tokens[this.index + offset];
  }

  type(offset: number): TokenType | undefined {
    return this.at(offset)?.tokenType;
  }

  /** The tokens from one to another, both included. */
  run(from: number, to: number): readonly Token[] {
    return this.tokens.slice(this.index + from, this.index + to + 1);
  }

  /** The tokens of a text such as `starts with`, in the place of the one at the cursor. */
  readAs(text: string): readonly Token[] {
    return text
      .trim()
      .split(' ')
      .map((part) => retype(this.token, typeOf.get(part)!, part));
  }

  /** The text from one token to another. */
  text(from: number, to: number): string {
    const [first, last] = [this.at(from), this.at(to)];
    if (first === undefined || last === undefined) return '';
    return this.reader.source.text.slice(first.startOffset, tokenEnd(last));
  }

  /** Whether a token touches the one before it. */
  isAdjacent(offset: number): boolean {
    return tokenEnd(this.at(offset - 1)!) === this.at(offset)!.startOffset;
  }

  /** Whether a token is the first on its line. */
  beginsLine(offset: number): boolean {
    const [before, token] = [this.at(offset - 1), this.at(offset)];
    if (before === undefined || token === undefined) return true;
    const { text } = this.reader.source;
    let at = token.startOffset - 1;
    while (at >= before.startOffset && text[at] !== '\n' && text[at] !== '\r') at--;
    return at >= before.startOffset;
  }

  /** The path that ends before a token; null where something else does. */
  pathBefore(offset: number): PathBefore | null {
    let first = offset - 1;
    while (this.type(first) === NameToken && this.type(first - 1) === sign.dot && this.at(first - 2))
      first -= 2;
    if (this.type(first) !== NameToken) return null;
    return { text: this.text(first, offset - 1), length: offset - first };
  }

  /** Offset of the first token behind the path that begins at an offset. */
  pathEnd(start: number): number {
    let end = start + 1;
    while (this.type(end) === sign.dot && isAnyWord(this.at(end + 1))) end += 2;
    return end;
  }

  /** The path in the parentheses behind the token at the cursor, where nothing else is in them, and what closes them. */
  pathInParentheses(): (PathBefore & { readonly closing: number }) | null {
    const closing = this.type(1) === sign.openParen ? this.closing(1) : null;
    const path = closing === null ? null : this.pathBefore(closing);
    return closing === null || path?.length !== closing - 2 ? null : { ...path, closing };
  }

  /** Offset of the first token of which something holds, from an opening bracket to what closes it. */
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

  /** Whether a bracket that is no brace is open here, or may be. */
  isInBrackets(): boolean {
    let depth = 0;
    for (let at = 0; this.at(at) !== undefined; at--) {
      const { tokenType, tokenTypeIdx } = this.at(at)!;
      if (tokenType === sign.openCurly || tokenType === sign.closeCurly) return false;
      depth += bracketStep[tokenTypeIdx] ?? 0;
      if (depth > 0 || at < -lookaheadMax) return true;
    }
    return false;
  }

  /** Offset of what closes the bracket at an offset; null where it is not near. */
  closing(open: number): number | null {
    return this.within(open, (_, depth) => depth === 0);
  }
}

const typeOf: ReadonlyMap<string, TokenType> = new Map([
  ...Object.entries(word),
  ...Object.values(sign).map((type) => [String(type.PATTERN), type] as const),
]);

/** What stands at the cursor is spelled otherwise here. */
export function spelled(here: Cursor, write: string, code?: Code): Repair {
  const message = `\`${here.token.image}\` is written \`${write.trim()}\` here`;
  return { message, write, read: here.readAs(write), ...(code === undefined ? {} : { code }) };
}

/** What stands at the cursor parts or ends what needs no sign for that. */
export function needless({ token }: Cursor): Repair {
  const help = 'remove it: declarations and rules need nothing between them';
  return { message: needlessMessage(token.image), help, write: '', read: [] };
}

export function needlessMessage(image: string): string {
  return `\`${image}\` ends nothing here`;
}

/** A token that stands for all up to another one. */
export function stretched(token: Token, last: Token): Token {
  return { ...token, endOffset: tokenEnd(last) - 1 };
}

/** A value of which nothing more is said, in the place of one that is reported. */
export function hole(token: Token): Token {
  return { ...retype(token, NameToken, ''), endOffset: token.startOffset - 1 };
}

interface OtherBrackets {
  readonly open: string;
  readonly close: string;
  readonly message: string;
  readonly help: string;
  readonly title: string;
}

/** The bracket at the cursor and the one that closes it are others here; reported at once, for the fix has two places. */
export function rebracketed(here: Cursor, closing: number, other: OtherBrackets): Repair {
  const { open, close, message, help, title } = other;
  const last = here.at(closing)!;
  here.rereads.set(here.index + closing, retype(last, typeOf.get(close)!, close));
  const span = tokenSpan(here.token, here.reader);
  const edits = [
    { span, text: open },
    { span: tokenSpan(last, here.reader), text: close },
  ];
  here.reader.report({ ...syntaxError('foreign-form', span, message, help), fix: { title, edits } });
  return { read: here.readAs(open) };
}

/** How to ask for a field by its path. */
export function presenceOf(path: string): string {
  const [root, ...steps] = path.split('.');
  return `${root} has ${steps.join('.') || '...'}`;
}

/** Words of other languages, each with what means the same here, from the words that mean one thing. */
export function byForeignWord(
  words: Readonly<Record<string, readonly string[]>>,
): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(words).flatMap(([here, foreign]) => foreign.map((one) => [one, here] as const)),
  );
}

/** What a condition follows. */
export const beforeCondition = wordTypes('when', 'unless', 'and', 'or', 'not');
/** What begins a clause. */
export const clauseStarts = wordTypes(
  ...(['when', 'unless', 'risk', 'because', 'for', 'after', 'to', 'except', 'needs', 'within'] as const),
);
/** Literals of one token. */
export const literalTypes: ReadonlySet<unknown> = new Set(Object.values(literal));
