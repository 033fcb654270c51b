// How a rule of the grammar makes a node: it fills a draft while it reads, and the node is made of the draft when the rule
// ends, be it at its end or at an error, so that a broken part leaves what was read of the whole. Recovery is the parser
// library's: a missing or extra token is repaired in place, else tokens are skipped up to what may follow a rule above.
// INVARIANT: the span of a node runs from the first to the last token that was read for it; skipped ones do not count.

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
import { sign, Text, type Token, tokenEnd, tokenTypes, Word, word } from './tokens.ts';

export type ParserRule<Node> = ParserMethod<[], Node>;

/** A node while it is read: what has not been read, or what recovery did not find, is null. */
export type Draft<Node> = {
  -readonly [Key in keyof Node]: Node[Key] extends readonly (infer Item)[] ? Item[] : Node[Key] | null;
};

/** What any node is finished with. */
interface Placed {
  span: Span;
  doc?: string | null;
}

/** How the draft of anything with a name and documentation begins. */
export function named<Kind extends string>(kind: Kind) {
  return { kind, doc: null, name: null, span: null };
}

/** Adds what was read to a list; what recovery did not find is null. */
export function push<Item>(list: Item[], item: Item | null | undefined): void {
  if (item !== null && item !== undefined) list.push(item);
}

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

/** How many tokens a decision may look at. */
export const maxLookahead = 2;

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

  constructor(config: IParserConfig) {
    super([...tokenTypes], { maxLookahead, ...config });
  }

  /**
   * A rule that fills the draft of a node; the draft is the node when the rule ends. Its node is null where no token was
   * read for it, or where it is not whole.
   */
  protected node<Node extends Readonly<Placed>>(
    name: string,
    begin: () => Draft<Node>,
    read: (draft: Draft<Node>) => void,
    isWhole: (draft: Draft<Node>, isBroken: boolean) => unknown = () => true,
  ): ParserRule<Node | null> {
    const isDocumented = 'doc' in begin();
    return this.always<Draft<Node>, Node | null>(name, begin, read, (draft, first, isBroken) => {
      const span = this.spanFrom(first);
      if (span === null) return null;
      const placed = draft as unknown as Placed;
      placed.span = span;
      if (isDocumented) placed.doc = this.docBefore(span.start);
      return isWhole(draft, isBroken) ? (draft as unknown as Node) : null;
    });
  }

  /** A rule that makes something of whatever was read; `first` counts the tokens before it. */
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
      // While the library learns the rule, nothing has been read.
      return this.RECORDING_PHASE ? (undefined as Node) : make(draft, first, false);
    };
    return this.RULE(name, readAndMake, { recoveryValueFunc: (error) => madeBy<Node>(error) as Node });
  }

  /** A rule that is what it reads, and makes nothing of its own. */
  protected same<Node>(name: string, read: () => Node | null): ParserRule<Node | null> {
    return this.RULE(name, read, { recoveryValueFunc: (error) => madeBy<Node>(error) ?? null });
  }

  /** Makes something of what has been read, or of what there is of it. */
  protected making<Node>(read: () => void, make: () => Node | null | undefined): Node | null {
    try {
      read();
    } catch (error) {
      throw this.leaving(error, make());
    }
    return this.RECORDING_PHASE ? null : (make() ?? null);
  }

  protected leaving(error: unknown, made: unknown): unknown {
    (error as Broken).made = made;
    return error;
  }

  /** Sets a part of a draft to what a rule reads, or to what is there of it. */
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

  /** Adds to a list what a rule reads, or what is there of it. */
  protected add<Item>(list: Item[], rule: ParserRule<Item | null>, occurrence = 0): void {
    try {
      push(list, this.subrule(occurrence, rule));
    } catch (error) {
      push(list, madeBy<Item>(error));
      throw error;
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
    // Recovery makes up tokens that stand nowhere.
    if (token.startOffset >= 0) this.taken[this.count++] = token;
    return token;
  }

  /** What may follow behind a word or a sign. */
  protected behind(occurrence: number, type: TokenType, read: () => void): void {
    this.option(occurrence, () => {
      this.CONSUME(type);
      read();
    });
  }

  /** One or more parts with commas between them. */
  protected listed(expected: string, read: () => void): void {
    this.AT_LEAST_ONE_SEP({ SEP: sign.comma, DEF: read, ERR_MSG: expected });
  }

  /** Parts with commas between them up to a closing sign; in square brackets the last comma may be one too many. */
  protected items(close: TokenType, read: (occurrence: number) => void): void {
    this.OPTION(() => {
      read(0);
      this.MANY(() => {
        this.CONSUME(sign.comma);
        read(1);
      });
      if (close === sign.closeSquare) this.OPTION1(() => this.CONSUME1(sign.comma));
    });
    this.CONSUME(close);
  }

  /** One or more parts with another sign or a word between them. */
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

  /** The name that a declaration, rule or element is given; `what` is named with its article. */
  protected nameOf(what: string, expected: string): NameNode | null {
    return declaredName(this.CONSUME(Word, { ERR_MSG: expected }), what, this);
  }

  protected used(expected: string, occurrence = 0): NameNode | null {
    return plainName(this.expect(Word, expected, occurrence), this);
  }

  protected text(expected: string, occurrence = 0): TextLiteral | null {
    return textLiteral(this.expect(Text, expected, occurrence), this);
  }

  /** The path of a file behind `from`. */
  protected fromFile(): TextLiteral | null {
    this.CONSUME(word.from);
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

  /** From the token behind so many others to the last one that was read; null for none. */
  protected spanFrom(first: number): Span | null {
    if (this.count === first) return null;
    return makeSpan(this, this.taken[first]!.startOffset, tokenEnd(this.taken[this.count - 1]!));
  }

  protected takenFrom(first: number): Token[] {
    return this.taken.slice(first, this.count);
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
