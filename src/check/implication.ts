// Whether one condition says all that another says: where the first is true the second is, and where the first is
// unknown the second is not false. Sound, not complete: what is not understood implies only itself.

import type { Compare, Expression } from '../model/expression.ts';
import { booleanType } from '../model/type.ts';
import type { ValueOfLet } from './constants.ts';
import { type Atom, atomsOf, isImpossible, structureOf, type Values, valuesLeft } from './domains.ts';

/** A condition taken apart once, to be compared with many others. */
export interface Statement {
  /** What it says, all of which is true where it is. */
  readonly goals: readonly Goal[];
  /** It is never true, so that nothing is said to follow from it. */
  readonly isEmpty: boolean;
  readonly structures: ReadonlySet<string>;
  /** By key, what it leaves of the values. */
  readonly left: ReadonlyMap<string, Values>;
  /** Alternatives of which one holds at least, each together with the rest. */
  readonly branches: readonly (readonly Known[])[];
}

/** What is known in one branch. */
type Known = Pick<Statement, 'structures' | 'left'>;

/** A part of a conclusion. */
interface Goal {
  readonly structure: string;
  /** What would have to hold for it to be false, where that speaks of one value; empty where it is not understood. */
  readonly denial: readonly Atom[];
  /** Ways in which it holds, each of several goals. */
  readonly ways: readonly (readonly Goal[])[];
}

/** Alternatives that are followed one by one; a condition with more is taken as it stands. */
const branchesMax = 8;

export function statementOf(condition: Expression, valueOfLet: ValueOfLet): Statement {
  const facts = conjunctsOf(condition, valueOfLet);
  const atoms = atomsOf(condition, true, valueOfLet);
  const structures = new Set(facts.map(structureOf));
  const choices = facts.filter(({ kind }) => kind === 'or').map(alternativesOf);
  return {
    goals: goalsOf(condition, valueOfLet),
    isEmpty: isImpossible(atoms),
    structures,
    left: valuesLeft(atoms),
    branches: choices
      .filter(({ length }) => length <= branchesMax)
      .map((choice) => choice.map((fact) => branchOf(fact, { structures, atoms, valueOfLet }))),
  };
}

/** Whether the conclusion follows from the premise. */
export function implies(premise: Statement, conclusion: Statement): boolean {
  return !premise.isEmpty && conclusion.goals.every((goal) => holdsSomehow(goal, premise));
}

/** Things with a statement, and which of them may follow from a premise; in a large set few share a text. */
export function indexStatements<T extends { readonly statement: Statement }>(
  items: readonly T[],
): (premise: Statement) => readonly T[] {
  const byText = new Map<string, T[]>();
  const rest: T[] = [];
  for (const item of items) {
    const marks = marksOf(item.statement);
    if (marks.length === 0) rest.push(item);
    for (const mark of marks) byText.set(mark, [...(byText.get(mark) ?? []), item]);
  }
  return (premise) => {
    if (premise.branches.length > 0) return items;
    const near = [...premise.left].flatMap(([key, values]) => {
      const [text] = values.kind === 'texts' && !values.isComplement ? values.texts : [];
      return text === undefined ? [] : (byText.get(markOf(key, text)) ?? []);
    });
    return [...rest, ...near];
  };
}

/** Texts of one key, to one of which a premise must be narrowed for the statement to follow; none where it is open. */
function marksOf({ goals }: Statement): readonly string[] {
  for (const { denial, ways } of goals) {
    const [only, ...others] = denial;
    if (only === undefined || others.length > 0 || ways.length > 0 || only.values.kind !== 'texts') continue;
    const { key, values } = only;
    if (values.isComplement) return [...values.texts].map((text) => markOf(key, text));
  }
  return [];
}

function markOf(key: string, text: string): string {
  return JSON.stringify([key, text]);
}

function holdsSomehow(goal: Goal, premise: Statement): boolean {
  if (holds(goal, premise)) return true;
  return premise.branches.some((branches) => branches.every((known) => holds(goal, known)));
}

function holds(goal: Goal, known: Known): boolean {
  if (known.structures.has(goal.structure)) return true;
  if (isForced(goal.denial, known)) return true;
  return goal.ways.some((way) => way.every((part) => holds(part, known)));
}

/** No value is left under which it is denied; one that may be unknown is so in the premise too. */
function isForced(denial: readonly Atom[], { left }: Known): boolean {
  const isShared = denial.every(({ key, mayBeUnknown }) => !mayBeUnknown || left.has(key));
  return denial.length > 0 && isShared && isImpossible(denial, left);
}

function goalsOf(node: Expression, valueOfLet: ValueOfLet): readonly Goal[] {
  if (node.kind === 'and') return node.operands.flatMap((operand) => goalsOf(operand, valueOfLet));
  if (node.kind === 'in-range') return boundsOf(node).flatMap((bound) => goalsOf(bound, valueOfLet));
  const denied = atomsOf(node, false, valueOfLet);
  const isOfOneValue = new Set(denied.map(({ key }) => key)).size === 1;
  return [
    { structure: structureOf(node), denial: isOfOneValue ? denied : [], ways: waysOf(node, valueOfLet) },
  ];
}

function waysOf(node: Expression, valueOfLet: ValueOfLet): Goal['ways'] {
  if (node.kind === 'or') return node.operands.map((operand) => goalsOf(operand, valueOfLet));
  if (node.kind !== 'let') return [];
  const value = valueOfLet(node.id);
  return value === null || value === undefined ? [] : [goalsOf(value, valueOfLet)];
}

/** `x in low..high` as two comparisons. */
function boundsOf(node: Extract<Expression, { kind: 'in-range' }>): readonly Compare[] {
  const { subject, low, high, span } = node;
  return [
    { kind: 'compare', operator: '>=', left: subject, right: low, type: booleanType, span },
    { kind: 'compare', operator: '<=', left: subject, right: high, type: booleanType, span },
  ];
}

interface Around {
  readonly structures: ReadonlySet<string>;
  readonly atoms: readonly Atom[];
  readonly valueOfLet: ValueOfLet;
}

function branchOf(fact: Expression, { structures, atoms, valueOfLet }: Around): Known {
  const facts = conjunctsOf(fact, valueOfLet);
  return {
    structures: new Set([...structures, ...facts.map(structureOf)]),
    left: valuesLeft([...atoms, ...atomsOf(fact, true, valueOfLet)]),
  };
}

function alternativesOf(fact: Expression): readonly Expression[] {
  return fact.kind === 'or' ? fact.operands : [];
}

/** The parts that are all true where the condition is, lets followed. */
function conjunctsOf(node: Expression, valueOfLet: ValueOfLet): readonly Expression[] {
  if (node.kind === 'and') return node.operands.flatMap((operand) => conjunctsOf(operand, valueOfLet));
  if (node.kind === 'in-range') return [node, ...boundsOf(node)];
  if (node.kind !== 'let') return [node];
  const value = valueOfLet(node.id);
  return value === null || value === undefined ? [node] : [node, ...conjunctsOf(value, valueOfLet)];
}
