// Tokens → types and record bodies of the tree in one step, for text that the grammar accepts as it stands: the rules of
// grammar/shape-rules.ts, the nodes of build-type.ts.

import { reportMissingSeparators } from './build-type.ts';
import { SwiftExpressions } from './swift-expression.ts';
import { literalKind, signKind, wordKind } from './swift-literal.ts';
import { isWordKind } from './swift-scan.ts';
import type { Field, Literal, RecordBody, TypeNode, TypeRange } from './tree.ts';

const { bar, closeCurly, closeSquare, colon, comma, ellipsis, openCurly, openParen, openSquare, optional } =
  signKind;

export abstract class SwiftShapes extends SwiftExpressions {
  /** The documentation that ends above an offset. */
  protected docBefore: (offset: number) => string | null = () => null;

  protected docOf(first: number): string | null {
    return this.docBefore(this.starts[first]!);
  }

  protected recordBody(): RecordBody {
    const first = this.take(openCurly);
    const fields: Field[] = [];
    while (this.next() !== ellipsis && this.next() !== closeCurly) {
      fields.push(this.field());
      this.takes(comma);
    }
    const isOpen = this.takes(ellipsis);
    if (isOpen) this.takes(comma);
    this.take(closeCurly);
    reportMissingSeparators(fields, this.context());
    return { fields, isOpen, span: this.from(first) };
  }

  private field(): Field {
    const first = this.at;
    const name = this.fieldName();
    const isOptional = this.takes(optional);
    if (!isOptional) this.take(colon);
    const type = this.type();
    return {
      kind: 'field',
      doc: this.docOf(first),
      name,
      isOptional,
      type,
      span: this.from(first),
    };
  }

  protected type(): TypeNode {
    const first = this.at;
    const kind = this.next();
    if ((kind === wordKind.secret || kind === wordKind.signed) && this.isModifier()) {
      this.at++;
      const modifier = kind === wordKind.secret ? 'secret' : 'signed';
      return { kind: 'modified-type', modifier, type: this.type(), span: this.from(first) };
    }
    const member = this.typeMember();
    if (this.next() !== bar) return member;
    const members = [member];
    while (this.takes(bar)) members.push(this.typeMember());
    return { kind: 'union-type', members, span: this.from(first) };
  }

  /** Whether the word here modifies the type that follows, and is no type itself before the next field. */
  private isModifier(): boolean {
    const [next, after] = [this.kinds[this.at + 1]!, this.kinds[this.at + 2]!];
    const isWord = isWordKind(next) || next === wordKind.null;
    const startsType = isWord || next === openSquare || next === openCurly || this.isText(this.at + 1);
    return startsType && after !== colon && after !== optional;
  }

  private typeMember(): TypeNode {
    const first = this.at;
    if (this.isText()) return { kind: 'text-type', text: this.textLiteral(), span: this.from(first) };
    switch (this.next()) {
      case wordKind.null:
        this.at++;
        return { kind: 'null-type', span: this.from(first) };
      case openCurly:
        return { kind: 'record-type', body: this.recordBody(), span: this.from(first) };
      case openSquare: {
        this.at++;
        const element = this.type();
        this.take(closeSquare);
        return { kind: 'list-type', element, range: this.typeRange(), span: this.from(first) };
      }
      default:
        return this.namedType(first);
    }
  }

  private namedType(first: number): TypeNode {
    if (this.next() === wordKind.money && this.kinds[this.at + 1] === openParen) {
      this.at += 2;
      const currency = this.fieldName();
      this.take(signKind.closeParen);
      return { kind: 'money-type', currency, range: this.typeRange(), span: this.from(first) };
    }
    const name = this.name(this.takeWord());
    const { ignoring, case: letters } = wordKind;
    const isOfPath = name.text === 'path' && this.kinds[this.at + 1] === letters;
    const ignoringCase = isOfPath && this.takes(ignoring);
    if (ignoringCase) this.take(letters);
    const pattern = this.takes(wordKind.matches) ? this.textLiteral('pattern') : null;
    return {
      kind: 'named-type',
      name,
      ignoringCase,
      pattern,
      range: this.typeRange(),
      span: this.from(first),
    };
  }

  private typeRange(): TypeRange | null {
    const first = this.at;
    const low = this.bound();
    if (low === null && this.next() !== signKind.range) return null;
    this.take(signKind.range);
    const high = this.bound();
    return { low, high, span: this.from(first) };
  }

  private bound(): Literal | null {
    const kind = this.next();
    const { number, duration, date, instant } = literalKind;
    const isQuantity = kind === number || kind === duration || kind === signKind.minus;
    return isQuantity || kind === date || kind === instant ? this.constant() : null;
  }
}
