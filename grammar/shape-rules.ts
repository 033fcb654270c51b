// The rules of shapes: records, fields, types and their ranges.

import type { TokenType } from 'chevrotain';
import { ExpressionParser } from './expression-rules.ts';
import { isAnyWord, literal, sign, Text, Word, word } from './tokens.ts';

export abstract class ShapeParser extends ExpressionParser {
  recordBody = this.RULE('recordBody', () => {
    this.CONSUME(sign.openCurly);
    this.MANY(() => {
      this.SUBRULE(this.field);
      this.OPTION(() => this.CONSUME(sign.comma));
    });
    this.OPTION1(() => {
      this.CONSUME(sign.ellipsis);
      this.OPTION2(() => this.CONSUME1(sign.comma));
    });
    this.CONSUME(sign.closeCurly);
  });

  field = this.RULE('field', () => {
    this.SUBRULE(this.fieldName);
    this.OR({
      DEF: this.eachToken([sign.colon, sign.optional]),
      ERR_MSG: '`:` or `?:`',
    });
    this.SUBRULE(this.type);
  });

  type = this.RULE('type', () => {
    this.MANY({
      GATE: () => this.isModifier(),
      DEF: () => this.OR(this.eachToken([word.secret, word.signed], 'modifier')),
    });
    this.SUBRULE(this.typeMember);
    this.MANY1(() => {
      this.CONSUME(sign.bar);
      this.SUBRULE1(this.typeMember);
    });
  });

  typeMember = this.RULE('typeMember', () => {
    this.OR({
      DEF: [
        { ALT: () => this.CONSUME(word.null) },
        { ALT: () => this.CONSUME(Text) },
        { ALT: () => this.SUBRULE(this.listType) },
        { ALT: () => this.SUBRULE(this.recordBody) },
        { ALT: () => this.SUBRULE(this.moneyType) },
        { ALT: () => this.SUBRULE(this.namedType) },
      ],
      ERR_MSG: 'a type',
    });
  });

  listType = this.RULE('listType', () => {
    this.CONSUME(sign.openSquare);
    this.SUBRULE(this.type);
    this.CONSUME(sign.closeSquare);
    this.OPTION(() => this.SUBRULE(this.typeRange));
  });

  moneyType = this.RULE('moneyType', () => {
    this.CONSUME(word.money);
    this.CONSUME(sign.openParen);
    this.SUBRULE(this.fieldName);
    this.CONSUME(sign.closeParen);
    this.OPTION(() => this.SUBRULE(this.typeRange));
  });

  namedType = this.RULE('namedType', () => {
    this.CONSUME(Word, { ERR_MSG: 'a type' });
    this.OPTION({
      // Of other types the words are those of a list, which stand behind the whole type.
      GATE: () => this.LA(0).image === 'path' && this.LA(2).tokenType === word.case,
      DEF: () => {
        this.CONSUME(word.ignoring);
        this.CONSUME(word.case);
      },
    });
    this.OPTION1(() => {
      this.CONSUME(word.matches);
      this.CONSUME(Text, { ERR_MSG: 'a pattern in quotes' });
    });
    this.OPTION2(() => this.SUBRULE(this.typeRange));
  });

  typeRange = this.RULE('typeRange', () => {
    this.OPTION(() => this.SUBRULE(this.bound, { LABEL: 'low' }));
    this.CONSUME(sign.range);
    this.OPTION1(() => this.SUBRULE1(this.bound, { LABEL: 'high' }));
  });

  bound = this.RULE('bound', () => {
    this.OR({
      DEF: [
        {
          ALT: () => {
            this.OPTION(() => this.CONSUME(sign.minus));
            this.SUBRULE(this.quantity);
          },
        },
        { ALT: () => this.CONSUME(literal.date) },
        { ALT: () => this.CONSUME(literal.instant) },
      ],
      ERR_MSG: 'a bound',
    });
  });

  /** `secret` and `signed` modify a type that follows on; before the next field they are the name of a type. */
  private isModifier(): boolean {
    const next = this.LA(2);
    const startsType = isAnyWord(next) || startsTypeBesideWords.has(next.tokenType);
    const afterNext = this.LA(3).tokenType;
    return startsType && afterNext !== sign.colon && afterNext !== sign.optional;
  }
}

const startsTypeBesideWords: ReadonlySet<TokenType> = new Set([
  ...[literal.quoted, literal.raw, sign.openSquare, sign.openCurly, word.null],
]);
