// The texts that conditions name. Those that no condition tells apart share a cell, so that a list of a hundred thousand
// entries is a few cells, unless something else (a function of the leaf, a text that it is compared with) tells them apart.

import type { SpecTruth } from '../../language/spec/truth.ts';
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
  const placeOf = new Map<string, number>();
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
function signatures({ atoms }: Leaf): (text: string) => string {
  const listed = new Map<string, string>();
  const folded = new Map<string, string>();
  const asked: LeafAtom[] = [];
  for (const [at, atom] of atoms.entries()) {
    const { understood } = atom;
    if (understood.kind === 'presence') continue;
    if (understood.kind === 'values') note(listed, understood.values as readonly string[], at);
    else if (understood.kind === 'loose' && understood.isFolded)
      note(folded, new Set((understood.values as readonly string[]).map(fold)), at);
    else asked.push(atom);
  }
  return (text) => {
    const answers = asked.map(({ truthAt }) => letterOf(truthAt(text))).join('');
    return `${listed.get(text) ?? ''};${folded.size > 0 ? (folded.get(fold(text)) ?? '') : ''};${answers}`;
  };
}

function note(lists: Map<string, string>, texts: Iterable<string>, at: number): void {
  for (const text of texts) lists.set(text, `${lists.get(text) ?? ''} ${at}`);
}

function letterOf(truth: SpecTruth): string {
  return truth === true ? 't' : truth === false ? 'f' : 'u';
}
