// Two policy sets compared: every kind of request that they decide otherwise, the loosest first, and the proof that there
// is no other. An action of which nothing has changed is not asked about.

import type { Span } from '../../language/diagnostic/span.ts';
import { childrenOf } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { solveFor } from '../prove/search.ts';
import type { Cause } from './causes.ts';
import { type ChangedDeclarations, declarationsIn, isAlike, type ReadKind } from './declarations.ts';
import {
  fewAtFirst,
  type JointRules,
  rulePairs,
  rulesAsked,
  type WrittenRules,
  withMoreAsked,
  writtenRules,
} from './few-rules.ts';
import {
  type AskedRequest,
  type DiffFinding,
  elsewhereThanAll,
  type FindingCause,
  isOfRegion,
  jointFacts,
} from './finding.ts';
import { FreshProof } from './fresh-proof.ts';
import { createJointProblem, type JointProblem } from './joint-problem.ts';
import { type DiffSide, type JointSet, jointSet, sides } from './joint-set.ts';
import type { KnownRequest } from './nearest.ts';
import { foundIn } from './regions.ts';
import {
  type DiffLimit,
  type FewSearchResult,
  type FoundChange,
  type SearchOptions,
  type SearchResult,
  searchChanges,
} from './search.ts';

export interface PolicyDiff {
  /** The most serious first. */
  readonly findings: readonly DiffFinding[];
  /** Where the findings are not proved to be all, by action. */
  readonly limits: readonly { readonly action: string; readonly limits: readonly DiffLimit[] }[];
  /** Keys of the actions of either side, sorted. */
  readonly actions: readonly string[];
  /** Of these, those of which something that decides them has changed. */
  readonly asked: readonly string[];
  /** Meters of both that say something else. */
  readonly meters: readonly string[];
  /** What says something else on the two sides, by kind. */
  readonly changed: ChangedDeclarations;
}

export interface DiffOptions {
  /** Requests that people know, such as those of tests. */
  readonly known?: readonly KnownRequest[] | undefined;
  /** Findings of one action and one pair of decisions. */
  readonly findingsMax?: number | undefined;
  /** From how many rules of an action on most of them are left open at first. */
  readonly manyRules?: number | undefined;
}

const findingsMaxDefault = 25;

export function diffPolicies(before: PolicySet, after: PolicySet, options: DiffOptions = {}): PolicyDiff {
  const joint = jointSet(before, after);
  const actions = [...new Set([...before.actions.keys(), ...after.actions.keys()])].toSorted();
  const asked = actions.filter((action) => mayDiffer(joint, action));
  const results = asked.map((action) => ({ action, ...diffAction(joint, action, options) }));
  const findings = results.flatMap(({ action, found }) => found.map((one) => findingOf(joint, action, one)));
  return {
    findings: joined(findings).toSorted((a, b) => a.tier - b.tier),
    limits: results.flatMap(({ action, limits }) => (limits.length === 0 ? [] : [{ action, limits }])),
    actions,
    asked,
    meters: [...joint.changed.meters].filter((name) =>
      sides.every((side) => joint.original[side].meters.has(name)),
    ),
    changed: joint.changed,
  };
}

/** Whether something that decides the action is not as it was. */
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
    found: [],
    isComplete: () => false,
  };
  const all = rulesAsked(joint, action, manyRules);
  let few = fewAtFirst(all, manyRules);
  let found: readonly FoundChange[] = [];
  for (let round = 0; few.open.size > 0 && round < fewRounds; round += 1) {
    const { needed, ...result } = searchRules(few, { ...options, found });
    if (needed.size === 0 && isSettled(result)) return result;
    if (needed.size === 0) break;
    found = result.found.filter(isKnownOfAll);
    few = withMoreAsked(few, needed);
  }
  return searchRules(all, { ...options, found });
}

/** It is so whatever is asked of other rules, and is told in terms of rules alone. */
function isKnownOfAll({ example, causes }: FoundChange): boolean {
  return example !== null && causes.every(({ rule }) => rule !== null);
}

/** Each goes on from what those before it have found. */
const fewRounds = 10;

/** All that is left to be known is known: what more rules would say changes nothing. */
function isSettled({ found, limits }: SearchResult): boolean {
  return (
    limits.every((limit) => limit === 'too many findings') && found.every(({ example }) => example !== null)
  );
}

/** Coarse first: most of what is not changed is so whatever quantifiers say, and then for lists of any length. */
function searchRules(of: JointRules, options: SearchOptions): FewSearchResult {
  const rules = writtenRules(of);
  if (!readsLists(rules)) return searchChanges(createJointProblem(of, rules), options);
  const coarse = createJointProblem(of, rules, { isCoarse: true });
  if (!searchIsOpen(coarse)) return searchChanges(coarse, options);
  return searchChanges(createJointProblem(of, rules), {
    ...options,
    isComplete: (found) => isCompleteCoarsely(coarse, found),
  });
}

/**
 * Whether the findings are all that there are for lists of any length and payloads of any size. `coarse` is made of the same action,
 * with guesses for quantifiers, so that it is about every list. False: it is not known.
 */
function isCompleteCoarsely(coarse: JointProblem, found: readonly FoundChange[]): boolean {
  // What is said of shapes is in no term.
  if (found.some(({ causes }) => causes.some(({ rule }) => rule === null))) return false;
  const left = coarse.regions.map((region) => [
    region.literal,
    elsewhereThanAll(coarse.ctx, foundIn(region, found)),
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

function findingOf(joint: JointSet, action: string, found: FoundChange): DiffFinding {
  const { region, causes, terms, when, example, guessed } = found;
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
    isMetBy: (asked) => asked.after.action === action && isOfRegion(joint, { region, terms }, asked),
  };
}

function shownCause(joint: JointSet, action: string, { rule, change }: Cause): FindingCause {
  const side: DiffSide = change === 'gone' ? 'before' : 'after';
  const own = rule?.[side] ?? null;
  if (own === null) {
    const span = joint.original[side].actions.get(action)?.span ?? { file: '', start: 0, end: 0 };
    return { rule: null, change, span, side, reads: [] };
  }
  const raw = joint.original[side].policies
    .find(({ name }) => name === own.policy)
    ?.rules.find(({ id }) => id === own.id);
  const reads = raw === undefined || change !== 'changed' ? [] : changedReads(joint, side, raw.condition);
  return { rule: own.id, change, span: own.span, side, reads };
}

const kindWords: Readonly<Record<ReadKind, string>> = {
  lists: 'list',
  tables: 'table',
  hours: 'hours',
  lets: 'let',
  meters: 'meter',
};

/** What the condition reads, directly or through lets, and that changed. */
function changedReads(
  joint: JointSet,
  side: DiffSide,
  condition: Parameters<typeof declarationsIn>[0],
): FindingCause['reads'] {
  const found = new Map<string, { readonly name: string; readonly span: Span | null }>();
  const open = [...declarationsIn(condition)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { kind, name } = next;
    if (!joint.changed[kind].has(name)) continue;
    const declared = kind === 'lets' ? joint.original[side].lets.get(name) : undefined;
    const shown = `${kindWords[kind]} ${declared?.name ?? name}`;
    if (!found.has(shown)) found.set(shown, { name: shown, span: declared?.expression.span ?? null });
    if (declared !== undefined) open.push(...declarationsIn(declared.expression));
  }
  return [...found.values()];
}

/** Findings that say the same of several actions are one. */
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
    isMetBy: (asked: AskedRequest) => group.some((one) => one.isMetBy(asked)),
  }));
}
