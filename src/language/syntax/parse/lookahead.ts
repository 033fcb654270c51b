// Chooses the alternative of a grammar rule by the next tokens, and whether an optional or repeated part
// follows. The table of choices is made from the grammar by `npm run grammar`, since computing it takes
// longer than reading a file. INVARIANT: each decision is the one that the parser library makes;
// `test/language/syntax/whole-text.test.ts` compares them.

import { EOF, type IToken, type TokenType } from 'chevrotain';
import { tokenTypes } from './tokens.ts';

/**
 * Choices by rule, then by the key under which the parser library looks a choice up. Each alternative is a
 * list of the runs of one or two token types that it may begin with, by name with a blank between. A part
 * that may be left out is one alternative.
 */
export type LookaheadTable = Readonly<Record<string, Readonly<Record<string, Choice>>>>;

export interface Choice {
  readonly kind: 'alternatives' | 'guarded alternatives' | 'optional';
  readonly begin: readonly (readonly string[])[];
}

/** The tokens that a choice looks at; `LA(1)` is the next one. */
interface TokenStream {
  LA(distance: number): IToken;
}

interface Alternative {
  /** Whether the alternative may be taken at all. Anything that the function needs is bound to it. */
  readonly GATE?: () => boolean;
}

/**
 * Called with a parser as `this`. Returns the number of the alternative to take (undefined if none fits), or
 * whether to read an optional part.
 */
export type Choose = (
  this: TokenStream,
  alternatives?: readonly Alternative[],
) => number | boolean | undefined;

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
        const choice = alternatives.findIndex(
          ({ GATE }, index) => GATE?.call(this) !== false && each[index]!(this) === 0,
        );
        return choice < 0 ? undefined : choice;
      };
    }
  }
}

/**
 * The alternative for one token type. If the second token matters, alternatives by the type of that token,
 * and `other` for all other types.
 */
type ChoiceTable = number | { readonly behind: number[]; other: number | undefined } | undefined;

/**
 * Finds the alternative for the next tokens. The table is made at first use, since most choices are never
 * needed.
 */
function laterMade(begin: () => readonly (readonly string[])[]): (ahead: TokenStream) => number | undefined {
  let table: ChoiceTable[] | undefined;
  return (ahead) => {
    table ??= tableOf(begin());
    const choice = table[ahead.LA(1).tokenTypeIdx];
    return typeof choice === 'object' ? (choice.behind[ahead.LA(2).tokenTypeIdx] ?? choice.other) : choice;
  };
}

/**
 * A table of alternatives by token type. The first alternative that fits is taken, so an entry that is
 * already in the table stays.
 */
function tableOf(alternatives: readonly (readonly string[])[]): ChoiceTable[] {
  const table: ChoiceTable[] = [];
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

function addAlone(table: ChoiceTable[], type: number, alternative: number): void {
  const entry = table[type];
  if (typeof entry === 'object') entry.other ??= alternative;
  else table[type] ??= alternative;
}

function addBehind(
  table: ChoiceTable[],
  type: number,
  seconds: readonly number[],
  alternative: number,
): void {
  table[type] ??= { behind: [], other: undefined };
  const entry = table[type];
  if (typeof entry !== 'object' || entry.other !== undefined) return;
  for (const second of seconds) entry.behind[second] ??= alternative;
}

let typesByName: ReadonlyMap<string, TokenType> | undefined;

/**
 * The numbers of the token type of a name and of all types in its category. Throws if no type has the name.
 */
function typesOf(name: string): readonly number[] {
  typesByName ??= new Map([...tokenTypes, EOF].map((type) => [type.name, type]));
  const type = typesByName.get(name);
  if (type === undefined) throw new Error(`no token type is called ${name}`);
  return [type.tokenTypeIdx!, ...(type.categoryMatches ?? [])];
}
