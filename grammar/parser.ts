// Tokens → concrete tree: the rules of declarations here, of policies, shapes and expressions in the classes below it,
// and no action. Each rule method is one line of the grammar; `generated/grammar.ebnf` is made from them. The message of
// an error is a noun phrase that says what was expected; the sentence around it is made where errors become diagnostics.
// Recovery is on: a broken declaration, rule or clause leaves the others whole. INVARIANT: never throws for any sequence
// of tokens nested no deeper than the caller allows.

import type { IRecognitionException, TokenType } from 'chevrotain';
import { EOF } from 'chevrotain';
import type { ExpressionCstNode, FileCstNode } from './generated/cst.ts';
import { PolicyRuleParser } from './policy-rules.ts';
import { Currency, literal, sign, Text, type Token, tokenTypes, Weekday, Word, word } from './tokens.ts';

/** What stands between the tokens and the tree: where a rule was broken, inside which rules, and what was expected. */
export interface ParserError {
  /** A noun phrase such as `a name`. */
  readonly expected: string;
  /** The token that does not fit; null at the end of the text. */
  readonly found: Token | null;
  /** Names of the rules being read, outermost first. */
  readonly rules: readonly string[];
}

export interface Parsed<Tree> {
  readonly tree: Tree;
  readonly errors: readonly ParserError[];
}

/** The concrete tree of a whole file. */
export function parseFile(tokens: readonly Token[]): Parsed<FileCstNode> {
  parser.input = [...tokens];
  const tree = parser.file() as FileCstNode;
  return { tree, errors: parser.errors.map(parserError) };
}

/** The concrete tree of one expression that spans all tokens. */
export function parseExpression(tokens: readonly Token[]): Parsed<ExpressionCstNode> {
  parser.input = [...tokens];
  const tree = parser.expression() as ExpressionCstNode;
  return { tree, errors: parser.errors.map(parserError) };
}

/** What may follow in the places where a rule repeats, by rule: better than naming the bracket that would end it. */
const repeated: Readonly<Record<string, string>> = {
  file: 'a declaration',
  recordBody: 'a field or `}`',
  policy: 'a clause, a rule or `}`',
  guarantee: 'a claim or `}`',
};

class PolicyParser extends PolicyRuleParser {
  constructor() {
    super(tokenTypes, {
      recoveryEnabled: true,
      maxLookahead: 3,
      nodeLocationTracking: 'onlyOffset',
      errorMessageProvider: {
        buildMismatchTokenMessage: ({ expected, ruleName }) => expectation(expected, ruleName),
        buildNotAllInputParsedMessage: ({ ruleName }) => repeated[ruleName] ?? 'the end of the expression',
        buildNoViableAltMessage: ({ customUserDescription }) => customUserDescription ?? 'a value',
        buildEarlyExitMessage: ({ customUserDescription }) => customUserDescription ?? 'a value',
      },
    });
    this.performSelfAnalysis();
  }

  file = this.RULE('file', () => {
    this.MANY({ GATE: () => !this.isGivenUp(), DEF: () => this.SUBRULE(this.declaration) });
  });

  declaration = this.RULE('declaration', () => {
    this.OR(
      this.eachRule([
        this.action,
        this.typeDeclaration,
        this.group,
        this.approvers,
        this.list,
        this.hours,
        this.let,
        this.meter,
        this.policy,
        this.guarantee,
      ]),
    );
  });

  action = this.RULE('action', () => {
    this.CONSUME(word.action);
    this.AT_LEAST_ONE_SEP({ SEP: sign.comma, DEF: () => this.SUBRULE(this.key), ERR_MSG: 'an action key' });
    this.OPTION(() => {
      this.CONSUME(word.in);
      this.SUBRULE(this.names);
    });
    this.SUBRULE(this.recordBody);
  });

  key = this.RULE('key', () => {
    this.OR({
      DEF: [
        { ALT: () => this.CONSUME(Text) },
        {
          ALT: () => {
            this.CONSUME(Word, { LABEL: 'segment' });
            this.MANY(() => {
              this.CONSUME(sign.dot);
              this.CONSUME1(Word, { LABEL: 'segment' });
            });
          },
        },
      ],
      ERR_MSG: 'an action key such as `payment.create`',
    });
  });

  names = this.RULE('names', () => {
    this.AT_LEAST_ONE_SEP({ SEP: sign.comma, DEF: () => this.CONSUME(Word), ERR_MSG: 'a name' });
  });

  typeDeclaration = this.RULE('typeDeclaration', () => {
    this.CONSUME(word.type);
    this.CONSUME(Word, { ERR_MSG: 'a name for the type' });
    this.CONSUME(sign.assign);
    this.SUBRULE(this.type);
  });

  group = this.RULE('group', () => {
    this.CONSUME(word.group);
    this.CONSUME(Word, { ERR_MSG: 'a name for the group' });
  });

  approvers = this.RULE('approvers', () => {
    this.CONSUME(word.approvers);
    this.CONSUME(Word, { ERR_MSG: 'a name for the approvers' });
    this.CONSUME(Text, { ERR_MSG: 'a title in quotes' });
  });

  list = this.RULE('list', () => {
    this.CONSUME(word.list);
    this.CONSUME(Word, { ERR_MSG: 'a name for the list' });
    this.OPTION(() => {
      this.CONSUME(sign.colon);
      this.SUBRULE(this.type);
    });
    this.OPTION1(() => {
      this.CONSUME(word.ignoring);
      this.CONSUME(word.case);
    });
    this.OR({
      DEF: [
        {
          ALT: () => {
            this.CONSUME(sign.assign);
            this.OR1({
              DEF: this.eachRule([this.listEntries, this.listJoin]),
              ERR_MSG: '`[` or the name of a list',
            });
          },
        },
        {
          ALT: () => {
            this.CONSUME(word.from);
            this.CONSUME(Text, { ERR_MSG: 'the path of a file in quotes' });
          },
        },
      ],
      ERR_MSG: '`=` or `from`',
    });
    this.OPTION2(() => {
      this.CONSUME(word.may);
      this.CONSUME(word.be);
      this.CONSUME(word.empty);
    });
  });

  listEntries = this.RULE('listEntries', () => {
    this.CONSUME(sign.openSquare);
    this.OPTION(() => {
      this.SUBRULE(this.constant);
      this.MANY(() => {
        this.CONSUME(sign.comma);
        this.SUBRULE1(this.constant);
      });
      this.OPTION1(() => this.CONSUME1(sign.comma));
    });
    this.CONSUME(sign.closeSquare);
  });

  listJoin = this.RULE('listJoin', () => {
    this.CONSUME(Word);
    this.MANY(() => {
      this.CONSUME(sign.plus);
      this.CONSUME1(Word, { ERR_MSG: 'the name of a list' });
    });
  });

  hours = this.RULE('hours', () => {
    this.CONSUME(word.hours);
    this.CONSUME(Word, { ERR_MSG: 'a name for the hours' });
    this.CONSUME(sign.assign);
    this.AT_LEAST_ONE_SEP({
      SEP: sign.comma,
      DEF: () => this.SUBRULE(this.hoursSpan),
      ERR_MSG: 'hours such as `mon-fri 09:00-17:00`',
    });
    this.CONSUME(word.in);
    this.CONSUME(Text, { ERR_MSG: 'a time zone in quotes such as `"Europe/Berlin"`' });
    this.OPTION(() => {
      this.CONSUME(word.except);
      this.CONSUME1(Word, { LABEL: 'except', ERR_MSG: 'the name of a list of dates' });
    });
  });

  hoursSpan = this.RULE('hoursSpan', () => {
    this.OR({
      DEF: [
        {
          ALT: () => {
            this.CONSUME(Weekday);
            this.OPTION(() => {
              this.CONSUME(sign.minus);
              this.CONSUME1(Weekday);
            });
            this.CONSUME(literal.clock);
            this.CONSUME1(sign.minus);
            this.CONSUME1(literal.clock);
          },
        },
        {
          ALT: () => {
            this.CONSUME(literal.date);
            this.OPTION1(() => {
              this.CONSUME(sign.range);
              this.CONSUME1(literal.date);
            });
          },
        },
      ],
      ERR_MSG: 'hours such as `mon-fri 09:00-17:00`',
    });
  });

  let = this.RULE('let', () => {
    this.CONSUME(word.let);
    this.CONSUME(Word, { ERR_MSG: 'a name for the value' });
    this.CONSUME(sign.assign);
    this.SUBRULE(this.expression);
  });

  meter = this.RULE('meter', () => {
    this.CONSUME(word.meter);
    this.CONSUME(Word, { ERR_MSG: 'a name for the meter' });
    this.CONSUME(sign.assign);
    this.SUBRULE(this.aggregate);
    this.CONSUME(word.of);
    this.SUBRULE(this.patterns);
    this.OPTION(() => {
      this.CONSUME(word.when);
      this.SUBRULE(this.expression);
    });
    this.OPTION1(() => {
      this.CONSUME(word.per);
      this.AT_LEAST_ONE_SEP({
        SEP: sign.comma,
        DEF: () => this.SUBRULE(this.path),
        ERR_MSG: '`agent`, `owner`, `session` or a payload field',
      });
    });
    this.CONSUME(word.over);
    this.CONSUME(literal.duration);
  });

  aggregate = this.RULE('aggregate', () => {
    this.OR({
      DEF: [
        {
          ALT: () => {
            this.CONSUME(word.sum);
            this.CONSUME(sign.openParen);
            this.SUBRULE(this.expression);
            this.CONSUME(sign.closeParen);
            this.OPTION(() => {
              this.CONSUME(word.in);
              this.CONSUME(Currency);
            });
          },
        },
        {
          ALT: () => {
            this.CONSUME(word.count);
            this.CONSUME1(sign.openParen);
            this.CONSUME1(sign.closeParen);
          },
        },
        {
          ALT: () => {
            this.CONSUME(word.distinct);
            this.CONSUME2(sign.openParen);
            this.SUBRULE1(this.expression);
            this.CONSUME2(sign.closeParen);
          },
        },
      ],
      ERR_MSG: '`sum(...)`, `count()` or `distinct(...)`',
    });
  });
}

function expectation(expected: TokenType, ruleName: string): string {
  const phrase = expected === sign.closeCurly || expected === EOF ? repeated[ruleName] : undefined;
  return phrase ?? expected.LABEL ?? 'the end of the expression';
}

function parserError(error: IRecognitionException): ParserError {
  const found = error.token.tokenType === EOF ? null : error.token;
  return { expected: error.message, found, rules: error.context.ruleStack };
}

const parser = new PolicyParser();

/** The grammar as data, for what is generated from it. */
export function grammarRules() {
  return { rules: parser.getGAstProductions(), serialized: parser.getSerializedGastProductions() };
}
