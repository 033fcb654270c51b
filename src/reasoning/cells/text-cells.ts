// Partitions the strings that conditions name into cells. Strings that no condition distinguishes share a
// cell, so a list of a hundred thousand entries becomes a few cells. Each string gets its own cell if
// something else distinguishes it: a function of the leaf, or a text that the leaf is compared with.

import type { Value } from '../../language/model/value.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import { memo } from '../../language/value/memo.ts';
import { fold } from '../../language/value/text.ts';
import type { Faults } from './faults.ts';
import type { Leaf, LeafAtom } from './leaf.ts';
import { foldedKeys, type Keys, plainKeys } from './text-keys.ts';

export interface TextCells {
  /** One text for each cell, sorted. */
  readonly cells: readonly string[];
  readonly indexes: TextIndex;
}

/** The index of the cell of each named text, readable like a map. */
export type TextIndex = Pick<ReadonlyMap<string, number>, 'has' | 'get' | 'size'>;

/**
 * The cells of the named texts, without texts that the declared shape excludes. `after` is the index of the
 * first cell.
 */
export function textCells(leaf: Leaf, after: number, faults: Faults): TextCells {
  const { short, long } = namedTexts(leaf);
  if (faults.has('texts-lack-a-constant')) for (const text of [...short].slice(0, 1)) short.delete(text);
  return leaf.isEachApart
    ? apart([...short, ...fitting(leaf, long)], after)
    : joined(leaf, { short, long, after });
}

/**
 * Longest array whose entries are held one by one. Sets of the entries of longer arrays are shared by all
 * formulas that read the list.
 */
const shortMax = 1_000;

interface NamedTexts {
  /** Texts of short arrays that the declared shape admits. */
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

/** What is known of the texts of a long array, kept for all formulas that read the array. */
interface LongTexts {
  readonly values: readonly Value[];
  readonly texts: readonly string[];
  /**
   * An answer for each text: by pattern, whether the text matches; by keys, whether the text is among them.
   */
  readonly answers: Map<string | Keys, Uint8Array>;
}

function longTexts(values: readonly Value[], leaf: Leaf): LongTexts {
  const byFits = memo(entriesOf, values, () => new WeakMap<Leaf['fits'], LongTexts>());
  return memo(byFits, leaf.fits, () => ({ values, texts: textsOf(values, leaf), answers: new Map() }));
}

function membershipIn({ values, texts, answers: known }: LongTexts, keyed: KeyedTexts): Uint8Array {
  return memo(known, keyed.keys, () =>
    keyed.values === values
      ? new Uint8Array(texts.length).fill(1)
      : Uint8Array.from(texts, (text) => Number(keyed.keys.has(keyed.isFolded ? fold(text) : text))),
  );
}

/**
 * The truth of a condition for each text. It is kept only for a pattern, since a pattern alone settles it.
 */
function truthsIn({ texts, answers: known }: LongTexts, { understood, truthAt }: LeafAtom): Uint8Array {
  const make = (): Uint8Array => Uint8Array.from(texts, (text) => truthNumber(truthAt(text)));
  return understood.kind === 'pattern' ? memo(known, understood.pattern, make) : make();
}

function apart(texts: readonly string[], after: number): TextCells {
  const cells = [...new Set(texts)].sort();
  return { cells, indexes: new Map(cells.map((text, at) => [text, after + at])) };
}

/** Cells that are shared by texts of the same signature; the least text stands for all of them. */
function joined(leaf: Leaf, { short, long, after }: NamedTexts & { readonly after: number }): TextCells {
  const signatureOf = signatures(leaf);
  const least = new Map<number, string>();
  const note = (text: string, signature: number): number => {
    const cached = least.get(signature);
    if (cached === undefined || text < cached) least.set(signature, text);
    return signature;
  };
  const noted = new Map([...short].map((text) => [text, note(text, signatureOf.text(text))]));
  for (const values of long) {
    const entries = longTexts(values, leaf);
    const signatureAt = signatureOf.among(entries);
    for (const [at, text] of entries.texts.entries()) note(text, signatureAt(at));
  }
  const sorted = [...least].sort(([, a], [, b]) => (a < b ? -1 : 1));
  const cellIndexBySignature = new Map(sorted.map(([signature], at) => [signature, after + at]));
  const isInLong = (text: string): boolean =>
    long.some((values) => plainKeys(values).has(text)) && leaf.fits(text);
  const get = (text: string): number | undefined => {
    const signature = noted.get(text) ?? (isInLong(text) ? signatureOf.text(text) : 0);
    return cellIndexBySignature.get(signature);
  };
  const size = long.reduce((sum, values) => sum + values.length, short.size);
  return {
    cells: sorted.map(([, text]) => text),
    indexes: { get, has: (text) => get(text) !== undefined, size },
  };
}

/** Numbers that are equal for two texts if every condition over the leaf has the same truth for both. */
interface Signatures {
  readonly text: (text: string) => number;
  /** Signatures of the texts of an array, by their index. */
  readonly among: (entries: LongTexts) => (at: number) => number;
}

function signatures({ atoms }: Leaf): Signatures {
  const short = new Map<string, number>();
  const marked = sequenceNumbers();
  const keyed: KeyedTexts[] = [];
  const atomsToSign: LeafAtom[] = [];
  for (const [at, atom] of atoms.entries()) {
    const { understood } = atom;
    if (understood.kind === 'presence') continue;
    if (understood.kind === 'loose' && understood.isFolded)
      keyed.push({ values: understood.values, keys: foldedKeys(understood.values), isFolded: true });
    else if (understood.kind !== 'values') atomsToSign.push(atom);
    else if (understood.values.length > shortMax)
      keyed.push({ values: understood.values, keys: plainKeys(understood.values), isFolded: false });
    else
      for (const text of understood.values as readonly string[])
        short.set(text, marked(short.get(text) ?? 0, at));
  }
  const next = sequenceNumbers();
  /** Several answers are packed into one mark. */
  const signature = (text: string, answersOf: readonly Uint8Array[], index: number): number => {
    let number = next(0, short.get(text) ?? 0);
    for (let at = 0; at < answersOf.length; at += answersAtOnce) {
      const end = Math.min(answersOf.length, at + answersAtOnce);
      let mark = 0;
      for (let one = at; one < end; one += 1) mark = mark * answers + answersOf[one]![index]!;
      number = next(number, mark);
    }
    return number;
  };
  const columns = (entries: LongTexts): readonly Uint8Array[] => [
    ...keyed.map((one) => membershipIn(entries, one)),
    ...atomsToSign.map((atom) => truthsIn(entries, atom)),
  ];
  return {
    text: (text) => signature(text, columns({ values: [], texts: [text], answers: new Map() }), 0),
    among: (entries) => {
      const answersOf = columns(entries);
      return (at) => signature(entries.texts[at]!, answersOf, at);
    },
  };
}

/** How many different answers there are: 0, 1 and 2. */
const answers = 3;
const answersAtOnce = 16;

interface KeyedTexts {
  readonly values: readonly Value[];
  readonly keys: Keys;
  readonly isFolded: boolean;
}

/** Numbers each pair of a number before and a mark: equal for equal pairs only, and never 0. */
function sequenceNumbers(): (before: number, mark: number) => number {
  const numbers: Map<number, number>[] = [];
  let count = 0;
  return (before, mark) => {
    numbers[before] ??= new Map();
    return memo(numbers[before], mark, () => {
      count += 1;
      return count;
    });
  };
}

function truthNumber(truth: SpecTruth): number {
  return truth === true ? 1 : truth === false ? 0 : 2;
}
