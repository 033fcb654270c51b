// Makes the changes of policies that may give a request what it lacks: for each obstacle a repair of a condition, or a
// rule or exception with the request's own values. A candidate is only a proposal; verify.ts tells whether it is right.

import { quoted } from '../../language/model/describe.ts';
import {
  type GuaranteeClause,
  isGuard,
  type PolicySet,
  type Requirement,
  type Rule,
} from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import type { Shape } from '../../language/model/type.ts';
import { resolveFacts } from '../../language/spec/payload.ts';
import type { PolicyDeclaration, RuleNode } from '../../language/syntax/tree/tree.ts';
import { type Obstacles, obstaclesTo, type SuggestGoal } from './obstacles.ts';
import { type Closeness, commonShape, ownCondition } from './own-condition.ts';
import { type RepairScope, repairsOf, together } from './repairs.ts';
import {
  declarationOf,
  exceptionInserted,
  type PolicyChange,
  policyInserted,
  ruleInserted,
  type SourceSet,
  written,
} from './source-edits.ts';

export interface CandidateInput {
  readonly source: SourceSet;
  readonly set: PolicySet;
  readonly facts: Facts;
}

const candidatesMax = 24;

/** How a condition takes the values of the request; `as guaranteed` adds what guarantees require of such requests. */
type OwnValues = Closeness | 'same, as guaranteed';

/** The candidates for one goal, without duplicates. */
export function candidatesFor(goal: SuggestGoal, input: CandidateInput): readonly PolicyChange[] {
  const obstacles = obstaclesTo(goal, input.set, input.facts);
  const at: RepairScope = { source: input.source, scope: obstacles.scope };
  const groups = optionGroups(goal, input, { obstacles, at });
  // One repair may overcome several obstacles, such as a `let` that two rules read.
  const repairs = groups.flatMap((group) => group.repairs);
  const own = (closeness: OwnValues): readonly PolicyChange[] =>
    together(groups.map((group) => group.own(closeness)));
  const mixed = groups.flatMap((group) => {
    const others = groups.filter((other) => other !== group).map((other) => other.own('same'));
    return group.repairs.flatMap((repair) => together([[repair], ...others]));
  });
  const all = [
    ...own('same'),
    ...own('same, as guaranteed'),
    ...repairs,
    ...own('similar'),
    ...together(groups.map((group) => group.repairs)),
    ...mixed,
  ];
  const unique = new Map(all.map((change) => [JSON.stringify(change.edits), change]));
  return [...unique.values()].slice(0, candidatesMax);
}

/** The ways to overcome one obstacle. */
interface OptionGroup {
  readonly repairs: readonly PolicyChange[];
  /** Changes by the request's own values. */
  readonly own: (closeness: OwnValues) => readonly PolicyChange[];
}

interface CandidateScope {
  readonly obstacles: Obstacles;
  readonly at: RepairScope;
}

function optionGroups(
  goal: SuggestGoal,
  input: CandidateInput,
  { obstacles, at }: CandidateScope,
): readonly OptionGroup[] {
  const { grants, guards } = obstacles;
  const ofGuards = guards.map((rule): OptionGroup => {
    return {
      repairs: repairsOf(rule.condition, false, at),
      own: (closeness) => exceptionsFor(input, rule, closeness),
    };
  });
  if (grants === null) return ofGuards;
  const ofGrant: OptionGroup = {
    repairs: grants.flatMap((rule) => repairsOf(rule.condition, true, at)),
    own: (closeness) => newRules(goal, input, closeness),
  };
  return [ofGrant, ...ofGuards];
}

// ---- the request's own values

/** An `unless` with the request's values, in the guard that stops the request. */
function exceptionsFor(
  { source, set, facts }: CandidateInput,
  { id, policy, name }: Rule,
  closeness: OwnValues,
): readonly PolicyChange[] {
  const node = ruleNode(source, policy, name);
  const actions = set.policies.find((one) => one.name === policy)?.actions ?? [];
  const shapes = actions.flatMap((key) => set.actions.get(key)?.shape ?? []);
  const condition = conditionOf({ source, set, facts, closeness, shape: commonShape(shapes) });
  if (node === null || condition === null) return [];
  const own = actions.length === 1 ? condition : `action.key == "${facts.action}" and ${condition}`;
  return [
    {
      kind: 'exception',
      edits: exceptionInserted(source, node, own),
      text: `adds an exception to \`${id}\`: ${own}`,
    },
  ];
}

/** An `allow` with the request's values: in a policy for this action alone, else in a policy of its own. */
function newRules(
  goal: SuggestGoal,
  { source, set, facts }: CandidateInput,
  closeness: OwnValues,
): readonly PolicyChange[] {
  const shape = set.actions.get(facts.action)?.shape;
  const condition = shape === undefined ? null : conditionOf({ source, set, facts, closeness, shape });
  const own = policiesOf(source, set, facts.action);
  const place = own.find(({ isAlone }) => isAlone) ?? own[0];
  if (condition === null || place === undefined) return [];
  const after = goal === 'ALLOW' ? '' : ` after approval by ${approversFor(set, facts.action)}`;
  const taken = new Set(place.node.rules.map((rule) => rule.name.text));
  const name = freeName(closeness === 'similar' ? 'similar_requests' : 'this_request', taken);
  const head = `allow ${name}${after}`;
  const edit = place.isAlone
    ? ruleInserted(source, place.node, { head, condition })
    : policyInserted(source, place.node, {
        name: freeName('exceptions', new Set(set.policies.map((policy) => policy.name))),
        action: facts.action,
        head,
        condition,
      });
  return [{ kind: 'rule', edits: [edit], text: `adds the rule \`${head}\`: ${condition}` }];
}

interface ConditionInput extends CandidateInput {
  readonly closeness: OwnValues;
  readonly shape: Shape;
}

function conditionOf({ closeness, shape, ...input }: ConditionInput): string | null {
  const { set, facts } = input;
  const isGuaranteed = closeness === 'same, as guaranteed';
  const own = { set, facts: resolveFacts(set, facts), closeness: isGuaranteed ? 'same' : closeness } as const;
  const condition = ownCondition(own, shape) ?? agentCondition(facts);
  if (condition === null || !isGuaranteed) return condition;
  const required = requiredByGuarantees(input);
  return required.length === 0 ? null : [condition, ...required].join(' and ');
}

/** The agent, for a request without values that can be compared. */
function agentCondition({ agent: { name, id } }: Facts): string | null {
  if (name !== undefined) return `agent.name == ${quoted(name)}`;
  return id === undefined ? null : `agent.id == ${quoted(id)}`;
}

/** The conditions under which no guarantee forbids to allow requests of the action, as the guarantees write them. */
function requiredByGuarantees({ source, set, facts }: CandidateInput): readonly string[] {
  const guarantees = set.guarantees.filter(({ actions }) => actions.includes(facts.action));
  const claims = guarantees.flatMap((guarantee) => guarantee.claims).filter(isAgainstAllow);
  const texts = claims.flatMap(({ when }) => {
    const text = when === null ? '' : written(source, when.span);
    if (when === null || text === '' || text.includes('#')) return [];
    // `allow only when` is written without the `not` that it means.
    const isOnly = when.kind === 'not' && !/^not\b|^no\b/.test(text);
    return [isOnly ? `(${text})` : `not (${text})`];
  });
  return [...new Set(texts)];
}

function isAgainstAllow({ mode, effect }: GuaranteeClause): boolean {
  if (effect === 'allow') return mode === 'never';
  return mode === 'always' && (effect === 'deny' || effect === 'escalate' || effect === 'reauth');
}

interface PolicyPlace {
  readonly node: PolicyDeclaration;
  /** Whether the policy is about this action alone, without a condition of its own. */
  readonly isAlone: boolean;
}

/** The policies about an action, those that grant first. */
function policiesOf(source: SourceSet, set: PolicySet, action: string): readonly PolicyPlace[] {
  return set.policies
    .filter(({ actions }) => actions.includes(action))
    .toSorted(
      (a, b) =>
        Number(b.rules.some(isGrant)) - Number(a.rules.some(isGrant)) || a.actions.length - b.actions.length,
    )
    .flatMap(({ name, actions }) => {
      const node = declarationOf(source, 'policy', name);
      if (node === null) return [];
      return [{ node, isAlone: actions.length === 1 && node.when === null && !node.isShadow }];
    });
}

function isGrant({ effect }: Rule): boolean {
  return effect === 'allow';
}

function ruleNode(source: SourceSet, policy: string, name: string): RuleNode | null {
  return declarationOf(source, 'policy', policy)?.rules.find((rule) => rule.name.text === name) ?? null;
}

/** The group that rules of the action ask most often; the owner of the agent when they ask nobody. */
function approversFor({ policies }: PolicySet, action: string): string {
  const rules = policies.filter(({ actions }) => actions.includes(action)).flatMap((policy) => policy.rules);
  const asked = rules
    .filter((rule) => isGrant(rule) || isGuard(rule))
    .flatMap(({ requirement }) => groupsOf(requirement));
  const counts = Map.groupBy(asked, (group) => group);
  return [...counts].toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? 'owner';
}

function groupsOf(requirement: Requirement | null): readonly string[] {
  if (requirement?.kind !== 'approval') return [];
  const { groups, choices = [] } = requirement;
  return groups.filter((group) => !choices.some(({ text }) => text === group));
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let at = 2; taken.has(free); at += 1) free = `${name}_${at}`;
  return free;
}
