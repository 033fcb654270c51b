// The parser of all rules: turns tokens into a tree and the errors in it. The message of an error is a noun
// phrase for what was expected; the sentence around it is made where errors become diagnostics.
//
// INVARIANT: a parser that recovers never throws, whatever the tokens.

import { EOF, type IParserConfig, type IRecognitionException, type TokenType } from 'chevrotain';
import { type Reader, syntaxError, tokenSpan } from './context.ts';
import { DeclarationParser } from './declaration-rules.ts';
import { emptySource } from './node-parser.ts';
import type { WaitingTemplate } from './policy-rules.ts';
import { declaringWords, effectWords, keyword, retype, symbol, TextListToken, type Token } from './tokens.ts';

/** Largest depth of brackets and prefix operators inside one another. */
const nestingMax = 64;

/** The tokens with all regions replaced that are nested too deep; the same array if there are none. */
function flatten(tokens: Token[], reader: Reader): Token[] {
  let rewritten: Token[] | null = null;
  // What each open bracket adds to the depth: one for itself and one for each prefix operator right before it.
  // With it, how many `if` are open before the bracket.
  const open: { readonly added: number; readonly ifs: number }[] = [];
  let depth = 0;
  let prefixes = 0;
  let ifs = 0;
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index]!;
    const step = steps[token.tokenTypeIdx];
    if (step === 'end' && !isFieldName(tokens, index)) ifs = 0;
    const added = step === undefined || step === 'close' || step === 'end' ? 0 : prefixes + 1;
    if (added > 0 && depth + ifs + added > nestingMax) {
      const bracket = step === 'list' ? { ...token, image: '[' } : token;
      if (depth + ifs + added === nestingMax + 1) report(bracket, reader);
      rewritten ??= tokens.slice(0, index);
      prefixes = step === 'prefix' ? added : 0;
      if (step === 'prefix') continue;
      rewritten.push(retype(bracket, keyword.null, 'null'));
      index = step === 'if' ? endOfExpression(tokens, index) : closingIndex(tokens, index);
      continue;
    }
    if (step === 'if') ifs += added;
    if (step === 'open') {
      open.push({ added: added + ifs, ifs });
      depth += added + ifs;
      ifs = 0;
    }
    if (step === 'close') {
      const closed = open.pop();
      depth -= closed?.added ?? 0;
      ifs = closed?.ifs ?? 0;
    }
    prefixes = step === 'prefix' ? added : 0;
    rewritten?.push(token);
  }
  return rewritten ?? tokens;
}

/** What a token does to the depth, by the number of its token type; a list is nested by itself. */
const steps: ('open' | 'close' | 'prefix' | 'list' | 'if' | 'end' | undefined)[] = [];
steps[TextListToken.tokenTypeIdx!] = 'list';
for (const type of [symbol.openParen, symbol.openSquare, symbol.openCurly])
  steps[type.tokenTypeIdx!] = 'open';
for (const type of [symbol.closeParen, symbol.closeSquare, symbol.closeCurly])
  steps[type.tokenTypeIdx!] = 'close';
for (const type of [keyword.not, symbol.minus, keyword.secret, keyword.signed])
  steps[type.tokenTypeIdx!] = 'prefix';
steps[keyword.if.tokenTypeIdx!] = 'if';
// What begins a clause or a declaration ends the expression before it, with every `if` that is open in it.
for (const type of [
  symbol.comma,
  keyword.when,
  keyword.unless,
  keyword.because,
  ...[...effectWords, ...declaringWords].map((one) => keyword[one]),
])
  steps[type.tokenTypeIdx!] = 'end';

/** Whether a word is the name of a field, as in `payload.type` and `payload has list`. */
function isFieldName(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1]?.tokenType;
  return before === symbol.dot || before === keyword.has;
}

/** Index of the last token of the expression that begins at `start`. */
function endOfExpression(tokens: readonly Token[], start: number): number {
  let depth = 0;
  for (let index = start; index < tokens.length; index++) {
    const step = steps[tokens[index]!.tokenTypeIdx];
    const isEnd = step === 'close' || (step === 'end' && !isFieldName(tokens, index));
    if (depth === 0 && isEnd) return index - 1;
    if (step === 'open') depth++;
    if (step === 'close') depth--;
  }
  return tokens.length - 1;
}

/** Index of the bracket that closes the one at `start`; the last index if no bracket does. */
function closingIndex(tokens: readonly Token[], start: number): number {
  let depth = 0;
  for (let index = start; index < tokens.length; index++) {
    const step = steps[tokens[index]!.tokenTypeIdx];
    if (step === 'open') depth++;
    if (step === 'close') depth--;
    if (depth === 0) return index;
  }
  return tokens.length - 1;
}

function report(token: Token, reader: Reader): void {
  const message = `\`${token.image}\` is nested more than ${nestingMax} deep`;
  const help = 'name inner parts with `let` or `type`';
  reader.report(syntaxError('nesting-too-deep', tokenSpan(token, reader), message, help));
}

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
  const phrase = expected === symbol.closeCurly || expected === EOF ? repeated[ruleName] : undefined;
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
