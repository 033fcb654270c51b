// The rules of literals, paths and expressions, weakest operators first. What a condition, a `let` or a placeholder may
// say is all here; declarations and shapes build on it.

import { type CstNode, CstParser, EOF, type TokenType } from 'chevrotain';
import { Currency, literal, sign, Text, Word, word } from './tokens.ts';

type ParserConfig = ConstructorParameters<typeof CstParser>[1];

const value = 'a value';
const errorsMax = 500;

export abstract class ExpressionParser extends CstParser {
  constructor(tokenTypes: readonly TokenType[], config: ParserConfig) {
    super([...tokenTypes], config);
  }

  /** Whether so much is wrong that no more is read: recovery is slow, and nobody reads that many messages. */
  protected isGivenUp(): boolean {
    return this.errors.length >= errorsMax;
  }

  /** One alternative a token. */
  protected eachToken(types: readonly TokenType[], label?: string) {
    const options = label === undefined ? {} : { LABEL: label };
    return types.map((type) => ({ ALT: () => this.CONSUME(type, options) }));
  }

  /** One alternative a rule. */
  protected eachRule(rules: readonly (() => CstNode)[]) {
    return rules.map((rule) => ({ ALT: () => this.SUBRULE(rule) }));
  }

  // ---- literals

  constant = this.RULE('constant', () => {
    this.OPTION(() => this.CONSUME(sign.minus));
    this.SUBRULE(this.literal);
  });

  literal = this.RULE('literal', () => {
    this.OR({
      DEF: [
        { ALT: () => this.CONSUME(Text) },
        { ALT: () => this.SUBRULE(this.quantity) },
        { ALT: () => this.CONSUME(literal.date) },
        { ALT: () => this.CONSUME(literal.instant) },
        { ALT: () => this.CONSUME(literal.clock) },
        { ALT: () => this.CONSUME(word.true) },
        { ALT: () => this.CONSUME(word.false) },
        { ALT: () => this.CONSUME(word.null) },
      ],
      ERR_MSG: value,
    });
  });

  quantity = this.RULE('quantity', () => {
    this.OR({
      DEF: [
        {
          ALT: () => {
            this.CONSUME(literal.number);
            this.OPTION(() => this.CONSUME(Currency));
          },
        },
        { ALT: () => this.CONSUME(literal.duration) },
      ],
      ERR_MSG: 'a number',
    });
  });

  // ---- names

  fieldName = this.RULE('fieldName', () => {
    this.OR({
      DEF: this.eachToken([Word, Text]),
      ERR_MSG: 'the name of a field',
    });
  });

  path = this.RULE('path', () => {
    this.OR({
      DEF: this.eachToken([Word, word.risk]),
      ERR_MSG: 'a name',
    });
    this.MANY(() => {
      this.CONSUME(sign.dot);
      this.SUBRULE(this.fieldName);
    });
  });

  // ---- operators

  expression = this.RULE('expression', () => {
    this.SUBRULE(this.conjunction);
    this.MANY(() => {
      this.CONSUME(word.or);
      this.SUBRULE1(this.conjunction);
    });
  });

  conjunction = this.RULE('conjunction', () => {
    this.SUBRULE(this.inversion);
    this.MANY(() => {
      this.CONSUME(word.and);
      this.SUBRULE1(this.inversion);
    });
  });

  inversion = this.RULE('inversion', () => {
    this.MANY(() => this.CONSUME(word.not));
    this.SUBRULE(this.comparison);
  });

  comparison = this.RULE('comparison', () => {
    this.SUBRULE(this.sum);
    this.OPTION(() => this.OR(this.eachRule([this.relation, this.membership, this.presence])));
  });

  relation = this.RULE('relation', () => {
    this.OR([
      { ALT: () => this.CONSUME(sign.equal) },
      { ALT: () => this.CONSUME(sign.notEqual) },
      { ALT: () => this.CONSUME(sign.below) },
      { ALT: () => this.CONSUME(sign.atMost) },
      { ALT: () => this.CONSUME(sign.above) },
      { ALT: () => this.CONSUME(sign.atLeast) },
      { ALT: () => this.CONSUME(word.like) },
      { ALT: () => this.CONSUME(word.matches) },
      {
        ALT: () => {
          this.CONSUME(word.starts);
          this.CONSUME(word.with);
        },
      },
      {
        ALT: () => {
          this.CONSUME(word.ends);
          this.CONSUME1(word.with);
        },
      },
      { ALT: () => this.CONSUME(word.contains) },
      {
        ALT: () => {
          this.CONSUME(word.mentions);
          this.CONSUME(word.any);
          this.CONSUME(word.of);
        },
      },
      { ALT: () => this.CONSUME(word.inside) },
    ]);
    this.SUBRULE(this.sum);
  });

  membership = this.RULE('membership', () => {
    this.OPTION(() => this.CONSUME(word.not));
    this.CONSUME(word.in);
    this.SUBRULE(this.sum);
    this.OPTION1(() => {
      this.CONSUME(sign.range);
      this.SUBRULE1(this.sum);
    });
  });

  presence = this.RULE('presence', () => {
    this.CONSUME(word.has);
    this.SUBRULE(this.fieldName);
    this.MANY(() => {
      this.CONSUME(sign.dot);
      this.SUBRULE1(this.fieldName);
    });
  });

  sum = this.RULE('sum', () => {
    this.SUBRULE(this.product);
    this.MANY(() => {
      this.OR(this.eachToken([sign.plus, sign.minus], 'operator'));
      this.SUBRULE1(this.product);
    });
  });

  product = this.RULE('product', () => {
    this.SUBRULE(this.negation);
    this.MANY(() => {
      this.OR(this.eachToken([sign.star, sign.slash], 'operator'));
      this.SUBRULE1(this.negation);
    });
  });

  negation = this.RULE('negation', () => {
    this.MANY(() => this.CONSUME(sign.minus));
    this.SUBRULE(this.primary);
    this.MANY1(() => {
      this.CONSUME(word.else);
      this.SUBRULE(this.fallback);
    });
  });

  fallback = this.RULE('fallback', () => {
    this.OR({
      DEF: this.eachRule([this.constant, this.path, this.parentheses]),
      ERR_MSG: 'a literal, a path or parentheses',
    });
  });

  // ---- operands

  primary = this.RULE('primary', () => {
    this.OR({
      DEF: [
        { ALT: () => this.SUBRULE(this.literal) },
        { ALT: () => this.SUBRULE(this.parentheses) },
        { ALT: () => this.SUBRULE(this.listLiteral) },
        { ALT: () => this.SUBRULE(this.quantifier) },
        { GATE: () => this.isToday(), ALT: () => this.SUBRULE(this.today) },
        { ALT: () => this.SUBRULE(this.call) },
        { ALT: () => this.SUBRULE(this.path) },
      ],
      ERR_MSG: value,
    });
  });

  parentheses = this.RULE('parentheses', () => {
    this.CONSUME(sign.openParen);
    this.SUBRULE(this.expression);
    this.CONSUME(sign.closeParen);
  });

  listLiteral = this.RULE('listLiteral', () => {
    this.CONSUME(sign.openSquare);
    this.OPTION(() => {
      this.SUBRULE(this.expression);
      this.MANY(() => {
        this.CONSUME(sign.comma);
        this.SUBRULE1(this.expression);
      });
      this.OPTION1(() => this.CONSUME1(sign.comma));
    });
    this.CONSUME(sign.closeSquare);
  });

  quantifier = this.RULE('quantifier', () => {
    this.OR(this.eachToken([word.some, word.every, word.no, word.count, word.sum]));
    this.CONSUME(Word, { ERR_MSG: 'a name for the element' });
    this.CONSUME(word.in);
    this.AT_LEAST_ONE_SEP({ SEP: sign.comma, DEF: () => this.SUBRULE(this.source), ERR_MSG: 'a list' });
    this.CONSUME(sign.openParen);
    this.SUBRULE(this.expression);
    this.CONSUME(sign.closeParen);
  });

  source = this.RULE('source', () => {
    this.OR({
      DEF: [
        { ALT: () => this.SUBRULE(this.listLiteral) },
        { GATE: () => this.isCalledSource(), ALT: () => this.SUBRULE(this.call) },
        { ALT: () => this.SUBRULE(this.path) },
      ],
      ERR_MSG: 'a list',
    });
  });

  today = this.RULE('today', () => {
    this.CONSUME(word.today);
    this.CONSUME(word.in);
    this.CONSUME(Text, { ERR_MSG: 'a time zone in quotes such as `"Europe/Berlin"`' });
  });

  call = this.RULE('call', () => {
    this.CONSUME(Word);
    this.CONSUME(sign.openParen);
    this.OPTION(() => {
      this.SUBRULE(this.expression);
      this.MANY(() => {
        this.CONSUME(sign.comma);
        this.SUBRULE1(this.expression);
      });
    });
    this.CONSUME(sign.closeParen);
  });

  // ---- gates

  /** `today in "Zone"` is a date; `today` may also be a name, as in `today in holidays`. */
  private isToday(): boolean {
    return this.LA(2).tokenType === word.in && this.LA(3).tokenType.CATEGORIES?.includes(Text) === true;
  }

  /**
   * In `some x in xs (c)` the parentheses are the body, in `some x in links(t) (c)` the first ones are arguments. Before a
   * comma both may be meant, as in `links(t), xs (c)` and `min(sum x in xs (c), 1)`: there a blank tells the body.
   */
  private isCalledSource(): boolean {
    if (this.LA(2).tokenType !== sign.openParen) return false;
    let depth = 0;
    for (let ahead = 2; this.LA(ahead).tokenType !== EOF; ahead++) {
      const type = this.LA(ahead).tokenType;
      if (type === sign.openParen) depth++;
      if (type === sign.closeParen) depth--;
      if (depth === 0) {
        const after = this.LA(ahead + 1).tokenType;
        return after === sign.openParen || (after === sign.comma && !this.isBlankAfterWord());
      }
    }
    return false;
  }

  private isBlankAfterWord(): boolean {
    return this.LA(1).endOffset! + 1 < this.LA(2).startOffset;
  }
}
