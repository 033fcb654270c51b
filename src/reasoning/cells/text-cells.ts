// The texts that conditions name. Those that no condition tells apart share a cell, so that a list of a hundred thousand
// entries is a few cells, unless something else (a function of the leaf, a text that it is compared with) tells them apart.

import type { Value } from '../../language/model/value.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import { memo } from '../../language/value/memo.ts';
import { fold } from '../../language/value/text.ts';
import type { Faults } from './faults.ts';
import type { Leaf, LeafAtom } from './leaf.ts';
import { foldedKeys, type Keys, plainKeys } from './text-keys.ts';

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

function fitting(leaf: Leaf, arrays: readonly (readonly Value[])[]): readonly string[] {
  return arrays.flatMap((values) => textsOf(values, leaf));
}

function textsOf(values: readonly Value[], { fits }: Leaf): readonly string[] {
  return values.filter((value): value is string => typeof value === 'string' && fits(value));
}

const entriesOf = new WeakMap<readonly Value[], WeakMap<Leaf['fits'], LongTexts>>();

/** What is found of the texts of a long array is kept for all formulas that read it. */
interface LongTexts {
  readonly values: readonly Value[];
  readonly texts: readonly string[];
  /** By pattern, or by the keys that they may be among, what is said of each text. */
  readonly answers: Map<string | Keys, Uint8Array>;
}

function longTexts(values: readonly Value[], leaf: Leaf): LongTexts {
  const byFits = memo(entriesOf, values, () => new WeakMap<Leaf['fits'], LongTexts>());
  return memo(byFits, leaf.fits, () => ({ values, texts: textsOf(values, leaf), answers: new Map() }));
}

function membershipIn({ values, texts, answers: known }: LongTexts, own: Keyed): Uint8Array {
  return memo(known, own.keys, () =>
    own.values === values
      ? new Uint8Array(texts.length).fill(1)
      : Uint8Array.from(texts, (text) => Number(own.keys.has(own.isFolded ? fold(text) : text))),
  );
}

/** A pattern alone settles what is said of a text. */
function truthsIn({ texts, answers: known }: LongTexts, { understood, truthAt }: LeafAtom): Uint8Array {
  const make = (): Uint8Array => Uint8Array.from(texts, (text) => truthNumber(truthAt(text)));
  return understood.kind === 'pattern' ? memo(known, understood.pattern, make) : make();
}

function apart(texts: readonly string[], after: number): TextCells {
  const cells = [...new Set(texts)].sort();
  return { cells, places: new Map(cells.map((text, at) => [text, after + at])) };
}

/** The least text stands for those of its signature. */
function joined(leaf: Leaf, { short, long, after }: NamedTexts & { readonly after: number }): TextCells {
  const signatureOf = signatures(leaf);
  const least = new Map<number, string>();
  const note = (text: string, signature: number): number => {
    const known = least.get(signature);
    if (known === undefined || text < known) least.set(signature, text);
    return signature;
  };
  const noted = new Map([...short].map((text) => [text, note(text, signatureOf.text(text))]));
  for (const values of long) {
    const entries = longTexts(values, leaf);
    const signatureAt = signatureOf.among(entries);
    for (const [at, text] of entries.texts.entries()) note(text, signatureAt(at));
  }
  const sorted = [...least].sort(([, a], [, b]) => (a < b ? -1 : 1));
  const placeOf = new Map(sorted.map(([signature], at) => [signature, after + at]));
  const isInLong = (text: string): boolean =>
    long.some((values) => plainKeys(values).has(text)) && leaf.fits(text);
  const get = (text: string): number | undefined => {
    const signature = noted.get(text) ?? (isInLong(text) ? signatureOf.text(text) : 0);
    return placeOf.get(signature);
  };
  const size = long.reduce((sum, values) => sum + values.length, short.size);
  return {
    cells: sorted.map(([, text]) => text),
    places: { get, has: (text) => get(text) !== undefined, size },
  };
}

/** Equal where every condition over the leaf says the same of both texts. */
interface Signatures {
  readonly text: (text: string) => number;
  /** Of the texts of an array, by their place. */
  readonly among: (entries: LongTexts) => (at: number) => number;
}

function signatures({ atoms }: Leaf): Signatures {
  const short = new Map<string, number>();
  const marked = sequenceNumbers();
  const keyed: Keyed[] = [];
  const asked: LeafAtom[] = [];
  for (const [at, atom] of atoms.entries()) {
    const { understood } = atom;
    if (understood.kind === 'presence') continue;
    if (understood.kind === 'loose' && understood.isFolded)
      keyed.push({ values: understood.values, keys: foldedKeys(understood.values), isFolded: true });
    else if (understood.kind !== 'values') asked.push(atom);
    else if (understood.values.length > shortMax)
      keyed.push({ values: understood.values, keys: plainKeys(understood.values), isFolded: false });
    else
      for (const text of understood.values as readonly string[])
        short.set(text, marked(short.get(text) ?? 0, at));
  }
  const next = sequenceNumbers();
  /** Several answers are one mark. */
  const signature = (text: string, answersOf: readonly Uint8Array[], place: number): number => {
    let number = next(0, short.get(text) ?? 0);
    for (let at = 0; at < answersOf.length; at += answersAtOnce) {
      const end = Math.min(answersOf.length, at + answersAtOnce);
      let mark = 0;
      for (let one = at; one < end; one += 1) mark = mark * answers + answersOf[one]![place]!;
      number = next(number, mark);
    }
    return number;
  };
  const columns = (entries: LongTexts): readonly Uint8Array[] => [
    ...keyed.map((one) => membershipIn(entries, one)),
    ...asked.map((atom) => truthsIn(entries, atom)),
  ];
  return {
    text: (text) => signature(text, columns({ values: [], texts: [text], answers: new Map() }), 0),
    among: (entries) => {
      const answersOf = columns(entries);
      return (at) => signature(entries.texts[at]!, answersOf, at);
    },
  };
}

/** An answer is 0, 1 or 2. */
const answers = 3;
const answersAtOnce = 16;

interface Keyed {
  readonly values: readonly Value[];
  readonly keys: Keys;
  readonly isFolded: boolean;
}

/** Equal for the same mark after the same number alone; never 0. */
function sequenceNumbers(): (before: number, mark: number) => number {
  const known: Map<number, number>[] = [];
  let count = 0;
  return (before, mark) => {
    known[before] ??= new Map();
    return memo(known[before], mark, () => {
      count += 1;
      return count;
    });
  };
}

function truthNumber(truth: SpecTruth): number {
  return truth === true ? 1 : truth === false ? 0 : 2;
}
