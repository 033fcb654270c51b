// What two decisions with the same outcome ask differently, in phrases such as "asks finance as well".

import type { ApprovalRequirement, Decision, Requirements } from '../../../language/model/decision.ts';
import { fromNumber } from '../../../language/value/decimal.ts';
import { formatDuration } from '../../../language/value/time.ts';

/** Empty if the outcomes differ, or nothing that is asked does. */
export function changedRequirements(before: Decision, now: Decision): readonly string[] {
  if (before.outcome !== now.outcome) return [];
  const [old, young] = [approvalsOf(before.requires), approvalsOf(now.requires)];
  const groups = [...new Set([...old.keys(), ...young.keys()])];
  return [
    ...groups.flatMap((group) => phrasesOf(group, old.get(group), young.get(group))),
    ...stepUpPhrases(before.requires?.reauth ?? null, now.requires?.reauth ?? null),
  ];
}

function approvalsOf(requires: Requirements | null): ReadonlyMap<string, ApprovalRequirement> {
  return new Map((requires?.approvals ?? []).map((approval) => [approval.group, approval]));
}

function phrasesOf(
  group: string,
  before: ApprovalRequirement | undefined,
  now: ApprovalRequirement | undefined,
): readonly string[] {
  const name = group === 'owner' ? 'the control owner' : group;
  if (before === undefined && now === undefined) return [];
  if (now === undefined) return [`no longer asks ${name}`];
  if (before === undefined) return [`asks ${countOf(now.needs)}${name} as well`];
  return [
    ...(before.needs === now.needs ? [] : [`asks ${now.needs} of ${name} instead of ${before.needs}`]),
    ...(before.withinSeconds === now.withinSeconds
      ? []
      : [
          `gives ${name} ${durationText(now.withinSeconds)} instead of ${durationText(before.withinSeconds)}`,
        ]),
    ...exceptPhrases(name, before.except ?? [], now.except ?? []),
  ];
}

function exceptPhrases(name: string, before: readonly string[], now: readonly string[]): readonly string[] {
  const added = now.filter((person) => !before.includes(person));
  const removed = before.filter((person) => !now.includes(person));
  return [
    ...(added.length === 0 ? [] : [`asks nobody of ${name} whom ${added.join(' or ')} names`]),
    ...(removed.length === 0 ? [] : [`lets people of ${name} answer whom ${removed.join(' or ')} names`]),
  ];
}

function stepUpPhrases(before: Requirements['reauth'], now: Requirements['reauth']): readonly string[] {
  if (now === null) return before === null ? [] : ['no longer asks for a step-up'];
  if (before === null) return ['asks for a step-up as well'];
  if (before.withinSeconds === now.withinSeconds) return [];
  return [`accepts ${stepUpAge(now.withinSeconds)} instead of ${stepUpAge(before.withinSeconds)}`];
}

function stepUpAge(seconds: number | null): string {
  return seconds === null
    ? 'a step-up only for this request'
    : `a step-up of the last ${durationText(seconds)}`;
}

function countOf(needs: number): string {
  return needs === 1 ? '' : `${needs} of `;
}

function durationText(seconds: number): string {
  return formatDuration(fromNumber(seconds));
}
