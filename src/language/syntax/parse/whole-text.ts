// Turns tokens into a tree, by two parsers. The parser without recovery reads correct text and reports
// nothing about any other. It is ready at once, since it takes its choices from a table, which the parser
// library would otherwise compute at each start. The parser that recovers reads the rest.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Reader } from './context.ts';
import choices from './lookahead.json' with { type: 'json' };
import { type Choose, choiceBy, type LookaheadTable } from './lookahead.ts';
import { type ParsedTokens, PolicyParser } from './parser.ts';
import type { Token } from './tokens.ts';

/** What the parser library derives from the rules of a parser; its public types leave this out. */
export interface Analysed {
  selfAnalysisDone: boolean;
  readonly fullRuleNameToShort: Readonly<Record<string, number>>;
  /** Choices by the number of a rule, then by the key of a choice in that rule. */
  readonly lookAheadFuncsCache: Choose[][];
}

export class WholeTextParser extends PolicyParser {
  constructor() {
    super({ recoveryEnabled: false });
  }

  protected override performSelfAnalysis(): void {
    const analysed = this as unknown as Analysed;
    analysed.selfAnalysisDone = true;
    for (const [rule, own] of Object.entries(choices as unknown as LookaheadTable)) {
      const byKey: Choose[] = [];
      for (const [key, choice] of Object.entries(own)) byKey[Number(key)] = choiceBy(choice);
      analysed.lookAheadFuncsCache[analysed.fullRuleNameToShort[rule]!] = byKey;
    }
  }
}

/** Parsers, made at first use: making the one that recovers takes longer than reading a file. */
const parsers: { whole?: WholeTextParser; recovering?: PolicyParser } = {};

/** Has a parser read tokens as a file or as an expression. */
export type Read<P extends ParsedTokens> = (parser: PolicyParser, tokens: Token[], reader: Reader) => P;

/**
 * Reads tokens that the grammar takes. Returns null, and reports nothing, if the grammar does not take them.
 */
export function readWhole<P extends ParsedTokens>(tokens: Token[], reader: Reader, read: Read<P>): P | null {
  const reported: Diagnostic[] = [];
  const noting = { ...reader, report: (diagnostic: Diagnostic) => void reported.push(diagnostic) };
  parsers.whole ??= new WholeTextParser();
  try {
    const parsed = read(parsers.whole, tokens, noting);
    if (parsed.errors.length > 0) return null;
    for (const diagnostic of reported) reader.report(diagnostic);
    return parsed;
  } catch {
    // The parser library throws when it tries to look up what was expected.
    return null;
  }
}

/** Reads any tokens; tokens that do not fit become errors. */
export function readRecovering<P extends ParsedTokens>(tokens: Token[], reader: Reader, read: Read<P>): P {
  parsers.recovering ??= new PolicyParser();
  return read(parsers.recovering, tokens, reader);
}
