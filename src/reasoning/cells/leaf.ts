// A leaf is one thing that a request may say: a field of the payload, a fact, the time, an end of a meter's reading, or
// a function of one of these. Its values are cut into cells on which each condition that reads it is constant; the
// literal of a place in their order says "this cell or a later one", so that a run of neighbours is two literals.

import type { PolicySet } from '../../language/model/policy.ts';
import type { Unknown, Value } from '../../language/model/value.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import type { Circuit, Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
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
  /** What it is a function of. */
  readonly base: { readonly leaf: Leaf; readonly of: (value: Value) => Value | Unknown } | null;
  readonly atoms: LeafAtom[];
  /** Values that are a cell of their own, beside those of its conditions. */
  readonly marks: Value[];
  /** Empty until it is cut. */
  cells: readonly Cell[];
  order: readonly SolverLiteral[];
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

/** The leaf is in one of these cells, whose places are sorted. */
export function isAmong(leaf: Leaf, places: readonly number[], circuit: Circuit): SolverLiteral {
  return circuit.or(
    runsOf(places).map(([from, to]) => circuit.and([leaf.order[from]!, notLiteral(leaf.order[to + 1]!)])),
  );
}

export function isWhere(leaf: Leaf, isWanted: (cell: Cell) => boolean, circuit: Circuit): SolverLiteral {
  return isAmong(
    leaf,
    leaf.cells.flatMap((cell, at) => (isWanted(cell) ? [at] : [])),
    circuit,
  );
}

function runsOf(places: readonly number[]): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const place of places) {
    const last = runs.at(-1);
    if (last !== undefined && last[1] + 1 === place) last[1] = place;
    else runs.push([place, place]);
  }
  return runs;
}

/** Equal for equal values. */
export function keyOf(value: Value): string {
  if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`;
  if ('bits' in value) return `ip ${value.family} ${value.bits}`;
  return 'coefficient' in value ? `${value.coefficient}e${value.exponent}` : 'other';
}
