// Which way a rule goes at the next tokens: at each choice among alternatives, and where a part may be left out or repeated. The table is
// made from the grammar by `npm run grammar`, since finding it out takes longer than reading a file. INVARIANT: each way is the
// one that the parser library finds; `test/syntax/whole-text.test.ts` holds them equal.

import { EOF, type IToken, type TokenType } from 'chevrotain';
import { tokenTypes } from './tokens.ts';

/**
 * By rule, then by the key under which the library looks a choice up. Alternatives in order; each is the runs of one or two token
 * types that it may begin with, by name with a blank between. What may be left out is one alternative.
 */
export type LookaheadTable = Readonly<Record<string, Readonly<Record<string, Choice>>>>;

export interface Choice {
  readonly kind: 'alternatives' | 'guarded alternatives' | 'optional';
  readonly begin: readonly (readonly string[])[];
}

/** What a choice looks at. */
interface Ahead {
  LA(distance: number): IToken;
}

interface Alternative {
  /** Says whether it may be taken at all; what it needs is bound to it. */
  readonly GATE?: () => boolean;
}

/** The number of an alternative, or whether to go on, for a parser as `this`. */
export type Choose = (this: Ahead, alternatives?: readonly Alternative[]) => number | boolean | undefined;

export function choiceBy({ kind, begin }: Choice): Choose {
  switch (kind) {
    case 'optional': {
      const find = laterMade(() => [begin[0]!]);
      return function () {
        return find(this) === 0;
      };
    }
    case 'alternatives': {
      const find = laterMade(() => begin);
      return function () {
        return find(this);
      };
    }
    case 'guarded alternatives': {
      const each = begin.map((runs) => laterMade(() => [runs]));
      return function (alternatives = []) {
        const found = alternatives.findIndex(
          ({ GATE }, index) => GATE?.call(this) !== false && each[index]!(this) === 0,
        );
        return found < 0 ? undefined : found;
      };
    }
  }
}

/** By the number of a token type: the alternative; or by the type behind it, and what it is for all others. */
type Found = number | { readonly behind: number[]; other: number | undefined } | undefined;

/** Most choices are never asked for, so each is made when it first is. */
function laterMade(begin: () => readonly (readonly string[])[]): (ahead: Ahead) => number | undefined {
  let table: Found[] | undefined;
  return (ahead) => {
    table ??= tableOf(begin());
    const found = table[ahead.LA(1).tokenTypeIdx];
    return typeof found === 'object' ? (found.behind[ahead.LA(2).tokenTypeIdx] ?? found.other) : found;
  };
}

/** The first alternative that fits is taken, so what is in the table stays. */
function tableOf(alternatives: readonly (readonly string[])[]): Found[] {
  const table: Found[] = [];
  for (const [alternative, runs] of alternatives.entries()) {
    for (const run of runs) {
      const [first, second] = run.split(' ');
      for (const type of typesOf(first!)) {
        if (second === undefined) addAlone(table, type, alternative);
        else addBehind(table, type, typesOf(second), alternative);
      }
    }
  }
  return table;
}

function addAlone(table: Found[], type: number, alternative: number): void {
  const known = table[type];
  if (typeof known === 'object') known.other ??= alternative;
  else table[type] ??= alternative;
}

function addBehind(table: Found[], type: number, seconds: readonly number[], alternative: number): void {
  table[type] ??= { behind: [], other: undefined };
  const known = table[type];
  if (typeof known !== 'object' || known.other !== undefined) return;
  for (const second of seconds) known.behind[second] ??= alternative;
}

let typesByName: ReadonlyMap<string, TokenType> | undefined;

/** The numbers of a token type and of those that belong to it. */
function typesOf(name: string): readonly number[] {
  typesByName ??= new Map([...tokenTypes, EOF].map((type) => [type.name, type]));
  const type = typesByName.get(name);
  if (type === undefined) throw new Error(`no token type is called ${name}`);
  return [type.tokenTypeIdx!, ...(type.categoryMatches ?? [])];
}
