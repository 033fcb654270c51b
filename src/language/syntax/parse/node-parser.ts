// How a rule of the grammar makes a node: it fills a draft while it reads, and the node is made of the draft when the rule
// ends, be it at its end or at an error, so that a broken part leaves what was read of the whole. Recovery is the parser
// library's: a missing or extra token is mended in place, else tokens are skipped up to what may follow a rule above.
// INVARIANT: the span of a node runs from the first to the last token that was read for it; skipped ones do not count.

import {
  type ConsumeMethodOpts,
  EmbeddedActionsParser,
  type IParserErrorMessageProvider,
  type ParserMethod,
  type TokenType,
} from 'chevrotain';
import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { SourceText, Span } from '../../diagnostic/span.ts';
import type { MissingNode, NameNode, TextLiteral } from '../tree/tree.ts';
import { makeSpan, plainName, type ReadContext } from './context.ts';
import { declaredName } from './declared-name.ts';
import { textLiteral } from './text-literal.ts';
import { sign, Text, type Token, tokenEnd, tokenTypes, Word } from './tokens.ts';

export type ParserRule<Node> = ParserMethod<[], Node>;

/** What has been read of a node so far. */
export type Draft<Node> = {
  -readonly [Key in keyof Node]?:
    | (Node[Key] extends readonly (infer Item)[] ? Item[] : Node[Key])
    | null
    | undefined;
};

type ItemOf<List> = NonNullable<List> extends readonly (infer Item)[] ? Item : never;

/** An error on its way up: it carries what the rules below have made. */
interface Broken {
  made?: unknown;
}

/** What was made before an error; undefined for nothing. */
export function madeBy<Node>(error: unknown): Node | undefined {
  return (error as Broken).made as Node | undefined;
}

/** Token types as a table by their numbers. */
export type TokenTable = readonly (boolean | undefined)[];

export function tokenTable(...types: readonly TokenType[]): TokenTable {
  const table: boolean[] = [];
  for (const type of types) {
    table[type.tokenTypeIdx!] = true;
    for (const inner of type.categoryMatches ?? []) table[inner] = true;
  }
  return table;
}

const errorsMax = 500;

export const emptySource: SourceText = { path: '', text: '' };

export abstract class NodeParser extends EmbeddedActionsParser implements ReadContext {
  source = emptySource;
  report: (diagnostic: Diagnostic) => void = () => undefined;
  textMode: ReadContext['textMode'] = 'plain';
  /** The documentation that ends on the line above an offset; null for none. */
  docBefore: (offset: number) => string | null = () => null;
  /** Where the text begins that is read. */
  protected start = 0;
  /** The tokens that were read, in order, and how many they are. */
  protected taken: Token[] = [];
  protected count = 0;

  constructor(errorMessageProvider: IParserErrorMessageProvider, skipValidations: boolean) {
    const types = [...tokenTypes];
    super(types, { recoveryEnabled: true, maxLookahead: 3, errorMessageProvider, skipValidations });
  }

  // ---- rules

  /** A rule whose node is null where no token was read for it. */
  protected node<Parts extends object, Node>(
    name: string,
    read: (draft: Parts) => void,
    make: (draft: Parts, span: Span, isBroken: boolean) => Node | null | undefined,
  ): ParserRule<Node | null> {
    return this.always<Parts, Node | null>(name, read, (draft, first, isBroken) => {
      const span = this.spanFrom(first);
      return span === null ? null : (make(draft, span, isBroken) ?? null);
    });
  }

  /** A rule that makes something of whatever was read; `first` counts the tokens before it. */
  protected always<Parts extends object, Node>(
    name: string,
    read: (draft: Parts, first: number) => void,
    make: (draft: Parts, first: number, isBroken: boolean) => Node,
  ): ParserRule<Node> {
    const readAndMake = (): Node => {
      const first = this.count;
      const draft = {} as Parts;
      try {
        read(draft, first);
      } catch (error) {
        throw this.leaving(error, make(draft, first, true));
      }
      // While the library learns the rule, nothing has been read.
      return this.RECORDING_PHASE ? (undefined as Node) : make(draft, first, false);
    };
    return this.RULE(name, readAndMake, { recoveryValueFunc: (error) => madeBy<Node>(error) as Node });
  }

  /** An error with what was made before it is passed on. */
  protected leaving(error: unknown, made: unknown): unknown {
    (error as Broken).made = made;
    return error;
  }

  /** A rule that is what it reads, and makes nothing of its own. */
  protected same<Node>(name: string, read: () => Node | null): ParserRule<Node | null> {
    return this.RULE(name, read, { recoveryValueFunc: (error) => madeBy<Node>(error) ?? null });
  }

  /** Makes something of a draft when it has been read, or of what there is of it. */
  protected making<Parts, Node>(
    draft: Parts,
    read: (draft: Parts) => void,
    make: (draft: Parts) => Node | null | undefined,
  ): Node | null {
    try {
      read(draft);
    } catch (error) {
      throw this.leaving(error, make(draft));
    }
    // While the library learns the rule, nothing has been read.
    return this.RECORDING_PHASE ? null : (make(draft) ?? null);
  }

  /** Sets a part of a draft to what is read, or to what is there of it. */
  protected part<Parts extends object, Key extends keyof Parts>(
    draft: Parts,
    key: Key,
    read: () => Parts[Key],
  ): void {
    try {
      draft[key] = read();
    } catch (error) {
      draft[key] = madeBy<Parts[Key]>(error) as Parts[Key];
      throw error;
    }
  }

  /** Adds to a list of a draft what is read, or what is there of it. */
  protected each<Key extends string, Parts extends { [One in Key]?: unknown[] | null | undefined }>(
    draft: Parts,
    key: Key,
    read: () => ItemOf<Parts[Key]> | null | undefined,
  ): void {
    const list: unknown[] = draft[key] ?? [];
    draft[key] = list as Parts[Key];
    let item: unknown;
    try {
      item = read();
    } catch (error) {
      item = madeBy(error);
      throw error;
    } finally {
      if (item !== null && item !== undefined) list.push(item);
    }
  }

  /**
   * Whether a token of certain types comes next: what is rare is looked for before anything is made for it. While the
   * library learns the rule, everything comes next.
   */
  protected isNext(types: TokenTable): boolean {
    return this.RECORDING_PHASE || types[this.LA(1).tokenTypeIdx] === true;
  }

  // ---- tokens

  protected override consume(index: number, type: TokenType, options?: ConsumeMethodOpts): Token {
    const token = super.consume(index, type, options);
    // Recovery makes up tokens that stand nowhere.
    if (token.startOffset >= 0) this.taken[this.count++] = token;
    return token;
  }

  protected override CONSUME(type: TokenType, options?: ConsumeMethodOpts): Token {
    return this.consume(0, type, options);
  }

  protected override CONSUME1(type: TokenType, options?: ConsumeMethodOpts): Token {
    return this.consume(1, type, options);
  }

  protected override CONSUME2(type: TokenType, options?: ConsumeMethodOpts): Token {
    return this.consume(2, type, options);
  }

  /** One or more parts with commas between them, into a list of a draft. */
  protected listed<Key extends string, Parts extends { [One in Key]?: unknown[] | null | undefined }>(
    draft: Parts,
    key: Key,
    expected: string,
    read: () => ItemOf<Parts[Key]> | null | undefined,
  ): void {
    this.AT_LEAST_ONE_SEP({ SEP: sign.comma, DEF: () => this.each(draft, key, read), ERR_MSG: expected });
  }

  /** Parts with commas between them up to a closing sign, into a list of a draft; the last comma may be one too many. */
  protected items<Key extends string, Parts extends { [One in Key]?: unknown[] | null | undefined }>(
    draft: Parts,
    key: Key,
    close: TokenType,
    read: (occurrence: number) => ItemOf<Parts[Key]> | null | undefined,
  ): void {
    this.OPTION(() => {
      this.each(draft, key, () => read(0));
      this.MANY(() => {
        this.CONSUME(sign.comma);
        this.each(draft, key, () => read(1));
      });
      if (close === sign.closeSquare) this.OPTION1(() => this.CONSUME1(sign.comma));
    });
    this.CONSUME(close);
  }

  /** One or more parts with dots between them, into a list of a draft. */
  protected dotted<Key extends string, Parts extends { [One in Key]?: unknown[] | null | undefined }>(
    draft: Parts,
    key: Key,
    read: (occurrence: number) => ItemOf<Parts[Key]> | null | undefined,
  ): void {
    this.each(draft, key, () => read(0));
    this.MANY(() => {
      this.CONSUME(sign.dot);
      this.each(draft, key, () => read(1));
    });
  }

  /** One alternative a rule. */
  protected eachRule<Node>(...rules: readonly ParserRule<Node | null>[]): { ALT: () => Node | null }[] {
    return rules.map((rule) => ({ ALT: () => this.SUBRULE(rule) }));
  }

  /** One alternative a token. */
  protected eachToken(...types: readonly TokenType[]): { ALT: () => Token }[] {
    return types.map((type) => ({ ALT: () => this.CONSUME(type) }));
  }

  /** The name that a declaration, rule or element is given; `what` is named with its article. */
  protected nameOf(what: string, expected: string): NameNode | null {
    return declaredName(this.CONSUME(Word, { ERR_MSG: expected }), what, this);
  }

  /** A name that is used. */
  protected used(expected: string): NameNode | null {
    return plainName(this.CONSUME(Word, { ERR_MSG: expected }), this);
  }

  protected text(expected: string): TextLiteral | null {
    return textLiteral(this.CONSUME(Text, { ERR_MSG: expected }), this);
  }

  // ---- places

  /** From the token behind so many others to the last one that was read; null for none. */
  protected spanFrom(first: number): Span | null {
    if (this.count === first) return null;
    return makeSpan(this, this.taken[first]!.startOffset, tokenEnd(this.taken[this.count - 1]!));
  }

  /** The expression that is not there behind the first so many tokens. */
  protected missing(first: number): MissingNode {
    const before = this.taken[first - 1];
    return this.missingAt(before === undefined ? this.start : tokenEnd(before));
  }

  protected missingAt(at: number): MissingNode {
    return { kind: 'missing', span: makeSpan(this, at, at) };
  }

  /** Whether so much is wrong that no more is read: recovery is slow, and nobody reads that many messages. */
  protected isGivenUp(): boolean {
    return this.errors.length >= errorsMax;
  }
}
