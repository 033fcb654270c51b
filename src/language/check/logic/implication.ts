// Whether one condition says all that another says: where the first is true the second is, and where the first is
// unknown the second is not false. Sound, not complete: what is not understood implies only itself.

import type { Compare, Expression } from '../../model/expression.ts';
import { booleanType } from '../../model/type.ts';
import type { ValueOfLet } from './constants.ts';
import { domainAtomsOf, isImpossible, valuesLeft } from './domains.ts';
import { structureOf as structureOfData } from './structure.ts';
import { trimmedList } from './trimmed-list.ts';
import type { DomainAtom } from './value-sets.ts';
import { areDisjointSets, isEmpty, type Values } from './value-sets.ts';

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
export type Known = Pick<Statement, 'structures' | 'left'>;

/** A part of a conclusion. */
export interface Goal {
  /** Null where the values that it admits say all. */
  readonly structure: string | null;
  /** A test of one value: where it stands in a condition, no value is left that its denial admits. */
  readonly isTest: boolean;
  /** What would have to hold for it to be false, where that speaks of one value; empty where it is not understood. */
  readonly denial: readonly DomainAtom[];
  /** Ways in which it holds, each of several goals. */
  readonly ways: readonly (readonly Goal[])[];
}

/** The text of a part by which it is told apart; none where the values that it leaves say all. */
type StructureOf = (node: Expression) => readonly string[];

/** How a condition is taken apart: its lets, and the text of each part, which is written once. */
interface Reading {
  readonly valueOfLet: ValueOfLet;
  readonly structureOf: StructureOf;
}

const noText: readonly string[] = [];

/** Alternatives that are followed one by one; a condition with more is taken as it stands. */
const branchesMax = 8;

export function statementOf(condition: Expression, valueOfLet: ValueOfLet): Statement {
  const texts = new Map<Expression, readonly string[]>();
  const structureOf: StructureOf = (node) => {
    const known = texts.get(node) ?? (isPlainTest(node, valueOfLet) ? noText : [structureOfData(node)]);
    texts.set(node, known);
    return known;
  };
  const reading: Reading = { valueOfLet, structureOf };
  const facts = conjunctsOf(condition, valueOfLet);
  const atoms = domainAtomsOf(condition, true, valueOfLet);
  const structures = new Set(facts.flatMap(structureOf));
  const left = valuesLeft(atoms);
  const choices = facts.filter(({ kind }) => kind === 'or').map(alternativesOf);
  return {
    goals: trimmedList(goalsOf(condition, reading)),
    isEmpty: [...left.values()].some(isEmpty),
    structures,
    left,
    branches: choices
      .filter(({ length }) => length <= branchesMax)
      .map((choice) => choice.map((fact) => branchOf(fact, { structures, atoms, ...reading }))),
  };
}

/** A test that passes some values of one thing and denies the others: what implies it leaves values that pass alone. */
function isPlainTest(node: Expression, valueOfLet: ValueOfLet): boolean {
  // Goals are its two ends.
  if (node.kind === 'in-range') return true;
  if (node.kind === 'not' || node.kind === 'or' || node.kind === 'let') return false;
  const [passed, ...more] = domainAtomsOf(node, true, valueOfLet);
  const [denied, ...others] = domainAtomsOf(node, false, valueOfLet);
  if (passed === undefined || denied === undefined || more.length + others.length > 0) return false;
  return passed.key === denied.key && areDisjointSets(passed.values, denied.values);
}

/** Whether the conclusion follows from the premise. */
export function implies(premise: Statement, conclusion: Statement): boolean {
  return !premise.isEmpty && conclusion.goals.every((goal) => holdsSomehow(goal, premise));
}

function holdsSomehow(goal: Goal, premise: Statement): boolean {
  if (holds(goal, premise)) return true;
  return premise.branches.some((branches) => branches.every((known) => holds(goal, known)));
}

function holds(goal: Goal, known: Known): boolean {
  if (goal.structure !== null && known.structures.has(goal.structure)) return true;
  if (isForced(goal.denial, known)) return true;
  return goal.ways.some((way) => way.every((part) => holds(part, known)));
}

/** No value is left under which it is denied; one that may be unknown is so in the premise too. */
function isForced(denial: readonly DomainAtom[], { left }: Known): boolean {
  const isShared = denial.every(({ key, mayBeUnknown }) => !mayBeUnknown || left.has(key));
  return denial.length > 0 && isShared && isImpossible(denial, left);
}

function goalsOf(node: Expression, reading: Reading): readonly Goal[] {
  if (node.kind === 'and') return node.operands.flatMap((operand) => goalsOf(operand, reading));
  if (node.kind === 'in-range') return boundsOf(node).flatMap((bound) => goalsOf(bound, reading));
  const { valueOfLet, structureOf } = reading;
  const denied = domainAtomsOf(node, false, valueOfLet);
  const isOfOneValue = denied.length > 0 && denied.every(({ key }) => key === denied[0]?.key);
  return [
    {
      structure: structureOf(node)[0] ?? null,
      isTest: isOfOneValue && node.kind !== 'not' && node.kind !== 'or' && node.kind !== 'let',
      denial: isOfOneValue ? denied : [],
      ways: waysOf(node, reading),
    },
  ];
}

function waysOf(node: Expression, reading: Reading): Goal['ways'] {
  if (node.kind === 'or') return node.operands.map((operand) => goalsOf(operand, reading));
  if (node.kind !== 'let') return [];
  const value = reading.valueOfLet(node.id);
  return value === null || value === undefined ? [] : [goalsOf(value, reading)];
}

/** `x in low..high` as two comparisons. */
function boundsOf(node: Extract<Expression, { kind: 'in-range' }>): readonly Compare[] {
  const { subject, low, high, span } = node;
  return [
    { kind: 'compare', operator: '>=', left: subject, right: low, type: booleanType, span },
    { kind: 'compare', operator: '<=', left: subject, right: high, type: booleanType, span },
  ];
}

interface Around extends Reading {
  readonly structures: ReadonlySet<string>;
  readonly atoms: readonly DomainAtom[];
}

function branchOf(fact: Expression, { structures, atoms, valueOfLet, structureOf }: Around): Known {
  const facts = conjunctsOf(fact, valueOfLet);
  return {
    structures: new Set([...structures, ...facts.flatMap(structureOf)]),
    left: valuesLeft([...atoms, ...domainAtomsOf(fact, true, valueOfLet)]),
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
