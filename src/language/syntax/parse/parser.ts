// The parser of all rules: turns tokens into a tree and the errors in it. The message of an error is a noun
// phrase for what was expected; the sentence around it is made where errors become diagnostics.
//
// INVARIANT: a parser that recovers never throws, whatever the tokens.

import { EOF, type IParserConfig, type IRecognitionException, type TokenType } from 'chevrotain';
import type { Reader } from './context.ts';
import { DeclarationParser } from './declaration-rules.ts';
import { flatten } from './nesting.ts';
import { emptySource } from './node-parser.ts';
import type { WaitingTemplate } from './policy-rules.ts';
import { sign, type Token } from './tokens.ts';

/** Where a rule was broken, inside which rules, and what was expected. */
export interface ParserError {
  /** What was expected: a noun phrase such as `a name`. */
  readonly expected: string;
  /** The token that does not fit; null at the end of the text. */
  readonly found: Token | null;
  /** Names of the rules being read, outermost first. */
  readonly rules: readonly string[];
}

/** What is read from tokens, beside the file or the expression. */
export interface ParsedTokens {
  readonly errors: readonly ParserError[];
  /** The tokens that were read; a region that is nested too deep is a single `null`. */
  readonly tokens: readonly Token[];
}

/**
 * What may follow in the places where a rule repeats, by rule. That is more helpful than the bracket that
 * would end the rule.
 */
export const repeated: Readonly<Record<string, string>> = {
  file: 'a declaration',
  recordBody: 'a field or `}`',
  policy: 'a clause, a rule or `}`',
  guarantee: 'a claim or `}`',
};

function expectation(expected: TokenType, ruleName: string): string {
  const phrase = expected === sign.closeCurly || expected === EOF ? repeated[ruleName] : undefined;
  return phrase ?? expected.LABEL ?? 'the end of the expression';
}

export class PolicyParser extends DeclarationParser {
  constructor(config: IParserConfig = {}) {
    const errorMessageProvider: IParserConfig['errorMessageProvider'] = {
      buildMismatchTokenMessage: ({ expected, ruleName }) => expectation(expected, ruleName),
      buildNotAllInputParsedMessage: ({ ruleName }) => repeated[ruleName] ?? 'the end of the expression',
      buildNoViableAltMessage: ({ customUserDescription }) => customUserDescription ?? 'a value',
      buildEarlyExitMessage: ({ customUserDescription }) => customUserDescription ?? 'a value',
    };
    super({ recoveryEnabled: true, skipValidations: true, errorMessageProvider, ...config });
    this.performSelfAnalysis();
  }

  /**
   * Reads the declarations of a file. The placeholders of templates are read later, into the `parts` that
   * wait for them.
   */
  readFile(tokens: Token[], reader: Reader, docBefore: (offset: number) => string | null) {
    this.docBefore = docBefore;
    const templates: WaitingTemplate[] = [];
    this.templates = templates;
    return this.read(tokens, reader, () => ({ declarations: this.file(), templates }));
  }

  /** Reads one expression that spans all tokens; `start` is its offset when there are no tokens. */
  readExpression(tokens: Token[], reader: Reader, start: number) {
    this.start = start;
    return this.read(tokens, reader, () => {
      return { expression: this.notTooDeep(this.expression() ?? this.missing(0), 0) };
    });
  }

  private read<Made>(written: Token[], reader: Reader, make: () => Made): Made & ParsedTokens {
    const tokens = flatten(written, reader);
    this.source = reader.source;
    this.report = reader.report;
    this.textMode = 'plain';
    this.taken = new Array(tokens.length);
    this.count = 0;
    this.input = tokens;
    try {
      return { ...make(), tokens, errors: this.errors.map(parserError) };
    } finally {
      // Nothing of one text is kept until the next is read.
      this.input = [];
      this.taken = [];
      this.source = emptySource;
    }
  }
}

function parserError({ token, message, context }: IRecognitionException): ParserError {
  return { expected: message, found: token.tokenType === EOF ? null : token, rules: context.ruleStack };
}
