// Summarises a policy set for everything outside of decisions: names, owners, counts. The summary is plain
// data and small, so that it moves between threads at little cost.

import { hash } from 'node:crypto';
import { mapChoices } from '../../language/model/approvers.ts';
import {
  type Approvers,
  countRules,
  type Effect,
  type Policy,
  type PolicySet,
  type Requirement,
} from '../../language/model/policy.ts';
import type { RuleRequirement } from '../../language/model/rule-requirement.ts';
import { meterDefinitions } from '../../language/program/plan/meters.ts';
import { memo } from '../../language/value/memo.ts';
import { sha256 } from '../../pipeline.ts';
import { type SetNeeds, setNeedsOf } from './set-needs.ts';

export interface SetSummary {
  /** Keys of the declared actions, sorted. */
  readonly actions: readonly string[];
  /** Number of rules in the set. */
  readonly rules: number;
  readonly policies: readonly PolicySummary[];
  readonly approvers: readonly Approvers[];
  readonly meters: readonly MeterSummary[];
  /** The rules, each by policy and name. */
  readonly ruleNames: readonly RuleSummary[];
  /** The enforced rules that ask something of people. */
  readonly asks: readonly RuleRequirement[];
  readonly needs: SetNeeds;
}

export interface MeterSummary {
  readonly name: string;
  /** The id of its definition, under which it is counted. */
  readonly definition: string;
}

export interface PolicySummary {
  readonly name: string;
  readonly owner: string | null;
  readonly doc: string | null;
  readonly rules: number;
  /** Relative to the policy directory. */
  readonly file: string;
}

export interface RuleSummary {
  readonly policy: string;
  readonly name: string;
  readonly effect: Effect;
  readonly isShadow: boolean;
  /** Relative to the policy directory. */
  readonly file: string;
}

/** The summary as JSON. The part of a policy that has not changed is reused. */
export function summaryJson(set: PolicySet): string {
  const { actions, policies, approvers } = set;
  const parts = policies.map((policy) => memo(written, policy, write));
  return `{
    "actions": ${JSON.stringify([...actions.keys()].toSorted())},
    "rules": ${countRules(policies)},
    "policies": ${joined(parts.map(({ policy }) => policy))},
    "approvers": ${JSON.stringify([...approvers.values()])},
    "meters": ${JSON.stringify(metersOf(set))},
    "ruleNames": ${joined(parts.map(({ ruleNames }) => ruleNames))},
    "asks": ${joined(parts.map(({ asks }) => asks))},
    "needs": ${JSON.stringify(setNeedsOf(set))}
  }`;
}

function metersOf(set: PolicySet): readonly MeterSummary[] {
  const definitions = meterDefinitions(set, sha256);
  return [...definitions].map(([name, { id }]) => ({ name, definition: id }));
}

/** The enforced rules of the policy that ask something of people. */
export function rulesWithRequirement({ rules }: Policy): readonly RuleRequirement[] {
  return rules.flatMap(({ id: rule, isShadow, requirement, conditionText }) =>
    requirement === null || isShadow
      ? []
      : [{ rule, ...withoutExpressions(requirement), conditionDigest: hash('sha256', conditionText) }],
  );
}

/** Approvals are counted by the approvers that a decision names, so how they are named is left out. */
function withoutExpressions(requirement: Requirement): Requirement<string> {
  if (requirement.kind !== 'approval' || requirement.choices === undefined)
    return requirement as Requirement<string>;
  return { ...requirement, choices: mapChoices(requirement.choices, () => '') };
}

/** The parts of the summary about one policy, in JSON; `ruleNames` and `asks` are lists without brackets. */
interface PolicyJson {
  readonly policy: string;
  readonly ruleNames: string;
  readonly asks: string;
}

/** A policy never changes, and compiling keeps the object of a policy whose text has not changed. */
const written = new WeakMap<Policy, PolicyJson>();

function write(of: Policy): PolicyJson {
  const { name, owner, doc, rules, span } = of;
  const policy: PolicySummary = { name, owner, doc, rules: rules.length, file: span.file };
  const ruleNames = rules.map(
    ({ name: rule, effect, isShadow, span: { file } }): RuleSummary => ({
      policy: name,
      name: rule,
      effect,
      isShadow,
      file,
    }),
  );
  return {
    policy: JSON.stringify(policy),
    ruleNames: entries(ruleNames),
    asks: entries(rulesWithRequirement(of)),
  };
}

/** A JSON list without the brackets around it. */
function entries(all: readonly object[]): string {
  return JSON.stringify(all).slice(1, -1);
}

function joined(all: readonly string[]): string {
  return `[${all.filter((one) => one !== '').join(',')}]`;
}
