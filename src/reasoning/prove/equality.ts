// Compares two texts with each other. The formula knows which constants the texts share, and that texts equal
// to the same text are equal.

import type { Compare } from '../../language/model/expression.ts';
import type { Value } from '../../language/model/value.ts';
import { type Cell, isCell, type Leaf } from '../cells/leaf.ts';
import { negatedLiteral, type Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverLiteral } from '../solver/literal.ts';
import type { Elements, Equality, ProofContext } from './context.ts';
import { hasValue, leafOf } from './leaves.ts';

/**
 * The most named texts of a leaf that are shared with compared leaves; beyond this the cells are not linked.
 */
const sharedTextsMax = 200;
const transitiveMax = 60;

/** Null when one of the operands is no text. */
export function equalityAtom(
  ctx: ProofContext,
  { operator, left, right }: Compare,
  elements: Elements,
): Pair | null {
  if (operator !== '==' && operator !== '!=') return null;
  const [a, b] = [leafOf(ctx, left, elements), leafOf(ctx, right, elements)];
  if (a === null || b === null || !isText(a) || !isText(b)) return null;
  const equal = equalityOf(ctx, a, b);
  const isKnown = bothKnown(ctx, a, b);
  const pair = ctx.circuit.onlyIf(isKnown, { isTrue: equal, isFalse: notLiteral(equal) });
  return operator === '==' ? pair : negatedLiteral(pair);
}

function isText({ domain }: Leaf): boolean {
  return domain === 'text' || domain === 'closed';
}

function bothKnown(ctx: ProofContext, a: Leaf, b: Leaf): SolverLiteral {
  const isKnown = ctx.circuit.free(true);
  ctx.afterCut.push(() =>
    ctx.circuit.requireEqual(isKnown, ctx.circuit.and([hasValue(ctx, a), hasValue(ctx, b)])),
  );
  return isKnown;
}

function equalityOf(ctx: ProofContext, a: Leaf, b: Leaf): SolverLiteral {
  if (a === b) return ctx.circuit.yes;
  const [left, right] = a.key < b.key ? [a, b] : [b, a];
  const key = `${left.key} == ${right.key}`;
  const cached = ctx.equalities.get(key);
  if (cached !== undefined) return cached.equal;
  const equality = { left, right, equal: ctx.circuit.free() };
  ctx.equalities.set(key, equality);
  ctx.afterCut.push(() => linkCells(ctx, equality));
  return equality.equal;
}

/**
 * Links the cells of two compared texts: equal texts lie in the cells of the same text, and two texts in the
 * cells of one named text are equal.
 */
function linkCells({ circuit }: ProofContext, { left, right, equal }: Equality): void {
  if (namesOf(left).length > sharedTextsMax || namesOf(right).length > sharedTextsMax) return;
  for (const [from, to] of [
    [left, right],
    [right, left],
  ] as const) {
    for (const [at, cell] of from.cells.entries()) {
      if (typeof cell.value !== 'string') continue;
      const isHere = isCell(from, at, circuit);
      const same = sameCellIndex(to, cell);
      const isThere = same < 0 ? circuit.no : isCell(to, same, circuit);
      circuit.require([notLiteral(equal), notLiteral(isHere), isThere]);
      if (!cell.isOther && same >= 0 && to.cells[same]!.isOther === false)
        circuit.require([equal, notLiteral(isHere), notLiteral(isThere)]);
    }
  }
}

/**
 * The cell of the same text in the leaf; the cell of all other texts when the leaf does not name that text.
 */
function sameCellIndex(leaf: Leaf, { value, isOther }: Cell): number {
  const index = isOther ? -1 : leaf.cells.findIndex((cell) => !cell.isOther && cell.value === value);
  return index >= 0 ? index : leaf.cells.findIndex((cell) => cell.isOther);
}

/**
 * Gives compared texts the same named texts, so that an unnamed text of one cannot equal a named text of the
 * other. Cells of leaves with too many named texts are not linked at all.
 */
export function shareTexts(ctx: ProofContext): void {
  const all = [...ctx.equalities.values()];
  for (const { left, right } of all) {
    // A comparison tells texts apart, so wherever cells are linked each text has its own.
    if (namesOf(left).length <= sharedTextsMax) left.isEachApart = true;
    if (namesOf(right).length <= sharedTextsMax) right.isEachApart = true;
  }
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const { left, right } of all) {
      for (const [from, to] of [
        [left, right],
        [right, left],
      ] as const) {
        const names = namesOf(from);
        if (to.domain !== 'text' || names.length > sharedTextsMax) continue;
        const sharedTexts = new Set(namesOf(to));
        const added = names.filter((name) => !sharedTexts.has(name));
        to.marks.push(...added);
        isChanged ||= added.length > 0;
      }
    }
  }
}

function namesOf({ values, marks, atoms }: Leaf): readonly Value[] {
  const named = atoms.flatMap(({ understood }) => ('values' in understood ? understood.values : []));
  return [...values, ...marks, ...named].filter((value) => typeof value === 'string');
}

/** Adds that two texts are equal if each equals the same third text. */
export function linkEqualities(ctx: ProofContext): void {
  const all = [...ctx.equalities.values()];
  if (all.length > transitiveMax) return;
  const find = (a: Leaf, b: Leaf): SolverLiteral | undefined =>
    ctx.equalities.get(a.key < b.key ? `${a.key} == ${b.key}` : `${b.key} == ${a.key}`)?.equal;
  for (const one of all) {
    for (const other of all) {
      const shared = [one.left, one.right].find((leaf) => leaf === other.left || leaf === other.right);
      if (one === other || shared === undefined) continue;
      const first = one.left === shared ? one.right : one.left;
      const last = other.left === shared ? other.right : other.left;
      const third = first === last ? undefined : find(first, last);
      if (third !== undefined) ctx.circuit.require([notLiteral(one.equal), notLiteral(other.equal), third]);
    }
  }
}
