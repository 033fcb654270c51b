// Runs the warning rules, which find what is legal but probably not meant; each rule has its own file. Rules
// about one policy, meter, guarantee or let run again only when the part, or what it rests on, has changed.
// Rules about the whole set run in every check of a set without errors.

import type { Expression } from '../../model/expression.ts';
import type { PolicySet } from '../../model/policy.ts';
import type { PolicyFile } from '../../syntax/tree/tree.ts';
import type { Environment } from '../incremental/environment.ts';
import { memoized, memoizedMerged } from '../incremental/memoized.ts';
import type { ResolvedPolicy } from '../incremental/resolved.ts';
import type { ValueOfLet } from '../logic/constants.ts';
import { lazily } from './engine/lazily.ts';
import { memoizedForRules } from './engine/memoized-for-rules.ts';
import { type RuleInPolicy, ruleInPolicy } from './engine/rule-in-policy.ts';
import type { ConditionScope, ExaminedRule, GroupRule, ListRead } from './engine/rule-subjects.ts';
import {
  groupsByActions,
  groupsOf,
  inOrder,
  type MergedGroups,
  mergeGroups,
  type RuleGroup,
  rulesByActions,
} from './engine/rules-by-actions.ts';
import { constantConditions } from './rules/constant-conditions.ts';
import { currencyNeverEqual } from './rules/currency-never-equal.ts';
import { currencyUntested } from './rules/currency-untested.ts';
import { denyListExact } from './rules/deny-list-exact.ts';
import { everyOverEmpty } from './rules/every-over-empty.ts';
import { guardStopsShort } from './rules/guard-stops-short.ts';
import { guardWithoutAllow } from './rules/guard-without-allow.ts';
import { limitPerSession } from './rules/limit-per-session.ts';
import { lineBreaks } from './rules/line-breaks.ts';
import { listsCovering } from './rules/lists-covering.ts';
import {
  mixedScriptInConditions,
  mixedScriptInDeclarations,
  mixedScriptInText,
} from './rules/mixed-script.ts';
import { openAllows } from './rules/open-allows.ts';
import { patternDotOpen } from './rules/pattern-dot-open.ts';
import { patternMistaken } from './rules/pattern-mistaken.ts';
import { placeholderUnread } from './rules/placeholder-unread.ts';
import { riskNeverReached } from './rules/risk-never-reached.ts';
import { ruleDuplicated } from './rules/rule-duplicated.ts';
import { ruleImplied } from './rules/rule-implied.ts';
import { ruleNeverDecides } from './rules/rule-never-decides.ts';
import { spellingNeverMet } from './rules/spelling-never-met.ts';
import { standingPerAgent } from './rules/standing-per-agent.ts';
import { stringAsAddress } from './rules/string-as-address.ts';
import { textUnanchored } from './rules/text-unanchored.ts';
import { unusedDeclaration } from './rules/unused-declaration.ts';
import { metersLowered, upperBoundAlone } from './rules/upper-bound-alone.ts';
import { entriesNeverEqual, listReadsIn, literalsNeverEqual } from './rules/value-never-equal.ts';
import { valueNeverGranted } from './rules/value-never-granted.ts';

const rulesOfParts: readonly ((examined: ConditionScope) => void)[] = [
  openAllows,
  constantConditions,
  upperBoundAlone,
  textUnanchored,
  spellingNeverMet,
  mixedScriptInConditions,
  everyOverEmpty,
  denyListExact,
  currencyNeverEqual,
  currencyUntested,
  listsCovering,
  literalsNeverEqual,
  patternDotOpen,
  patternMistaken,
  placeholderUnread,
  lineBreaks,
  stringAsAddress,
  standingPerAgent,
];

const rulesOfSets: readonly ((checked: ExaminedRule) => void)[] = [
  unusedDeclaration,
  mixedScriptInDeclarations,
  valueNeverGranted,
  entriesNeverEqual,
  riskNeverReached,
  metersLowered,
];

const rulesOfGroups: readonly ((checked: ExaminedRule) => GroupRule)[] = [
  guardWithoutAllow,
  ruleNeverDecides,
  ruleDuplicated,
  limitPerSession,
  ruleImplied,
  guardStopsShort,
];

export interface WarningInput {
  readonly set: PolicySet;
  readonly files: readonly PolicyFile[];
  readonly env: Environment;
  /** The policies of each file, with their declarations. */
  readonly policies: readonly (readonly ResolvedPolicy[])[];
  readonly used: ReadonlySet<string>;
}

/** What the rules about the whole set need of one part. */
interface Findings {
  readonly enforced: readonly RuleInPolicy[];
  readonly listReads: readonly ListRead[];
}

/** What the rules about the whole set need of one file's policies, or of everything that is no policy. */
interface Contribution {
  readonly groups: readonly RuleGroup<RuleInPolicy>[];
  readonly riskReaders: readonly RuleInPolicy[];
  readonly listReads: readonly ListRead[];
}

export function warn({ set, files, env, policies, used }: WarningInput): void {
  const contributions = [...policies.map((some) => examineFile(some, env)), examineOthers(set, env)];
  const grouped = groupsByActions(groupsOfAll(contributions, env.checkState));
  const checked: ExaminedRule = {
    set,
    files,
    env,
    valueOfLet: (id) => set.lets.get(id)?.expression,
    rules: lazily(() => inOrder(grouped.groups)),
    riskReaders: contributions.flatMap(({ riskReaders }) => riskReaders),
    rulesByAction: grouped,
    listReads: contributions.flatMap(({ listReads }) => listReads),
    used,
    indices: env.checkState.indices,
  };
  for (const rule of rulesOfSets) rule(checked);
  const rulesOverAll = lazily(() => rulesOfGroups.map((rule) => rule(checked)));
  for (const group of grouped.groups) {
    const overlapping = grouped.overlapping(group.actions);
    memoizedForRules(env, group.actions, overlapping, () => {
      for (const rule of rulesOver(overlapping, checked) ?? rulesOverAll()) rule(group);
    });
  }
}

/**
 * Warns of policies without errors in a set with errors. Only rules that read one policy at a time run: the
 * others would report what the parts in error are there for.
 */
export function warnOfPolicies(policies: readonly ResolvedPolicy[], env: Environment): void {
  for (const one of policies) examinePolicy(one, env);
}

function groupsOfAll(
  contributions: readonly Contribution[],
  checkState: Environment['checkState'],
): readonly RuleGroup<RuleInPolicy>[] {
  // Only this function stores `groups`.
  const before = checkState.groups as MergedGroups<RuleInPolicy> | null;
  const merged = mergeGroups(
    contributions.map(({ groups }) => groups),
    before ?? new Map(),
  );
  checkState.groups = merged;
  return [...merged.values()].map(({ group }) => group);
}

const rulesIndexedMax = 512;

/**
 * Returns the rules for a group, made over the groups that share an action with it, so that no other rules
 * need to be indexed; null when these groups have more than 512 rules.
 */
function rulesOver(
  groups: readonly RuleGroup<RuleInPolicy>[],
  checked: ExaminedRule,
): readonly GroupRule[] | null {
  if (groups.reduce((count, { rules }) => count + rules.length, 0) > rulesIndexedMax) return null;
  const rules = inOrder(groups);
  const overGroups: ExaminedRule = {
    ...checked,
    rules: () => rules,
    rulesByAction: rulesByActions(rules),
    indices: new Map(),
  };
  return rulesOfGroups.map((rule) => rule(overGroups));
}

/** Examines the policies of a file, sorted by name. */
function examineFile(policies: readonly ResolvedPolicy[], env: Environment): Contribution {
  return memoizedMerged(env, policies, () => {
    const sorted = policies.toSorted((a, b) => (a.policy.name < b.policy.name ? -1 : 1));
    return contributionOf(sorted.map((one) => examinePolicy(one, env)));
  });
}

function examinePolicy(resolved: ResolvedPolicy, env: Environment): Findings {
  const { policy } = resolved;
  const conditions = policy.rules.map(({ condition }) => condition);
  return memoized(env, policy, () => examine(conditions, env, resolved));
}

function examineOthers({ lets, meters, guarantees }: PolicySet, env: Environment): Contribution {
  return contributionOf([
    ...[...lets.values()].map((one) => memoized(env, one, () => examineLet(one.expression, env))),
    ...[...meters.values()].map((meter) => memoized(env, meter, () => examine(nonNull([meter.when]), env))),
    ...guarantees.map((one) =>
      memoized(env, one, () => examine(nonNull(one.claims.map(({ when }) => when)), env)),
    ),
  ]);
}

function contributionOf(findings: readonly Findings[]): Contribution {
  const enforced = findings.flatMap((one) => one.enforced);
  return {
    groups: groupsOf(enforced),
    riskReaders: enforced.filter(({ riskTests }) => riskTests.length > 0),
    listReads: findings.flatMap(({ listReads }) => listReads),
  };
}

function nonNull(conditions: readonly (Expression | null)[]): readonly Expression[] {
  return conditions.filter((condition) => condition !== null);
}

function examine(
  conditions: readonly Expression[],
  env: Environment,
  of: ResolvedPolicy | null = null,
): Findings {
  const valueOfLet = letsAskedFor(env);
  const enforced = of === null ? [] : enforcedRules(of, env, valueOfLet);
  const examined: ConditionScope = {
    env,
    valueOfLet,
    conditions,
    declaration: of?.declaration ?? null,
    enforced,
  };
  for (const rule of rulesOfParts) rule(examined);
  return { enforced, listReads: conditions.flatMap(listReadsIn) };
}

/**
 * Examines a let only for spellings, texts and lists: conditions in a let are examined where the let is read.
 */
function examineLet(expression: Expression, env: Environment): Findings {
  const examined: ConditionScope = {
    env,
    valueOfLet: letsAskedFor(env),
    conditions: [expression],
    declaration: null,
    enforced: [],
  };
  spellingNeverMet(examined);
  mixedScriptInText(examined);
  literalsNeverEqual(examined);
  return { enforced: [], listReads: listReadsIn(expression) };
}

/** Returns a function that gives the values of lets and records that the findings rest on them. */
function letsAskedFor(env: Environment): ValueOfLet {
  const sides = { whereTrue: new Map(), whereFalse: new Map() };
  return Object.assign((id: string) => env.query('letValue', id), { known: sides });
}

function enforcedRules(
  { policy, declaration }: ResolvedPolicy,
  env: Environment,
  valueOfLet: ValueOfLet,
): readonly RuleInPolicy[] {
  const names = new Map(declaration.rules.map(({ name }) => [name.text, name.span]));
  return policy.rules
    .filter(({ isShadow }) => !isShadow)
    .map((rule) => ruleInPolicy(rule, policy, names.get(rule.name) ?? rule.span, { env, valueOfLet }));
}
