// The texts that conditions name. Those that no condition tells apart share a cell, so that a list of a hundred thousand
// entries is a few cells, unless something else (a function of the leaf, a text that it is compared with) tells them apart.

import type { Value } from '../../language/model/value.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import { fold } from '../../language/value/text.ts';
import type { Faults } from './faults.ts';
import type { Leaf, LeafAtom } from './leaf.ts';
import { foldedKeys, plainKeys } from './text-keys.ts';

export interface TextCells {
  /** One text a cell, sorted. */
  readonly cells: readonly string[];
  readonly places: TextPlaces;
}

/** The cell of each text that is named, as a map would say it. */
export type TextPlaces = Pick<ReadonlyMap<string, number>, 'has' | 'get' | 'size'>;

/** `after` is the place of the first; texts that the declared shape excludes are left out. */
export function textCells(leaf: Leaf, after: number, faults: Faults): TextCells {
  const { short, long } = namedTexts(leaf);
  if (faults.has('texts-lack-a-constant')) for (const text of [...short].slice(0, 1)) short.delete(text);
  return leaf.isEachApart
    ? apart([...short, ...fitting(leaf, long)], after)
    : joined(leaf, { short, long, after });
}

/** Entries of longer arrays are not held one by one: sets of them are shared by all formulas that read the list. */
const shortMax = 1_000;

interface NamedTexts {
  /** Of arrays that are short, and of the declared shape. */
  readonly short: Set<string>;
  readonly long: readonly (readonly Value[])[];
}

function namedTexts(leaf: Leaf): NamedTexts {
  const named = leaf.atoms.flatMap(({ understood }) => ('values' in understood ? [understood.values] : []));
  const [long, short] = [[], []] as [(readonly Value[])[], (readonly Value[])[]];
  for (const values of new Set([leaf.marks, ...named]))
    (values.length > shortMax ? long : short).push(values);
  return { short: new Set(fitting(leaf, short)), long };
}

function* fitting({ fits }: Leaf, arrays: readonly (readonly Value[])[]): Generator<string> {
  for (const values of arrays)
    for (const value of values) if (typeof value === 'string' && fits(value)) yield value;
}

function apart(texts: readonly string[], after: number): TextCells {
  const cells = [...new Set(texts)].sort();
  return { cells, places: new Map(cells.map((text, at) => [text, after + at])) };
}

/** The least text stands for those of its signature. */
function joined(leaf: Leaf, { short, long, after }: NamedTexts & { readonly after: number }): TextCells {
  const signatureOf = signatures(leaf);
  const least = new Map<number, string>();
  const note = (text: string, own: readonly Value[] | null): number => {
    const signature = signatureOf(text, own);
    const known = least.get(signature);
    if (known === undefined || text < known) least.set(signature, text);
    return signature;
  };
  const noted = new Map([...short].map((text) => [text, note(text, null)]));
  for (const values of long) for (const text of fitting(leaf, [values])) note(text, values);
  const sorted = [...least].sort(([, a], [, b]) => (a < b ? -1 : 1));
  const placeOf = new Map(sorted.map(([signature], at) => [signature, after + at]));
  const isInLong = (text: string): boolean =>
    long.some((values) => plainKeys(values).has(text)) && leaf.fits(text);
  const get = (text: string): number | undefined => {
    const signature = noted.get(text) ?? (isInLong(text) ? signatureOf(text, null) : 0);
    return placeOf.get(signature);
  };
  const size = long.reduce((sum, values) => sum + values.length, short.size);
  return {
    cells: sorted.map(([, text]) => text),
    places: { get, has: (text) => get(text) !== undefined, size },
  };
}

/** Equal where every condition over the leaf says the same of both texts; `own` is an array that the text is known to be in. */
function signatures({ atoms }: Leaf): (text: string, own: readonly Value[] | null) => number {
  const short = new Map<string, number>();
  const marked = sequenceNumbers();
  const [long, folded] = [[], []] as [Keyed[], Keyed[]];
  const asked: LeafAtom[] = [];
  for (const [at, atom] of atoms.entries()) {
    const { understood } = atom;
    if (understood.kind === 'presence') continue;
    if (understood.kind === 'loose' && understood.isFolded)
      folded.push({ values: understood.values, keys: foldedKeys(understood.values) });
    else if (understood.kind !== 'values') asked.push(atom);
    else if (understood.values.length > shortMax)
      long.push({ values: understood.values, keys: plainKeys(understood.values) });
    else
      for (const text of understood.values as readonly string[])
        short.set(text, marked(short.get(text) ?? 0, at));
  }
  const next = sequenceNumbers();
  return (text, own) => {
    const isAmong = ({ values, keys }: Keyed, key: string): number =>
      values === own || keys.has(key) ? 1 : 0;
    let signature = next(0, short.get(text) ?? 0);
    for (const one of long) signature = next(signature, isAmong(one, text));
    const key = folded.length === 0 ? text : fold(text);
    for (const one of folded) signature = next(signature, isAmong(one, key));
    for (const { truthAt } of asked) signature = next(signature, truthNumber(truthAt(text)));
    return signature;
  };
}

interface Keyed {
  readonly values: readonly Value[];
  readonly keys: ReadonlySet<Value>;
}

/** Equal for the same mark after the same number alone; never 0. */
function sequenceNumbers(): (before: number, mark: number) => number {
  const known: number[][] = [];
  let count = 0;
  return (before, mark) => {
    known[before] ??= [];
    const after = known[before];
    const number = after[mark];
    if (number !== undefined) return number;
    count += 1;
    after[mark] = count;
    return count;
  };
}

function truthNumber(truth: SpecTruth): number {
  return truth === true ? 1 : truth === false ? 0 : 2;
}
