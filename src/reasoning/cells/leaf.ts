// A leaf is one input of a request: a field of the payload, a fact, the time, an end of a meter's reading, or
// a function of one of these. Its values are cut into cells on which each condition that reads the leaf is
// constant. Each cell has a literal that means "this cell or a later one", so a run of neighbouring cells is
// two literals.

import type { PolicySet } from '../../language/model/policy.ts';
import type { Range } from '../../language/model/type.ts';
import { type UnknownValue, unknown, type Value } from '../../language/model/value.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import type { Decimal } from '../../language/value/decimal.ts';
import type { Circuit, Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import type { ConditionMeaning } from './condition-meaning.ts';
import type { TextIndex } from './text-cells.ts';

/** A value of a leaf; `undefined` stands for absent, as it does where the definition reads fields. */
export type CellValue = Value | UnknownValue | undefined;

export interface Cell {
  readonly value: CellValue;
  /** Whether the cell stands for every value that no condition names. */
  readonly isOther: boolean;
  /**
   * Whether the cell stands for instants beyond the horizon, for which conditions that read a clock are left
   * open.
   */
  readonly isBeyond?: boolean;
}

export type Domain = 'number' | 'integer' | 'boolean' | 'text' | 'closed' | 'address' | 'time' | 'presence';

/** Which of these states the leaf may have instead of a value. */
export interface States {
  readonly absent: boolean;
  readonly null: boolean;
  readonly unknown: boolean;
}

export interface LeafAtom {
  /** The condition in the words of the language. */
  readonly text: string;
  readonly pair: Pair;
  readonly understood: ConditionMeaning;
  /** The truth of the condition, by the definition, when the leaf has the value. */
  readonly truthAt: (value: CellValue) => SpecTruth;
}

export interface Leaf {
  readonly key: string;
  readonly set: PolicySet;
  readonly domain: Domain;
  readonly states: States;
  /** The values of a closed text. */
  readonly values: readonly Value[];
  /** Whether the declared shape admits a value. */
  readonly fits: (value: Value) => boolean;
  /** Patterns that the text matches by its declaration. */
  readonly patterns: readonly string[];
  /** How long the text or the list may be by its declaration. */
  readonly lengths: Range;
  /** The leaf that this leaf is a function of, and the function; null for any other leaf. */
  readonly base: { readonly leaf: Leaf; readonly of: (value: Value) => Value | UnknownValue } | null;
  readonly atoms: LeafAtom[];
  readonly atomsByText: Map<string, LeafAtom>;
  /**
   * Whether each named text of the leaf is a cell of its own, because something besides the conditions tells
   * the texts apart.
   */
  isEachApart: boolean;
  /** Whether the numbers are amounts of money. */
  readonly isMoney: boolean;
  /** The number that stands for its cell if no condition names it, such as a date of these years. */
  readonly usual: Decimal | null;
  /** Values that have a cell of their own, besides the values that conditions name. */
  readonly marks: Value[];
  /** The cells in order; empty until the leaf is cut. */
  cells: readonly Cell[];
  order: readonly SolverLiteral[];
  /** The index of the cell of each named text. */
  indexes: TextIndex;
  rest: Rest | null;
}

/** Patterns that texts named by no condition are tested by, each with the literal of its answer. */
export interface Rest {
  readonly patterns: readonly string[];
  readonly literals: readonly SolverLiteral[];
}

export const noStates: States = { absent: false, null: false, unknown: false };

export function isCell({ order }: Leaf, at: number, circuit: Circuit): SolverLiteral {
  return circuit.and([order[at]!, notLiteral(order[at + 1]!)]);
}

/** Neighbouring cells, by the index of the first and of the last. */
export type CellRun = readonly [from: number, to: number];

/** The literal that holds when the leaf is in one of the cells. */
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

/** The numbers at which cells end. */
export function marksOf(leaf: Leaf): readonly Decimal[] {
  const named = leaf.atoms.flatMap(({ understood }) =>
    understood.kind === 'values' ? understood.values : [],
  );
  return [...leaf.marks, ...named] as readonly Decimal[];
}

/** How many values the conditions of a leaf name; a value that is named twice counts twice. */
export function namedCount({ atoms, marks }: Leaf): number {
  return atoms.reduce(
    (count, { understood }) => count + ('values' in understood ? understood.values.length : 0),
    marks.length,
  );
}

/**
 * Whether the cells of a leaf follow each other like numbers. Those of times do so only if no condition reads
 * a clock.
 */
export function isLine({ domain, atoms }: Leaf): boolean {
  if (domain === 'number' || domain === 'integer') return true;
  const isPlain = ({ understood: { kind } }: LeafAtom): boolean => kind === 'values' || kind === 'presence';
  return domain === 'time' && atoms.every(isPlain);
}

/** A key that is equal for equal values. */
export function keyOf(value: Value): string {
  if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`;
  if ('bits' in value) return `ip ${value.family} ${value.bits}`;
  return 'coefficient' in value ? `${value.coefficient}e${value.exponent}` : 'other';
}
