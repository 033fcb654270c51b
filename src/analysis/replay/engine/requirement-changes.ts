// What two decisions with the same outcome ask differently, in phrases such as "asks finance as well".

import { whomText } from '../../../language/model/approvers.ts';
import type {
  ApprovalRequirement,
  Decision,
  Requirements,
  ResolvedFallback,
} from '../../../language/model/decision.ts';
import { fromNumber } from '../../../language/value/decimal.ts';
import { formatDuration } from '../../../language/value/time.ts';

/** Empty if the outcomes differ, or nothing that is asked does. */
export function changedRequirements(before: Decision, now: Decision): readonly string[] {
  if (before.outcome !== now.outcome) return [];
  const [old, young] = [approvalsOf(before.requires), approvalsOf(now.requires)];
  const names = [...new Set([...old.keys(), ...young.keys()])];
  return [
    ...names.flatMap((name) => phrasesOf(name, old.get(name), young.get(name))),
    ...stepUpPhrases(before.requires?.reauth ?? null, now.requires?.reauth ?? null),
  ];
}

/** The approvals by whom they ask at once; of several that ask the same, the others are named in full. */
function approvalsOf(requires: Requirements | null): ReadonlyMap<string, ApprovalRequirement> {
  const named = new Map<string, ApprovalRequirement>();
  for (const approval of requires?.approvals ?? []) {
    const name = nameOf(approval);
    named.set(named.has(name) ? approval.group : name, approval);
  }
  return named;
}

/** The text of the requirement without its fallbacks. */
function nameOf({ group, anyOf, fallbacks = [] }: ApprovalRequirement): string {
  return anyOf === undefined || fallbacks.length === 0
    ? groupName(group)
    : whomText({ group, anyOf }, groupName);
}

function groupName(group: string): string {
  return group === 'owner' ? 'the control owner' : group;
}

function phrasesOf(
  name: string,
  before: ApprovalRequirement | undefined,
  now: ApprovalRequirement | undefined,
): readonly string[] {
  if (before === undefined && now === undefined) return [];
  if (now === undefined) return [`no longer asks ${name}`];
  if (before === undefined)
    return [`asks ${countOf(now.needs)}${name} as well`, ...fallbackPhrases([], now.fallbacks)];
  return [
    ...(before.needs === now.needs ? [] : [`asks ${now.needs} of ${name} instead of ${before.needs}`]),
    ...(before.withinSeconds === now.withinSeconds
      ? []
      : [
          `gives ${name} ${durationText(now.withinSeconds)} instead of ${durationText(before.withinSeconds)}`,
        ]),
    ...fallbackPhrases(before.fallbacks, now.fallbacks),
    ...exceptPhrases(name, before.except ?? [], now.except ?? []),
  ];
}

function fallbackPhrases(
  before: readonly ResolvedFallback[] = [],
  now: readonly ResolvedFallback[] = [],
): readonly string[] {
  const [old, young] = [fallbackTimes(before), fallbackTimes(now)];
  return [...new Set([...old.keys(), ...young.keys()])].flatMap((whom) => {
    const [was, is] = [old.get(whom), young.get(whom)];
    if (was === is) return [];
    if (is === undefined) return [`no longer asks ${whom} after ${durationText(was!)}`];
    return [
      `asks ${whom} after ${durationText(is)}${was === undefined ? '' : ` instead of ${durationText(was)}`}`,
    ];
  });
}

function fallbackTimes(fallbacks: readonly ResolvedFallback[]): ReadonlyMap<string, number> {
  return new Map(
    fallbacks.map(({ anyOf, afterSeconds }) => [whomText({ group: '', anyOf }, groupName), afterSeconds]),
  );
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
