// Whether one condition implies another: when the first is true the second is true, and when the first is
// unknown the second is not false. Sound, not complete: a part that is not understood implies only itself.

import type { Compare, Expression } from '../../model/expression.ts';
import { booleanType } from '../../model/type.ts';
import type { ValueOfLet } from './constants.ts';
import { domainAtomsOf, isImpossible, valuesLeft } from './domains.ts';
import { trimmedList } from './list-forms.ts';
import { structureOf as structureOfData } from './structure.ts';
import type { DomainAtom } from './value-sets.ts';
import { areDisjointSets, isEmpty, type Values } from './value-sets.ts';

/** A condition analysed once, to be compared with many others. */
export interface Statement {
  /** The parts of the condition, all true when the condition is. */
  readonly goals: readonly Goal[];
  /** Whether the condition is never true. Nothing is then reported to follow from it. */
  readonly isEmpty: boolean;
  readonly structures: ReadonlySet<string>;
  /** The values that the condition leaves, by key. */
  readonly left: ReadonlyMap<string, Values>;
  /**
   * For each `or`, its alternatives, each together with the rest of the condition. At least one alternative
   * holds.
   */
  readonly branches: readonly (readonly Premise[])[];
}

/** What is known in one alternative. */
export type Premise = Pick<Statement, 'structures' | 'left'>;

/** A part of a conclusion, which holds or does not under a premise. */
export interface Goal {
  /** The text that identifies the part; null when the values that the part admits describe it fully. */
  readonly structure: string | null;
  /**
   * Whether the part is a test of one value. A condition with the test as a part leaves none of the values
   * that `denial` admits.
   */
  readonly isTest: boolean;
  /**
   * What would have to hold for the part to be false, if that concerns a single value; empty when it is not
   * understood.
   */
  readonly denial: readonly DomainAtom[];
  /** Ways in which the part holds, each a list of goals. */
  readonly ways: readonly (readonly Goal[])[];
}

/**
 * Returns the text that identifies a part; an empty array when the values that the part leaves describe it
 * fully.
 */
type StructureOf = (node: Expression) => readonly string[];

/** How a condition is analysed: its lets, and the text of each part, computed once. */
interface StructureCache {
  readonly valueOfLet: ValueOfLet;
  readonly structureOf: StructureOf;
}

const noText: readonly string[] = [];

/** The most alternatives of an `or` that are followed one by one. An `or` with more is taken as a whole. */
const branchesMax = 8;

export function statementOf(condition: Expression, valueOfLet: ValueOfLet): Statement {
  const texts = new Map<Expression, readonly string[]>();
  const structureOf: StructureOf = (node) => {
    const structures = texts.get(node) ?? (isPlainTest(node, valueOfLet) ? noText : [structureOfData(node)]);
    texts.set(node, structures);
    return structures;
  };
  const reading: StructureCache = { valueOfLet, structureOf };
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

/**
 * Whether the node tests one value: some values pass, all others are denied. A condition that implies such a
 * test leaves only values that pass.
 */
function isPlainTest(node: Expression, valueOfLet: ValueOfLet): boolean {
  // Its goals are the two ends of the range.
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
  return premise.branches.some((branches) => branches.every((premise) => holds(goal, premise)));
}

function holds(goal: Goal, premise: Premise): boolean {
  if (goal.structure !== null && premise.structures.has(goal.structure)) return true;
  if (isForced(goal.denial, premise)) return true;
  return goal.ways.some((way) => way.every((part) => holds(part, premise)));
}

/**
 * Whether no value is left for which the part is false. If the value may be unknown, the premise must test it
 * too, so that the premise is then unknown as well.
 */
function isForced(denial: readonly DomainAtom[], { left }: Premise): boolean {
  const isShared = denial.every(({ key, mayBeUnknown }) => !mayBeUnknown || left.has(key));
  return denial.length > 0 && isShared && isImpossible(denial, left);
}

function goalsOf(node: Expression, reading: StructureCache): readonly Goal[] {
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

function waysOf(node: Expression, reading: StructureCache): Goal['ways'] {
  if (node.kind === 'or') return node.operands.map((operand) => goalsOf(operand, reading));
  if (node.kind !== 'let') return [];
  const value = reading.valueOfLet(node.id);
  return value === null || value === undefined ? [] : [goalsOf(value, reading)];
}

/** Returns `x in low..high` as two comparisons. */
function boundsOf(node: Extract<Expression, { kind: 'in-range' }>): readonly Compare[] {
  const { subject, low, high, span } = node;
  return [
    { kind: 'compare', operator: '>=', left: subject, right: low, type: booleanType, span },
    { kind: 'compare', operator: '<=', left: subject, right: high, type: booleanType, span },
  ];
}

interface PremiseContext extends StructureCache {
  readonly structures: ReadonlySet<string>;
  readonly atoms: readonly DomainAtom[];
}

function branchOf(fact: Expression, { structures, atoms, valueOfLet, structureOf }: PremiseContext): Premise {
  const facts = conjunctsOf(fact, valueOfLet);
  return {
    structures: new Set([...structures, ...facts.flatMap(structureOf)]),
    left: valuesLeft([...atoms, ...domainAtomsOf(fact, true, valueOfLet)]),
  };
}

function alternativesOf(fact: Expression): readonly Expression[] {
  return fact.kind === 'or' ? fact.operands : [];
}

/** Returns the parts that are all true when the condition is; lets are followed. */
function conjunctsOf(node: Expression, valueOfLet: ValueOfLet): readonly Expression[] {
  if (node.kind === 'and') return node.operands.flatMap((operand) => conjunctsOf(operand, valueOfLet));
  if (node.kind === 'in-range') return [node, ...boundsOf(node)];
  if (node.kind !== 'let') return [node];
  const value = valueOfLet(node.id);
  return value === null || value === undefined ? [node] : [node, ...conjunctsOf(value, valueOfLet)];
}
