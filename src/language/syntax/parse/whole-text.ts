// Tokens → tree, in one go where nothing is wrong with them. A parser without recovery reads first: it is ready at once, as it has
// its choices from a table where the library would find them out anew at each start. Where it meets an error it says nothing of the
// text, and the parser that recovers, made when it is first needed, reads the text from its beginning.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Reader } from './context.ts';
import choices from './lookahead.json' with { type: 'json' };
import { type Choose, choiceBy, type LookaheadTable } from './lookahead.ts';
import { type ParserError, PolicyParser } from './parser.ts';
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

/** The declarations of a file; templates are read later, into the parts that wait for them. */
export function readFile(tokens: Token[], reader: Reader, docBefore: (offset: number) => string | null) {
  return inOneGoOrRecovering(reader, (parser, into) => parser.readFile(tokens, into, docBefore));
}

/** One expression that spans all tokens; `start` is where it stands when there are none. */
export function readExpression(tokens: Token[], reader: Reader, start: number) {
  return inOneGoOrRecovering(reader, (parser, into) => parser.readExpression(tokens, into, start));
}

interface Parsed {
  readonly errors: readonly ParserError[];
}

function inOneGoOrRecovering<P extends Parsed>(
  reader: Reader,
  read: (parser: PolicyParser, reader: Reader) => P,
): P {
  const reported: Diagnostic[] = [];
  const noting = { ...reader, report: (diagnostic: Diagnostic) => void reported.push(diagnostic) };
  parsers.whole ??= new WholeTextParser();
  const { whole } = parsers;
  const parsed = inOneGo(() => read(whole, noting));
  if (parsed === null) {
    parsers.recovering ??= new PolicyParser();
    return read(parsers.recovering, reader);
  }
  for (const diagnostic of reported) reader.report(diagnostic);
  return parsed;
}

function inOneGo<P extends Parsed>(read: () => P): P | null {
  try {
    const parsed = read();
    return parsed.errors.length === 0 ? parsed : null;
  } catch {
    // The library throws where it would look up what was expected.
    return null;
  }
}
