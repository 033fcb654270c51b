// The rules of policies and guarantees: patterns, metadata, rules with their clauses, claims.

import { ShapeParser } from './shape-rules.ts';
import { isAnyWord, literal, sign, Text, type Token, Word, word } from './tokens.ts';

export abstract class PolicyRuleParser extends ShapeParser {
  patterns = this.RULE('patterns', () => {
    this.AT_LEAST_ONE_SEP({
      SEP: sign.comma,
      DEF: () => this.SUBRULE(this.pattern),
      ERR_MSG: 'a pattern such as `payment.create`, `payment.*` or `*`',
    });
  });

  pattern = this.RULE('pattern', () => {
    this.OR({
      DEF: [
        { ALT: () => this.CONSUME(Text) },
        {
          ALT: () => {
            this.SUBRULE(this.segment);
            this.MANY(() => {
              this.CONSUME(sign.dot);
              this.SUBRULE1(this.segment);
            });
          },
        },
      ],
      ERR_MSG: 'a pattern such as `payment.create`, `payment.*` or `*`',
    });
  });

  segment = this.RULE('segment', () => {
    this.OR({
      DEF: this.eachToken([sign.star, Word]),
      ERR_MSG: 'a name or `*`',
    });
  });

  policy = this.RULE('policy', () => {
    this.OPTION(() => this.CONSUME(word.shadow));
    this.CONSUME(word.policy);
    this.CONSUME(Word, { ERR_MSG: 'a name for the policy' });
    this.CONSUME(word.on);
    this.SUBRULE(this.patterns);
    this.OPTION1(() => {
      this.CONSUME(word.except);
      this.SUBRULE1(this.patterns, { LABEL: 'except' });
    });
    this.OPTION2(() => {
      this.CONSUME(word.when);
      this.SUBRULE(this.expression);
    });
    this.CONSUME(sign.openCurly);
    this.MANY({
      GATE: () => this.isRuleOrMetadata() && !this.isGivenUp(),
      DEF: () => this.OR(this.eachRule([this.metadata, this.rule])),
    });
    this.CONSUME(sign.closeCurly);
  });

  metadata = this.RULE('metadata', () => {
    this.OR(this.eachToken([word.owner, word.tags, word.link]));
    this.AT_LEAST_ONE_SEP({ SEP: sign.comma, DEF: () => this.CONSUME(Text), ERR_MSG: 'a text in quotes' });
  });

  rule = this.RULE('rule', () => {
    this.OPTION(() => this.CONSUME(word.shadow));
    this.OR({
      DEF: this.eachToken([word.allow, word.deny, word.escalate, word.reauth, word.risk]),
      ERR_MSG: '`allow`, `deny`, `escalate`, `reauth` or `risk`',
    });
    this.CONSUME(Word, { ERR_MSG: 'a name for the rule' });
    // Without the gate the `risk` of a following rule would be taken for a clause of this one.
    this.MANY({
      GATE: () => this.LA(1).tokenType !== word.risk || isSign(this.LA(2)),
      DEF: () => this.SUBRULE(this.clause),
    });
  });

  clause = this.RULE('clause', () => {
    this.OR({
      DEF: this.eachRule([
        this.forClause,
        this.afterClause,
        this.toClause,
        this.needsClause,
        this.withinClause,
        this.whenClause,
        this.unlessClause,
        this.pointsClause,
        this.becauseClause,
      ]),
      ERR_MSG: 'a clause',
    });
  });

  forClause = this.RULE('forClause', () => {
    this.CONSUME(word.for);
    this.CONSUME(literal.duration);
  });

  afterClause = this.RULE('afterClause', () => {
    this.CONSUME(word.after);
    this.OR({
      DEF: [
        {
          ALT: () => {
            this.CONSUME(word.approval);
            this.CONSUME(word.by);
            this.CONSUME(Word, { ERR_MSG: 'the name of approvers' });
          },
        },
        { ALT: () => this.CONSUME(word.reauth) },
      ],
      ERR_MSG: '`approval by` or `reauth`',
    });
  });

  toClause = this.RULE('toClause', () => {
    this.CONSUME(word.to);
    this.CONSUME(Word, { ERR_MSG: 'the name of approvers' });
  });

  needsClause = this.RULE('needsClause', () => {
    this.CONSUME(word.needs);
    this.CONSUME(literal.number, { ERR_MSG: 'a number of people' });
  });

  withinClause = this.RULE('withinClause', () => {
    this.CONSUME(word.within);
    this.CONSUME(literal.duration);
  });

  whenClause = this.RULE('whenClause', () => {
    this.CONSUME(word.when);
    this.SUBRULE(this.expression);
  });

  unlessClause = this.RULE('unlessClause', () => {
    this.CONSUME(word.unless);
    this.SUBRULE(this.expression);
  });

  pointsClause = this.RULE('pointsClause', () => {
    this.OPTION(() => this.CONSUME(word.risk));
    this.OR({
      DEF: this.eachToken([sign.plus, sign.minus], 'sign'),
      ERR_MSG: '`+` or `-`',
    });
    this.CONSUME(literal.number, { ERR_MSG: 'a number of risk points' });
  });

  becauseClause = this.RULE('becauseClause', () => {
    this.CONSUME(word.because);
    this.CONSUME(Text, { ERR_MSG: 'a reason in quotes' });
  });

  guarantee = this.RULE('guarantee', () => {
    this.CONSUME(word.guarantee);
    this.CONSUME(Word, { ERR_MSG: 'a name for the guarantee' });
    this.CONSUME(word.on);
    this.SUBRULE(this.patterns);
    this.CONSUME(sign.openCurly);
    this.MANY(() => this.SUBRULE(this.claim));
    this.CONSUME(sign.closeCurly);
  });

  claim = this.RULE('claim', () => {
    this.OR(this.eachToken([word.never, word.always]));
    this.OR1({
      DEF: this.eachToken([word.allow, word.deny, word.escalate, word.reauth]),
      ERR_MSG: '`allow`, `deny`, `escalate` or `reauth`',
    });
    this.OPTION(() => this.CONSUME(word.unapproved));
    this.OPTION1(() => {
      this.CONSUME(word.when);
      this.SUBRULE(this.expression);
    });
  });

  /** While tokens are skipped, the `risk` of a condition must not be taken for the beginning of a rule. */
  private isRuleOrMetadata(): boolean {
    return this.LA(1).tokenType !== word.risk || isAnyWord(this.LA(2));
  }
}

function isSign(token: Token): boolean {
  return token.tokenType === sign.plus || token.tokenType === sign.minus;
}
