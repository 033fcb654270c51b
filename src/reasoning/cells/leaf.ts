// A leaf is one thing that a request may say: a field of the payload, a fact, the time, an end of a meter's reading, or
// a function of one of these. Its values are cut into cells on which each condition that reads it is constant; the
// literal of a place in their order says "this cell or a later one", so that a run of neighbours is two literals.

import type { PolicySet } from '../../language/model/policy.ts';
import type { Range } from '../../language/model/type.ts';
import { type Unknown, unknown, type Value } from '../../language/model/value.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import type { Decimal } from '../../language/value/decimal.ts';
import type { Circuit, Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import type { TextPlaces } from './text-cells.ts';
import type { Understood } from './understand.ts';

/** `undefined` stands for absent, as where the definition reads fields. */
export type CellValue = Value | Unknown | undefined;

export interface Cell {
  readonly value: CellValue;
  /** Stands for every value that no condition names. */
  readonly isOther: boolean;
  /** Stands for values of which conditions that ask a clock say what they like. */
  readonly isBeyond?: boolean;
}

export type Domain = 'number' | 'integer' | 'boolean' | 'text' | 'closed' | 'address' | 'time' | 'presence';

/** Which of these the leaf may be besides having a value. */
export interface States {
  readonly absent: boolean;
  readonly null: boolean;
  readonly unknown: boolean;
}

export interface LeafAtom {
  /** In the words of the language. */
  readonly text: string;
  readonly pair: Pair;
  readonly understood: Understood;
  /** What the definition says of the condition where the leaf has the value. */
  readonly truthAt: (value: CellValue) => SpecTruth;
}

export interface Leaf {
  readonly key: string;
  readonly set: PolicySet;
  readonly domain: Domain;
  readonly states: States;
  /** Values of a closed text. */
  readonly values: readonly Value[];
  /** Whether the declared shape admits the value. */
  readonly fits: (value: Value) => boolean;
  /** Patterns that a text matches by its declaration. */
  readonly patterns: readonly string[];
  /** How long a text or a list may be by its declaration. */
  readonly lengths: Range;
  /** What it is a function of. */
  readonly base: { readonly leaf: Leaf; readonly of: (value: Value) => Value | Unknown } | null;
  readonly atoms: LeafAtom[];
  readonly atomsByText: Map<string, LeafAtom>;
  /** Each of its named texts is a cell of its own, since something else tells them apart. */
  isEachApart: boolean;
  /** Values that are a cell of their own, beside those of its conditions. */
  readonly marks: Value[];
  /** Empty until it is cut. */
  cells: readonly Cell[];
  order: readonly SolverLiteral[];
  /** The cell of each named text. */
  places: TextPlaces;
  rest: Rest | null;
}

/** Tests of the texts that no condition names. */
export interface Rest {
  readonly patterns: readonly string[];
  readonly literals: readonly SolverLiteral[];
}

export const noStates: States = { absent: false, null: false, unknown: false };

export function isCell({ order }: Leaf, at: number, circuit: Circuit): SolverLiteral {
  return circuit.and([order[at]!, notLiteral(order[at + 1]!)]);
}

/** Neighbouring cells: the first and the last. */
export type CellRun = readonly [from: number, to: number];

/** The leaf is in one of these cells. */
export function isAmong({ order }: Leaf, runs: readonly CellRun[], circuit: Circuit): SolverLiteral {
  return circuit.or(runs.map(([from, to]) => circuit.and([order[from]!, notLiteral(order[to + 1]!)])));
}

export function isWhere(leaf: Leaf, isWanted: (cell: Cell) => boolean, circuit: Circuit): SolverLiteral {
  return isAmong(leaf, runsOf(leaf.cells, isWanted), circuit);
}

function runsOf(cells: readonly Cell[], isWanted: (cell: Cell) => boolean): readonly CellRun[] {
  const runs: CellRun[] = [];
  let from = -1;
  for (let at = 0; at <= cells.length; at += 1) {
    const isIn = at < cells.length && isWanted(cells[at]!);
    if (isIn && from < 0) from = at;
    if (isIn || from < 0) continue;
    runs.push([from, at - 1]);
    from = -1;
  }
  return runs;
}

export function isValue(value: CellValue): value is Exclude<Value, null> {
  return value !== undefined && value !== null && value !== unknown;
}

/** The numbers at which a cell ends. */
export function marksOf(leaf: Leaf): readonly Decimal[] {
  const named = leaf.atoms.flatMap(({ understood }) =>
    understood.kind === 'values' ? understood.values : [],
  );
  return [...leaf.marks, ...named] as readonly Decimal[];
}

/** How many values its conditions name, some of them more than once. */
export function namedCount({ atoms, marks }: Leaf): number {
  return atoms.reduce(
    (count, { understood }) => count + ('values' in understood ? understood.values.length : 0),
    marks.length,
  );
}

/** Whether cells of numbers follow each other: of times only where no clock is asked. */
export function isLine({ domain, atoms }: Leaf): boolean {
  if (domain === 'number' || domain === 'integer') return true;
  const isPlain = ({ understood: { kind } }: LeafAtom): boolean => kind === 'values' || kind === 'presence';
  return domain === 'time' && atoms.every(isPlain);
}

/** Equal for equal values. */
export function keyOf(value: Value): string {
  if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`;
  if ('bits' in value) return `ip ${value.family} ${value.bits}`;
  return 'coefficient' in value ? `${value.coefficient}e${value.exponent}` : 'other';
}
