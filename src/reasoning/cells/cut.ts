// Cuts a leaf into its cells and determines, for each condition that reads the leaf, in which cells the
// condition is true and in which it is false. The truth of a condition in a cell is its truth, by the
// definition (`src/language/spec`), for the cell's value.

import { type UnknownValue, unknown, type Value } from '../../language/model/value.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import { compare, type Decimal } from '../../language/value/decimal.ts';
import type { Cidr, Ip } from '../../language/value/ip.ts';
import type { Circuit } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import { type CellSpan, cellSpansOf, isOpenIn } from './cell-spans.ts';
import type { Faults } from './faults.ts';
import {
  type Cell,
  type CellRun,
  isAmong,
  isValue,
  isWhere,
  keyOf,
  type Leaf,
  type LeafAtom,
  marksOf,
} from './leaf.ts';
import { numberCells } from './numbers.ts';
import { textCells } from './text-cells.ts';
import { cutRest } from './texts.ts';
import { timeCells } from './times.ts';

// Cuts addresses into cells at the ends of networks and at constants. The first address of a stretch stands
// for all of the stretch.

const widths = { 4: 32, 6: 128 } as const;

function addressCells(atoms: readonly LeafAtom[], faults: Faults): readonly Ip[] {
  const starts: Ip[] = [
    { family: 4, bits: 0n },
    { family: 6, bits: 0n },
    ...atoms.flatMap(({ understood }) => startsOf(understood)),
  ];
  const inside = starts.filter(({ family, bits }) => bits >> BigInt(widths[family]) === 0n);
  const cells = [...new Map(inside.map((ip) => [`${ip.family} ${ip.bits}`, ip])).values()];
  return faults.has('addresses-lack-an-edge') ? cells.slice(0, -1) : cells;
}

function startsOf(understood: LeafAtom['understood']): readonly Ip[] {
  if (understood.kind === 'network') return [understood.cidr, after(understood.cidr)];
  if (understood.kind !== 'values') return [];
  return (understood.values as readonly Ip[]).flatMap((ip) => [ip, { ...ip, bits: ip.bits + 1n }]);
}

function after({ family, bits, prefix }: Cidr): Ip {
  return { family, bits: bits + (1n << BigInt(widths[family] - prefix)) };
}

export interface CutState {
  readonly circuit: Circuit;
  readonly faults: Faults;
}

/**
 * Cuts the leaf and connects its conditions to the cells. Afterwards no condition may be added to the leaf.
 */
export function cutLeaf(leaf: Leaf, cutting: CutState): void {
  const states = stateCells(leaf, cutting.faults);
  leaf.cells = [...states, ...valueCells(leaf, states.length, cutting.faults)];
  leaf.order = orderOf(leaf.cells.length, cutting.circuit);
  const rest = cutRest(leaf, cutting);
  for (const atom of leaf.atoms) connect(leaf, atom, rest, cutting.circuit);
}

/** The index of the cell that a value lies in; -1 if it lies in no cell of a named value. */
export function cellPlaceOf(leaf: Leaf, value: Value | UnknownValue | undefined): number {
  if (value === undefined || value === null || value === unknown)
    return leaf.cells.findIndex((cell) => cell.value === value);
  if (leaf.domain === 'text') return leaf.indexes.get(value as string) ?? -1;
  const key = keyOf(value);
  const isOwn = (cell: Cell): boolean => !cell.isOther && isValue(cell.value) && keyOf(cell.value) === key;
  const index = leaf.cells.findIndex(isOwn);
  if (index >= 0 || (leaf.domain !== 'number' && leaf.domain !== 'integer')) return index;
  const marks = marksOf(leaf);
  return leaf.cells.findIndex(
    (cell) =>
      isValue(cell.value) &&
      marks.every((mark) => compare(mark, cell.value as Decimal) === compare(mark, value as Decimal)),
  );
}

function stateCells({ states }: Leaf, faults: Faults): readonly Cell[] {
  const cells: Cell[] = [];
  if (states.absent && !faults.has('absent-is-forgotten')) cells.push({ value: undefined, isOther: false });
  if (states.null && !faults.has('null-is-forgotten')) cells.push({ value: null, isOther: false });
  if (states.unknown && !faults.has('unknown-is-forgotten')) cells.push({ value: unknown, isOther: false });
  return cells;
}

function valueCells(leaf: Leaf, after: number, faults: Faults): readonly Cell[] {
  const { domain, fits, usual } = leaf;
  const plain = (values: readonly Value[]): readonly Cell[] =>
    values.map((value) => ({ value, isOther: false }));
  switch (domain) {
    case 'number':
    case 'integer': {
      const { isMoney } = leaf;
      return plain(
        numberCells(marksOf(leaf), { isWhole: domain === 'integer', isMoney, fits, usual, faults }),
      );
    }
    case 'boolean':
      return plain([true, false]);
    case 'closed':
      return plain(leaf.values.filter(fits));
    case 'text': {
      const { cells, indexes } = textCells(leaf, after, faults);
      leaf.indexes = indexes;
      return [...plain(cells), { value: 'other', isOther: true }];
    }
    case 'address':
      return plain(addressCells(leaf.atoms, faults));
    case 'time':
      return timeCells(leaf, faults);
    case 'presence':
      return [{ value: 'present', isOther: true }];
  }
}

function orderOf(length: number, circuit: Circuit): readonly SolverLiteral[] {
  const order = [circuit.yes];
  for (let at = 1; at < length; at += 1) {
    const later = circuit.free();
    circuit.require([notLiteral(later), order[at - 1]!]);
    order.push(later);
  }
  if (length === 0) circuit.require([circuit.no]);
  return [...order, circuit.no];
}

type RestPair = (atom: LeafAtom) => LeafAtom['pair'];

function connect(leaf: Leaf, atom: LeafAtom, rest: RestPair, circuit: Circuit): void {
  const stretches = cellSpansOf(leaf, atom);
  const isWhereTruth = (truth: SpecTruth): SolverLiteral =>
    isAmong(leaf, runsWith(stretches, truth), circuit);
  const isOpen = isWhere(leaf, (cell) => isOpenIn(atom, cell), circuit);
  const others = isOpen === circuit.no ? circuit.unknown : rest(atom);
  circuit.requireEqual(
    atom.pair.isTrue,
    circuit.or([isWhereTruth(true), circuit.and([isOpen, others.isTrue])]),
  );
  circuit.requireEqual(
    atom.pair.isFalse,
    circuit.or([isWhereTruth(false), circuit.and([isOpen, others.isFalse])]),
  );
}

function runsWith(stretches: readonly CellSpan[], expected: SpecTruth): readonly CellRun[] {
  return stretches.flatMap(({ from, to, truth }): readonly CellRun[] =>
    truth === expected ? [[from, to]] : [],
  );
}
