// Makes the table of the grammar's choices. The parser library computes them; a lookahead strategy notes each
// one as the library asks for it.

import {
  getLookaheadPaths,
  LLkLookaheadStrategy,
  type LookaheadProductionType,
  type LookaheadSequence,
} from 'chevrotain';
import type { Choice, LookaheadTable } from '../src/language/syntax/parse/lookahead.ts';
import { maxLookahead } from '../src/language/syntax/parse/node-parser.ts';
import { PolicyParser } from '../src/language/syntax/parse/parser.ts';
import type { ParserAnalysis } from '../src/language/syntax/parse.ts';

type Asked = Pick<Parameters<typeof getLookaheadPaths>[0], 'rule' | 'maxLookahead'> & {
  readonly prodOccurrence: number;
};

export function lookaheadTable(): LookaheadTable {
  const strategy = new NotingStrategy({ maxLookahead });
  const parser = new PolicyParser({ lookaheadStrategy: strategy }) as unknown as ParserAnalysis;
  return Object.fromEntries(
    Object.entries(parser.fullRuleNameToShort).flatMap(([rule, number]) => {
      const chosen = Object.entries(parser.lookAheadFuncsCache[number] ?? []);
      const own = chosen.map(([key, choose]) => [key, strategy.noted.get(choose)!] as const);
      return own.length === 0 ? [] : [[rule, Object.fromEntries(own)]];
    }),
  );
}

type Strategy = InstanceType<typeof LLkLookaheadStrategy>;
type AskedOf<Method extends 'buildLookaheadForAlternation' | 'buildLookaheadForOptional'> = Parameters<
  Strategy[Method]
>[0];

class NotingStrategy extends LLkLookaheadStrategy {
  readonly noted = new Map<unknown, Choice>();

  override buildLookaheadForAlternation(asked: AskedOf<'buildLookaheadForAlternation'>) {
    const choose = super.buildLookaheadForAlternation(asked);
    const kind = asked.hasPredicates ? 'guarded alternatives' : 'alternatives';
    this.noted.set(choose, { kind, begin: pathsOf(asked, 'Alternation').map(namesOf) });
    return choose;
  }

  override buildLookaheadForOptional(asked: AskedOf<'buildLookaheadForOptional'>) {
    const choose = super.buildLookaheadForOptional(asked);
    // The first path is what the optional part begins with; the second is what follows the part.
    const [inside] = pathsOf(asked, asked.prodType);
    this.noted.set(choose, { kind: 'optional', begin: [namesOf(inside!)] });
    return choose;
  }
}

function pathsOf({ prodOccurrence, ...asked }: Asked, prodType: LookaheadProductionType) {
  return getLookaheadPaths({ ...asked, occurrence: prodOccurrence, prodType });
}

function namesOf(paths: LookaheadSequence): readonly string[] {
  return paths.map((types) => {
    if (types.length === 0) throw new Error('a part that may be left out has to begin with a token');
    return types.map(({ name }) => name).join(' ');
  });
}
