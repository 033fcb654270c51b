// Compares two policy sets: every kind of request that the two decide differently, the loosest first, with
// the proof that there is no other. An action for which nothing has changed is skipped.

import type { Span } from '../../language/diagnostic/span.ts';
import { childrenOf } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { solveFor } from '../prove/search.ts';
import type { Cause } from './causes.ts';
import { type ChangedDeclarations, declarationsIn, isAlike, type ReadKind } from './declarations.ts';
import {
  closeFewRules,
  type JointRules,
  jointRulesOf,
  rulePairs,
  type WrittenRules,
  withMoreClosed,
  writtenRules,
} from './few-rules.ts';
import {
  type DiffFinding,
  excludeFindings,
  type FindingCause,
  type FindingRequest,
  isOfRegion,
  jointFacts,
} from './finding.ts';
import { FreshProof } from './fresh-proof.ts';
import { createJointProblem, type JointProblem } from './joint-problem.ts';
import { type DiffSide, type JointSet, jointSet, sides } from './joint-set.ts';
import type { SampleFacts } from './nearest.ts';
import { findingsIn } from './regions.ts';
import {
  type DecisionChange,
  type DiffLimit,
  type FewSearchResult,
  type SearchOptions,
  type SearchResult,
  searchChanges,
} from './search.ts';

export interface PolicyDiff {
  /** Sorted by seriousness, the most serious first. */
  readonly findings: readonly DiffFinding[];
  /**
   * By action, what keeps the findings from being proved complete; empty when all findings are proved to be
   * found.
   */
  readonly limits: readonly { readonly action: string; readonly limits: readonly DiffLimit[] }[];
  /** Keys of the actions that either side declares, sorted. */
  readonly actions: readonly string[];
  /** The actions among `actions` for which something that decides them has changed. */
  readonly compared: readonly string[];
  /** Meters that both sides declare, with different meanings. */
  readonly meters: readonly string[];
  /** The declarations that differ between the two sides, by kind. */
  readonly changed: ChangedDeclarations;
}

export interface DiffOptions {
  /** Requests that people know, such as those of tests; examples are made as close to them as possible. */
  readonly known?: readonly SampleFacts[] | undefined;
  /** The most findings for one action and one kind of difference; 25 by default. */
  readonly findingsMax?: number | undefined;
  /** The number of an action's rules from which most of them are left open at first. */
  readonly manyRules?: number | undefined;
}

const findingsMaxDefault = 25;

export function diffPolicies(before: PolicySet, after: PolicySet, options: DiffOptions = {}): PolicyDiff {
  const joint = jointSet(before, after);
  const actions = [...new Set([...before.actions.keys(), ...after.actions.keys()])].toSorted();
  const differing = actions.filter((action) => mayDiffer(joint, action));
  const results = differing.map((action) => ({ action, ...diffAction(joint, action, options) }));
  const findings = results.flatMap(({ action, changes: found }) =>
    found.map((one) => findingOf(joint, action, one)),
  );
  return {
    findings: joined(findings).toSorted((a, b) => a.tier - b.tier),
    limits: results.flatMap(({ action, limits }) => (limits.length === 0 ? [] : [{ action, limits }])),
    actions,
    compared: differing,
    meters: [...joint.changed.meters].filter((name) =>
      sides.every((side) => joint.original[side].meters.has(name)),
    ),
    changed: joint.changed,
  };
}

/** Whether something that decides the action has changed. */
function mayDiffer(joint: JointSet, action: string): boolean {
  const [old, now] = sides.map((side) => joint.original[side].actions.get(action));
  return !isAlike(old?.shape, now?.shape) || rulePairs(joint, action).some((rule) => !rule.isAlike);
}

function diffAction(
  joint: JointSet,
  action: string,
  { known = [], findingsMax, manyRules }: DiffOptions,
): SearchResult {
  const options: SearchOptions = {
    known: known
      .filter(({ facts }) => facts.action === action)
      .map(({ name, facts }) => ({ name, facts: jointFacts(joint, facts, { before: facts, after: facts }) })),
    findingsMax: findingsMax ?? findingsMaxDefault,
    changes: [],
    isComplete: () => false,
  };
  const all = jointRulesOf(joint, action, manyRules);
  let few = closeFewRules(all, manyRules);
  let changes: readonly DecisionChange[] = [];
  for (let round = 0; few.open.size > 0 && round < fewRounds; round += 1) {
    const { needed, ...result } = searchRules(few, { ...options, changes });
    if (needed.size === 0 && isSettled(result)) return result;
    if (needed.size === 0) break;
    changes = result.changes.filter(isKnownOfAll);
    few = withMoreClosed(few, needed);
  }
  return searchRules(all, { ...options, changes });
}

/**
 * Whether the finding stays true however many more rules are asked: it has an example, and all its causes are
 * rules.
 */
function isKnownOfAll({ example, causes }: DecisionChange): boolean {
  return example !== null && causes.every(({ rule }) => rule !== null);
}

/** The most searches with open rules; each starts from the findings of the search before. */
const fewRounds = 10;

/**
 * Whether asking more rules would change nothing: every finding has an example, and the search was limited at
 * most by the number of findings.
 */
function isSettled({ changes: found, limits }: SearchResult): boolean {
  return (
    limits.every((limit) => limit === 'too many findings') && found.every(({ example }) => example !== null)
  );
}

/**
 * Tries a coarse formula first, which guesses quantifiers. Most unchanged actions are already proved
 * unchanged by it, and for lists of any length.
 */
function searchRules(of: JointRules, options: SearchOptions): FewSearchResult {
  const rules = writtenRules(of);
  if (!readsLists(rules)) return searchChanges(createJointProblem(of, rules), options);
  const coarse = createJointProblem(of, rules, { isCoarse: true });
  if (!searchIsOpen(coarse)) return searchChanges(coarse, options);
  return searchChanges(createJointProblem(of, rules), {
    ...options,
    isComplete: (changes) => isCompleteCoarsely(coarse, changes),
  });
}

/**
 * Whether the findings are proved complete for lists of any length and payloads of any size. `coarse` is a
 * formula of the same action that guesses quantifiers, so that it covers every list. False means that nothing
 * is known.
 */
function isCompleteCoarsely(coarse: JointProblem, changes: readonly DecisionChange[]): boolean {
  // A finding caused by the shape has no terms that could rule it out of the formula.
  if (changes.some(({ causes }) => causes.some(({ rule }) => rule === null))) return false;
  const left = coarse.regions.map((region) => [
    region.literal,
    excludeFindings(coarse.ctx, findingsIn(region, changes)),
  ]);
  const proof = new FreshProof(coarse.ctx);
  return left.every((assumptions) => proof.cannotHold(assumptions) === true);
}

function searchIsOpen({ ctx, differs }: JointProblem): boolean {
  return solveFor(ctx, [differs]) !== false;
}

function readsLists({ rules }: WrittenRules): boolean {
  return sides.some((side) => rules[side].some(({ condition }) => hasQuantifier(condition)));
}

function hasQuantifier(expression: Expression): boolean {
  return expression.kind === 'quantify' || childrenOf(expression).some(hasQuantifier);
}

function findingOf(joint: JointSet, action: string, change: DecisionChange): DiffFinding {
  const { region, causes, terms, when, example, guessed } = change;
  const { tier, difference, from, to } = region;
  return {
    tier,
    difference,
    from,
    to,
    actions: [action],
    when,
    causes: causes.map((cause) => shownCause(joint, action, cause)),
    example,
    guessed,
    isMetBy: (request) => request.after.action === action && isOfRegion(joint, { region, terms }, request),
  };
}

function shownCause(joint: JointSet, action: string, { rule, change }: Cause): FindingCause {
  const side: DiffSide = change === 'gone' ? 'before' : 'after';
  const sideRule = rule?.[side] ?? null;
  if (sideRule === null) {
    const span = joint.original[side].actions.get(action)?.span ?? { file: '', start: 0, end: 0 };
    return { rule: null, change, span, side, reads: [] };
  }
  const raw = joint.original[side].policies
    .find(({ name }) => name === sideRule.policy)
    ?.rules.find(({ id }) => id === sideRule.id);
  const reads = raw === undefined || change !== 'changed' ? [] : changedReads(joint, side, raw.condition);
  return { rule: sideRule.id, change, span: sideRule.span, side, reads };
}

const readKindText: Readonly<Record<ReadKind, string>> = {
  lists: 'list',
  tables: 'table',
  hours: 'hours',
  lets: 'let',
  meters: 'meter',
};

/** The changed declarations that the condition reads, directly or through lets. */
function changedReads(
  joint: JointSet,
  side: DiffSide,
  condition: Parameters<typeof declarationsIn>[0],
): FindingCause['reads'] {
  const declarations = new Map<string, { readonly name: string; readonly span: Span | null }>();
  const open = [...declarationsIn(condition)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { kind, name } = next;
    if (!joint.changed[kind].has(name)) continue;
    const declared = kind === 'lets' ? joint.original[side].lets.get(name) : undefined;
    const label = `${readKindText[kind]} ${declared?.name ?? name}`;
    if (!declarations.has(label))
      declarations.set(label, { name: label, span: declared?.expression.span ?? null });
    if (declared !== undefined) open.push(...declarationsIn(declared.expression));
  }
  return [...declarations.values()];
}

/** Joins findings that are equal but for their actions into one. */
function joined(findings: readonly DiffFinding[]): readonly DiffFinding[] {
  const groups = Map.groupBy(findings, ({ tier, difference, from, to, when, causes, example }) =>
    JSON.stringify([
      tier,
      difference,
      from,
      to,
      when.toSorted(),
      causes.map(({ rule, change }) => [rule, change]),
      example === null,
    ]),
  );
  return [...groups.values()].map((group) => ({
    ...group[0]!,
    actions: [...new Set(group.flatMap(({ actions }) => actions))].toSorted(),
    isMetBy: (request: FindingRequest) => group.some((one) => one.isMetBy(request)),
  }));
}
