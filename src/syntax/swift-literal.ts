// Tokens → names, paths and literals of the tree in one step, for text that the grammar accepts as it stands, and the
// cursor that everything built on them reads with. Throws `surprise` wherever a token does not fit or anything would have
// to be said.

import type { TokenType } from 'chevrotain';
import {
  Currency,
  isReservedWord,
  literal,
  Name as NameToken,
  retype,
  sign,
  type Token,
  Weekday,
  word,
} from '../../grammar/tokens.ts';
import type { Diagnostic } from '../diagnostic/diagnostic.ts';
import type { SourceText, Span } from '../diagnostic/span.ts';
import type { BuildContext } from './build-context.ts';
import {
  escapedText,
  isReservedKind,
  isWordKind,
  type Kind,
  kindOf,
  SwiftScanner,
  surprise,
} from './swift-scan.ts';
import { textLiteral } from './text-literal.ts';
import type { Literal, Name, Path, TextLiteral } from './tree.ts';

const kinds = <Types extends Readonly<Record<string, TokenType>>>(types: Types) =>
  Object.fromEntries(Object.entries(types).map(([key, type]) => [key, kindOf(type)])) as {
    readonly [Key in keyof Types]: Kind;
  };
export const signKind = kinds(sign);
export const wordKind = kinds(word);
export const literalKind = kinds(literal);
export const [nameKind, weekdayKind, currencyKind] = [kindOf(NameToken), kindOf(Weekday), kindOf(Currency)];

// What is asked often stands in names of its own.
const { dot, plus, minus, colon, optional } = signKind;
const { quoted, raw, number } = literalKind;

export abstract class SwiftLiterals extends SwiftScanner {
  protected readonly source: SourceText;
  /** Index of the token to be read. */
  protected at = 0;
  protected readonly warnings: Diagnostic[] = [];
  protected textMode: BuildContext['textMode'] = 'plain';

  constructor(source: SourceText) {
    super(source.text);
    this.source = source;
  }

  /** What the slow path's own functions are given; to report an error here is a surprise. */
  protected context(textMode: BuildContext['textMode'] = 'plain'): BuildContext {
    const report = (diagnostic: Diagnostic): void => {
      if (diagnostic.severity === 'error') throw surprise;
      this.warnings.push(diagnostic);
    };
    return { source: this.source, report, docBefore: () => null, textMode };
  }

  // ---- tokens

  protected next(): Kind {
    return this.kinds[this.at]!;
  }

  protected take(kind: Kind): number {
    if (this.kinds[this.at] !== kind) throw surprise;
    return this.at++;
  }

  protected takes(kind: Kind): boolean {
    if (this.kinds[this.at] !== kind) return false;
    this.at++;
    return true;
  }

  protected takeWord(): number {
    if (!isWordKind(this.kinds[this.at]!)) throw surprise;
    return this.at++;
  }

  protected image(index: number): string {
    return this.text.slice(this.starts[index]!, this.ends[index]!);
  }

  /** From one token to another, both included. */
  protected span(first: number, last: number): Span {
    return { file: this.source.path, start: this.starts[first]!, end: this.ends[last]! };
  }

  /** From a token to the last one that was read. */
  protected from(first: number): Span {
    return this.span(first, this.at - 1);
  }

  /** A token as the slow path knows it. */
  protected token(index: number): Token {
    const type = this.kinds[index] === raw ? literal.raw : literal.quoted;
    const startOffset = this.starts[index]!;
    return retype({ startOffset, endOffset: this.ends[index]! - 1 } as Token, type, this.image(index));
  }

  // ---- names

  protected name(index: number): Name {
    return { kind: 'name', text: this.image(index), isQuoted: false, span: this.span(index, index) };
  }

  /** A name that is given here: in snake_case, and no word of the language. */
  protected declaredName(): Name {
    const name = this.name(this.takeWord());
    if (!/^[a-z][a-z0-9_]*$/.test(name.text) || isReservedWord(name.text)) throw surprise;
    return name;
  }

  protected fieldName(): Name {
    if (isWordKind(this.next())) return this.name(this.at++);
    const { value, span } = this.textLiteral('plain');
    return { kind: 'name', text: value, isQuoted: true, span };
  }

  protected path(): Path {
    const first = this.at;
    const isRisk = this.next() === wordKind.risk;
    const root = isRisk ? this.name(this.at++) : this.name(this.takeWord());
    if (isRisk) this.refusePoints();
    const steps: Name[] = [];
    while (this.takes(dot)) steps.push(this.fieldName());
    return { kind: 'path', root, steps, span: this.from(first) };
  }

  /** Behind `risk` the mender looks for points without a sign and for a rule named by a reserved word. */
  private refusePoints(): void {
    const [first, second] = [this.kinds[this.at]!, this.kinds[this.at + 1]!];
    const isSigned = second === plus || second === minus;
    if (first === number || (isWordKind(first) && second === number)) throw surprise;
    if (isReservedKind(first) && isSigned) throw surprise;
  }

  // ---- literals

  protected isText(index = this.at): boolean {
    const kind = this.kinds[index];
    return kind === quoted || kind === raw || kind === escapedText;
  }

  protected textLiteral(mode: BuildContext['textMode'] = this.textMode): TextLiteral {
    if (!this.isText()) throw surprise;
    const index = this.at++;
    const kind = this.kinds[index];
    if (kind === escapedText) return textLiteral(this.token(index), this.context(mode));
    const value = this.text.slice(this.starts[index]! + 1, this.ends[index]! - 1);
    return { kind: 'text', value, isRaw: kind === raw, span: this.span(index, index) };
  }

  /** A number; a word behind it on the line may be a misspelt unit or currency. */
  protected number(): number {
    const index = this.take(number);
    const kind = this.next();
    if (kind === nameKind || kind === weekdayKind) {
      const after = this.kinds[this.at + 1];
      if (after !== colon && after !== optional) throw surprise;
    }
    return index;
  }

  protected quantity(minusIndex: number | null): Literal {
    const sign = minusIndex === null ? '' : '-';
    const first = minusIndex ?? this.at;
    if (this.next() === literalKind.duration) {
      const text = sign + this.image(this.at++);
      return { kind: 'duration', text, span: this.from(first) };
    }
    const text = sign + this.image(this.number());
    if (this.next() !== currencyKind) return { kind: 'number', text, span: this.from(first) };
    const currency = this.image(this.at++);
    return { kind: 'money', amount: text, currency, span: this.from(first) };
  }

  /** A literal that is kept as written. */
  protected written<K extends 'date' | 'instant' | 'clock' | 'duration'>(kind: K, token: Kind) {
    const index = this.take(token);
    return { kind, text: this.image(index), span: this.span(index, index) };
  }

  protected constant(): Literal {
    if (!this.takes(minus)) return this.literal();
    return this.quantity(this.at - 1);
  }

  protected literal(): Literal {
    const index = this.at;
    switch (this.next()) {
      case quoted:
      case raw:
      case escapedText:
        return this.textLiteral();
      case number:
      case literalKind.duration:
        return this.quantity(null);
      case literalKind.date:
        return this.written('date', literalKind.date);
      case literalKind.instant:
        return this.written('instant', literalKind.instant);
      case literalKind.clock:
        return this.written('clock', literalKind.clock);
      case wordKind.true:
      case wordKind.false: {
        const value = this.kinds[this.at++] === wordKind.true;
        return { kind: 'boolean', value, span: this.span(index, index) };
      }
      case wordKind.null:
        this.at++;
        return { kind: 'null', span: this.span(index, index) };
      default:
        throw surprise;
    }
  }
}
