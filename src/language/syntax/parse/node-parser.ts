// Base class of the grammar rules that create tree nodes. A rule fills a draft while it parses, and the node
// is created from the draft when the rule ends, normally or with an error, so an error in one part keeps the
// parts that were parsed before it. Recovery is the work of the parser library: it repairs a missing or extra
// token in place, or skips tokens up to one that may follow an enclosing rule.
//
// INVARIANT: the span of a node runs from the first to the last token that was read for it; skipped tokens do
// not count.

import {
  type ConsumeMethodOpts,
  EmbeddedActionsParser,
  type IParserConfig,
  type ParserMethod,
  type TokenType,
} from 'chevrotain';
import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { SourceText, Span } from '../../diagnostic/span.ts';
import type { MissingNode, NameNode, TextLiteral } from '../tree/tree.ts';
import { makeSpan, plainName, type ReadContext } from './context.ts';
import { declaredName } from './declared-name.ts';
import { textLiteral } from './text-literal.ts';
import { keyword, symbol, Text, type Token, tokenEnd, tokenTypes, Word } from './tokens.ts';

export type ParserRule<Node> = ParserMethod<[], Node>;

/** A node while it is read: a part that has not been read, or that recovery did not find, is null. */
export type Draft<Node> = {
  -readonly [Key in keyof Node]: Node[Key] extends readonly (infer Item)[] ? Item[] : Node[Key] | null;
};

/** The fields that every node gets when it is finished. */
interface NodeFields {
  span: Span;
  doc?: string | null;
}

/** The first draft of a node that has a name and documentation. */
export function named<Kind extends string>(kind: Kind) {
  return { kind, doc: null, name: null, span: null };
}

/** Adds an item to a list; ignores null, which stands for an item that recovery did not find. */
export function push<Item>(list: Item[], item: Item | null | undefined): void {
  if (item !== null && item !== undefined) list.push(item);
}

/** An error on its way up; `made` holds what the rules below have made. */
interface PartialError {
  made?: unknown;
}

/** What was made before an error; undefined if nothing was. */
export function madeBy<Node>(error: unknown): Node | undefined {
  return (error as PartialError).made as Node | undefined;
}

/** A set of token types, as a table by their numbers. */
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

/** How many tokens ahead a decision of the parser may look. */
export const maxLookahead = 2;

export abstract class NodeParser extends EmbeddedActionsParser implements ReadContext {
  source = emptySource;
  report: (diagnostic: Diagnostic) => void = () => undefined;
  textMode: ReadContext['textMode'] = 'plain';
  /** Returns the documentation that ends on the line above an offset; null for none. */
  docBefore: (offset: number) => string | null = () => null;
  /** Offset at which the text that is read begins. */
  protected start = 0;
  /** The tokens read so far, in order; `count` is their number. */
  protected taken: Token[] = [];
  protected count = 0;

  constructor(config: IParserConfig) {
    super([...tokenTypes], { maxLookahead, ...config });
  }

  /**
   * Defines a rule that fills the draft of a node; the draft is the node when the rule ends. The rule returns
   * null if no token was read for the node, or if the node is not whole.
   */
  protected node<Node extends Readonly<NodeFields>>(
    name: string,
    begin: () => Draft<Node>,
    read: (draft: Draft<Node>) => void,
    isWhole: (draft: Draft<Node>, isBroken: boolean) => unknown = () => true,
  ): ParserRule<Node | null> {
    const isDocumented = 'doc' in begin();
    return this.always<Draft<Node>, Node | null>(name, begin, read, (draft, first, isBroken) => {
      const span = this.spanFrom(first);
      if (span === null) return null;
      const placed = draft as unknown as NodeFields;
      placed.span = span;
      if (isDocumented) placed.doc = this.docBefore(span.start);
      return isWhole(draft, isBroken) ? (draft as unknown as Node) : null;
    });
  }

  /**
   * Defines a rule that makes a result from whatever was read, also after an error. `first` is the number of
   * tokens read before the rule.
   */
  protected always<Parts extends object, Node>(
    name: string,
    begin: () => Parts,
    read: (draft: Parts, first: number) => void,
    make: (draft: Parts, first: number, isBroken: boolean) => Node,
  ): ParserRule<Node> {
    const readAndMake = (): Node => {
      const first = this.count;
      const draft = begin();
      try {
        read(draft, first);
      } catch (error) {
        throw this.leaving(error, make(draft, first, true));
      }
      // While Chevrotain records the rule, no token has been read.
      return this.RECORDING_PHASE ? (undefined as Node) : make(draft, first, false);
    };
    return this.RULE(name, readAndMake, { recoveryValueFunc: (error) => madeBy<Node>(error) as Node });
  }

  /** Defines a rule that returns what it reads and makes no node of its own. */
  protected same<Node>(name: string, read: () => Node | null): ParserRule<Node | null> {
    return this.RULE(name, read, { recoveryValueFunc: (error) => madeBy<Node>(error) ?? null });
  }

  /** Makes a result from what was read; after an error, from the part that was read before it. */
  protected making<Node>(read: () => void, make: () => Node | null | undefined): Node | null {
    try {
      read();
    } catch (error) {
      throw this.leaving(error, make());
    }
    return this.RECORDING_PHASE ? null : (make() ?? null);
  }

  protected leaving(error: unknown, made: unknown): unknown {
    (error as PartialError).made = made;
    return error;
  }

  /** Sets a part of a draft to what a rule reads; if the rule fails, to what it has made until then. */
  protected part<Key extends string, Part>(
    draft: { [One in Key]: Part | null },
    key: Key,
    rule: ParserRule<Part>,
    occurrence = 0,
  ): void {
    try {
      draft[key] = this.subrule(occurrence, rule);
    } catch (error) {
      draft[key] = madeBy<Part>(error) ?? null;
      throw error;
    }
  }

  /** Adds to a list what a rule reads; if the rule fails, what it has made until then. */
  protected add<Item>(list: Item[], rule: ParserRule<Item | null>, occurrence = 0): void {
    try {
      push(list, this.subrule(occurrence, rule));
    } catch (error) {
      push(list, madeBy<Item>(error));
      throw error;
    }
  }

  /**
   * Whether the next token is of certain types. Rare parts are looked for this way before anything is made
   * for them. Always true while Chevrotain records the rule.
   */
  protected isNext(types: TokenTable): boolean {
    return this.RECORDING_PHASE || types[this.LA(1).tokenTypeIdx] === true;
  }

  // ---- tokens

  protected override CONSUME(type: TokenType, options?: ConsumeMethodOpts): Token {
    return this.take(super.CONSUME(type, options));
  }

  protected override CONSUME1(type: TokenType, options?: ConsumeMethodOpts): Token {
    return this.take(super.CONSUME1(type, options));
  }

  protected override CONSUME2(type: TokenType, options?: ConsumeMethodOpts): Token {
    return this.take(super.CONSUME2(type, options));
  }

  protected override CONSUME3(type: TokenType, options?: ConsumeMethodOpts): Token {
    return this.take(super.CONSUME3(type, options));
  }

  private take(token: Token): Token {
    // Tokens that recovery made up stand nowhere in the text and are not counted.
    if (token.startOffset >= 0) this.taken[this.count++] = token;
    return token;
  }

  /** Reads an optional part behind a certain word or sign. */
  protected behind(occurrence: number, type: TokenType, read: () => void): void {
    this.option(occurrence, () => {
      this.CONSUME(type);
      read();
    });
  }

  /** Reads one or more parts with commas between them. */
  protected listed(expected: string, read: () => void): void {
    this.AT_LEAST_ONE_SEP({ SEP: symbol.comma, DEF: read, ERR_MSG: expected });
  }

  /**
   * Reads parts with commas between them, up to a closing sign. In square brackets a comma may follow the
   * last part.
   */
  protected items(close: TokenType, read: (occurrence: number) => void): void {
    this.OPTION(() => {
      read(0);
      this.MANY(() => {
        this.CONSUME(symbol.comma);
        read(1);
      });
      if (close === symbol.closeSquare) this.OPTION1(() => this.CONSUME1(symbol.comma));
    });
    this.CONSUME(close);
  }

  /** Reads one or more parts with a given sign or word between them. */
  protected separated(separator: TokenType, read: (occurrence: number) => void): void {
    read(0);
    this.MANY(() => {
      this.CONSUME(separator);
      read(1);
    });
  }

  protected eachRule<Node>(...rules: readonly ParserRule<Node | null>[]): { ALT: () => Node | null }[] {
    return rules.map((rule) => ({ ALT: () => this.SUBRULE(rule) }));
  }

  protected eachToken(...types: readonly TokenType[]): { ALT: () => Token }[] {
    return types.map((type) => ({ ALT: () => this.CONSUME(type) }));
  }

  /**
   * Reads the name that a declaration, a rule or an element is given. `what` is the named thing with its
   * article.
   */
  protected nameOf(noun: string, expected: string): NameNode | null {
    return declaredName(this.CONSUME(Word, { ERR_MSG: expected }), noun, this);
  }

  protected used(expected: string, occurrence = 0): NameNode | null {
    return plainName(this.expect(Word, expected, occurrence), this);
  }

  protected text(expected: string, occurrence = 0): TextLiteral | null {
    return textLiteral(this.expect(Text, expected, occurrence), this);
  }

  /** Reads `from` and the path of a file behind it. */
  protected fromFile(): TextLiteral | null {
    this.CONSUME(keyword.from);
    return this.text('the path of a file in quotes');
  }

  protected zone(occurrence = 0): TextLiteral | null {
    return this.text('a time zone in quotes such as `"Europe/Berlin"`', occurrence);
  }

  private expect(type: TokenType, expected: string, occurrence: number): Token {
    const options = { ERR_MSG: expected };
    return occurrence === 0 ? this.CONSUME(type, options) : this.CONSUME1(type, options);
  }

  // ---- places

  /** The span of the tokens read since the first `first` ones; null if there are none. */
  protected spanFrom(first: number): Span | null {
    if (this.count === first) return null;
    return makeSpan(this, this.taken[first]!.startOffset, tokenEnd(this.taken[this.count - 1]!));
  }

  protected takenFrom(first: number): Token[] {
    return this.taken.slice(first, this.count);
  }

  /** A node for the expression that is missing behind the first `first` tokens. */
  protected missing(first: number): MissingNode {
    const before = this.taken[first - 1];
    return this.missingAt(before === undefined ? this.start : tokenEnd(before));
  }

  protected missingAt(at: number): MissingNode {
    return { kind: 'missing', span: makeSpan(this, at, at) };
  }

  /**
   * Whether there are so many errors that no more is read: recovery is slow, and nobody reads that many
   * messages.
   */
  protected isGivenUp(): boolean {
    return this.errors.length >= errorsMax;
  }
}
