// The texts that conditions name. Those that no condition tells apart share a cell, so that a list of a hundred thousand
// entries is a few cells, unless something else (a function of the leaf, a text that it is compared with) tells them apart.

import type { SpecTruth } from '../../language/spec/truth.ts';
import { memo } from '../../language/value/memo.ts';
import { fold } from '../../language/value/text.ts';
import type { Faults } from './faults.ts';
import type { Leaf, LeafAtom } from './leaf.ts';

export interface TextCells {
  /** One text a cell, sorted. */
  readonly cells: readonly string[];
  /** The cell of each text that is named. */
  readonly places: ReadonlyMap<string, number>;
}

/** `after` is the place of the first; texts that the declared shape excludes are left out. */
export function textCells(leaf: Leaf, after: number, faults: Faults): TextCells {
  const named = leaf.atoms.flatMap(({ understood }) => ('values' in understood ? [understood.values] : []));
  const all = new Set([leaf.marks, ...named].flat());
  const texts = [...all].filter((value) => typeof value === 'string').filter(leaf.fits);
  const kept = faults.has('texts-lack-a-constant') ? texts.slice(1) : texts.sort();
  const signatureOf = leaf.isEachApart ? (text: string) => text : signatures(leaf);
  const placeOf = new Map<string | number, number>();
  const cells: string[] = [];
  const places = new Map<string, number>();
  for (const text of kept) {
    const signature = signatureOf(text);
    const place = placeOf.get(signature) ?? after + cells.length;
    if (place === after + cells.length) cells.push(text);
    placeOf.set(signature, place);
    places.set(text, place);
  }
  return { cells, places };
}

/** Equal where every condition over the leaf says the same of both texts. */
function signatures({ atoms }: Leaf): (text: string) => number {
  const listed = marksOfTexts();
  const folded = marksOfTexts();
  const asked: LeafAtom[] = [];
  for (const [at, atom] of atoms.entries()) {
    const { understood } = atom;
    if (understood.kind === 'presence') continue;
    if (understood.kind === 'values') listed.mark(understood.values as readonly string[], at);
    else if (understood.kind === 'loose' && understood.isFolded)
      folded.mark(new Set((understood.values as readonly string[]).map(fold)), at);
    else asked.push(atom);
  }
  const next = sequenceNumbers();
  return (text) => {
    const named = next(listed.of(text), folded.isEmpty() ? 0 : folded.of(fold(text)));
    return asked.reduce((before, { truthAt }) => next(before, truthNumber(truthAt(text))), named);
  };
}

interface TextMarks {
  /** Each text once. */
  readonly mark: (texts: Iterable<string>, by: number) => void;
  /** Equal where the same have marked both texts; 0 where none has. */
  readonly of: (text: string) => number;
  readonly isEmpty: () => boolean;
}

function marksOfTexts(): TextMarks {
  const numbers = new Map<string, number>();
  const next = sequenceNumbers();
  return {
    mark: (texts, by) => {
      for (const text of texts) numbers.set(text, next(numbers.get(text) ?? 0, by));
    },
    of: (text) => numbers.get(text) ?? 0,
    isEmpty: () => numbers.size === 0,
  };
}

/** Equal for the same mark after the same number alone; never 0. */
function sequenceNumbers(): (before: number, mark: number) => number {
  const known = new Map<number, Map<number, number>>();
  let count = 0;
  return (before, mark) => {
    const after = memo(known, before, () => new Map<number, number>());
    return memo(after, mark, () => {
      count += 1;
      return count;
    });
  };
}

function truthNumber(truth: SpecTruth): number {
  return truth === true ? 1 : truth === false ? 0 : 2;
}
