// Tokens → tree, by two parsers. The one without recovery reads what is right, and says nothing of what is not; it is ready at once,
// as it has its choices from a table where the library would find them out anew at each start. The one that recovers reads the rest.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Reader } from './context.ts';
import choices from './lookahead.json' with { type: 'json' };
import { type Choose, choiceBy, type LookaheadTable } from './lookahead.ts';
import { type ParsedTokens, PolicyParser } from './parser.ts';
import type { Token } from './tokens.ts';

/** What the library makes of the rules of a parser, and does not tell in its types. */
export interface Analysed {
  selfAnalysisDone: boolean;
  readonly fullRuleNameToShort: Readonly<Record<string, number>>;
  /** By the number of a rule, then by the key of a choice in it. */
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

/** Made when they are first needed: the one that recovers takes longer to make than a file to read. */
const parsers: { whole?: WholeTextParser; recovering?: PolicyParser } = {};

/** Has a parser read tokens as a file or as an expression. */
export type Read<P extends ParsedTokens> = (parser: PolicyParser, tokens: Token[], reader: Reader) => P;

/** What is read of tokens that the grammar takes; null where it does not take them, of which nothing is reported. */
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
    // The library throws where it would look up what was expected.
    return null;
  }
}

/** What is read of any tokens, with what does not fit. */
export function readRecovering<P extends ParsedTokens>(tokens: Token[], reader: Reader, read: Read<P>): P {
  parsers.recovering ??= new PolicyParser();
  return read(parsers.recovering, tokens, reader);
}
