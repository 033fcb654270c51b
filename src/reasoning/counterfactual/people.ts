// The changes that people can make to a decision that waits for them: approve, step up, or both.

import type { Decision, Requirements } from '../../language/model/decision.ts';
import type { PolicySet, Rule } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import type { ChangePlace } from './places.ts';

/** One place for each requirement that people can satisfy; none if the decision requires nobody. */
export function peoplePlaces(set: PolicySet, decision: Decision): readonly ChangePlace[] {
  const { requires } = decision;
  if (requires === null) return [];
  const rules = set.policies
    .flatMap((policy) => policy.rules)
    .filter(({ id }) => decision.rules.includes(id));
  const approved = rules.filter((rule) => isApproved(rule, requires)).map(({ id }) => id);
  const steppedUp = rules.filter(({ requirement }) => requirement?.kind === 'reauth').map(({ id }) => id);
  const approval = requires.approvals.map(({ group, needs }) => `${group} (${people(needs)})`).join(' and ');
  const isOnePerson = requires.approvals.length === 1 && requires.approvals[0]?.needs === 1;
  const verb = isOnePerson ? 'approves' : 'approve';
  const approve = approval === '' ? [] : [{ name: `${approval} ${verb}`, escalate: approved, reauth: [] }];
  const stepUp =
    requires.reauth === null
      ? []
      : [{ name: "the agent's control owner steps up", escalate: [], reauth: steppedUp }];
  const both = [...approve, ...stepUp];
  const together = {
    name: both.map(({ name }) => name).join(' and '),
    escalate: both.flatMap(({ escalate }) => escalate),
    reauth: both.flatMap(({ reauth }) => reauth),
  };
  return (both.length > 1 ? [...both, together] : both).map(peoplePlace);
}

function people(needs: number): string {
  return needs === 1 ? '1 person' : `${needs} people`;
}

/**
 * Whether the required approvals satisfy a rule: it asks only their groups, and no more people than they
 * need.
 */
function isApproved({ requirement }: Rule, { approvals }: Requirements): boolean {
  return (
    requirement?.kind === 'approval' &&
    requirement.groups.every((asked) =>
      approvals.some(({ group, needs }) => group === asked && requirement.needs <= needs),
    )
  );
}

interface Act {
  readonly name: string;
  readonly escalate: readonly string[];
  readonly reauth: readonly string[];
}

function peoplePlace({ name, escalate, reauth }: Act): ChangePlace {
  const apply = (facts: Facts): Facts => ({
    ...facts,
    satisfied: {
      escalate: [...facts.satisfied.escalate, ...escalate],
      reauth: [...facts.satisfied.reauth, ...reauth],
    },
  });
  const candidates = [{ apply, at: null, named: null, entry: null }];
  return { subject: 'people', key: 'satisfied', name, scale: null, candidates };
}
