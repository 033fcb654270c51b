// Finds what is needless in the rules of one action, and for each finding a request that shows it.

import type { Decision } from '../../language/model/decision.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { PolicySet, Rule, Table } from '../../language/model/policy.ts';
import { type Facts, nothingSatisfied } from '../../language/model/request.ts';
import { authorize } from '../../language/spec/authorize.ts';
import { evaluateCondition } from '../../language/spec/evaluate.ts';
import { resolveFacts } from '../../language/spec/payload.ts';
import type { ProofContext } from '../prove/context.ts';
import { createProblem } from '../prove/problem.ts';
import { solveFor } from '../prove/search.ts';
import { witnessOf } from '../prove/witness.ts';
import { type ConstantTruth, checkedParts, constantParts, readsConstantLet } from './conditions.ts';
import { effortMax, Questions } from './questions.ts';
import { type ActionRules, actionRules, actsOf, findingsOfRules, type RuleFinding } from './rules.ts';

export interface FindingWithExample extends RuleFinding {
  /**
   * A request for which the rule would have its effect, and the decision of the request; null if none was
   * found.
   */
  readonly example: { readonly facts: Facts; readonly decision: Decision } | null;
}

export interface ActionFindings {
  readonly rules: ReadonlyMap<Rule, FindingWithExample>;
  readonly constants: ReadonlyMap<Expression, ConstantTruth | null>;
  /** Whether the search ended before its last question, and what it cost. */
  readonly isCut: boolean;
  readonly effort: number;
}

export function findingsOfAction(set: PolicySet, action: string, effort = effortMax): ActionFindings {
  const claims = set.guarantees
    .filter(({ actions }) => actions.includes(action))
    .flatMap((one) => one.claims);
  const ctx = contextOf(withOpenTables(set), action, claims);
  const questions = new Questions(ctx, effort);
  const of = actionRules(ctx, questions);
  const conditions = [
    ...ctx.rules.map(({ condition }) => condition),
    ...claims.flatMap(({ when }) => when ?? []),
  ];
  const parts = checkedParts(ctx, conditions);
  questions.watch(parts.flatMap(({ literals }) => literals));
  const findings = findingsOfRules(of)
    .filter((finding) => !dependsOnConstantLet(finding, of))
    .map((finding) => ({ ...finding, example: exampleOf(finding, of, set) }));
  const constants = constantParts(parts, questions);
  const rules = new Map(findings.map((finding) => [finding.rule, finding]));
  return { rules, constants, isCut: questions.isCut, effort: questions.effort };
}

/**
 * The context of a proof. Conditions on list elements are followed exactly if no list would need more places
 * than it is given; otherwise they are left open.
 */
function contextOf(
  set: PolicySet,
  action: string,
  claims: PolicySet['guarantees'][number]['claims'],
): ProofContext {
  const { ctx } = createProblem(set, action, { claims });
  const isBounded = [...ctx.lists.keys()].some((key) => ctx.bounded.has(key));
  return isBounded ? createProblem(set, action, { claims, isCoarse: true }).ctx : ctx;
}

function dependsOnConstantLet({ kind, rule, by }: RuleFinding, { ctx, judged }: ActionRules): boolean {
  const allows = judged.map((one) => one.rule).filter(({ effect }) => effect === 'allow');
  const all = [rule, ...by, ...(kind === 'guard-without-allow' ? allows : [])];
  return all.some(({ condition }) => readsConstantLet(ctx.set, condition));
}

/**
 * Returns the set with tables of files that may have any rows, like pushed ones: rows change without the
 * policies, so a condition is not needless because of them.
 */
function withOpenTables(set: PolicySet): PolicySet {
  const tables = [...set.tables].map(([name, table]) => [name, openTable(table)] as const);
  return { ...set, tables: new Map(tables) };
}

function openTable(table: Table): Table {
  // The only column of a table that the policy spells out has no name.
  if (table.rows === null || table.columns[0]?.name === '') return table;
  const other = { isOptional: true, isNullable: false, isSecret: false, isSigned: false };
  const fields = table.columns.map(({ name, type }) => ({ name, type, ...other }));
  return { ...table, rows: null, pushed: { shape: { fields, isOpen: false }, keyName: 'key', by: [] } };
}

function exampleOf(
  { kind, rule }: RuleFinding,
  { ctx, judged, granted }: ActionRules,
  set: PolicySet,
): FindingWithExample['example'] {
  const one = judged.find((each) => each.rule === rule);
  if (one === undefined || kind === 'never-true') return null;
  const isToBeGranted = kind === 'rule-implied' || kind === 'rule-duplicated';
  if (solveFor(ctx, [actsOf(one), ...(isToBeGranted ? [granted] : [])]) !== true) return null;
  const facts = { ...witnessOf(ctx), satisfied: nothingSatisfied };
  const decision = authorize(set, facts);
  const isRefused = decision.by === 'invalid_payload';
  return !isRefused && hasEffect(set, rule, facts, decision) ? { facts, decision } : null;
}

/** Whether the rule has its effect on a request, by the definition and independent of the formula. */
function hasEffect(set: PolicySet, { condition, effect }: Rule, facts: Facts, { risk }: Decision): boolean {
  const scope = { set, facts: resolveFacts(set, facts), risk, variables: new Map() };
  const truth = evaluateCondition(condition, scope);
  return effect === 'allow' ? truth === true : truth !== false;
}
