// A policy diff in the words of `writ diff`.

import type { Reply } from '../../../api/operations.ts';
import type { IconName } from '../layout/icon.tsx';

export type DiffReply = Reply<'diffPolicies'>;

export type PolicyDiff = NonNullable<DiffReply['diff']>;
export type DiffFinding = PolicyDiff['findings'][number];
export type DiffExample = NonNullable<DiffFinding['example']>;
export type DiffCause = DiffFinding['causes'][number];

interface Kind {
  readonly word: string;
  readonly icon: IconName;
  readonly tone: 'allow' | 'escalate' | 'unknown';
}

const kinds = {
  loosened: { word: 'Loosened', icon: 'unlocked', tone: 'escalate' },
  stricter: { word: 'Stricter', icon: 'locked', tone: 'allow' },
  reworded: { word: 'Another rule', icon: 'policy', tone: 'unknown' },
  undecided: { word: 'Undecided', icon: 'unknown', tone: 'unknown' },
} as const satisfies Readonly<Record<DiffFinding['direction'], Kind>>;

export function kindOf({ direction }: Pick<DiffFinding, 'direction'>): Kind {
  return kinds[direction];
}

/** What sets two decisions apart beyond the names of their outcomes; empty when the names say everything. */
export function differenceText({ difference, tier }: Pick<DiffFinding, 'difference' | 'tier'>): string {
  const isLoose = tier < 5;
  switch (difference) {
    case 'outcome':
      return tier === 4 ? 'refused before any rule until now' : '';
    case 'people':
      return isLoose ? 'by fewer or other people or later' : 'by more people or sooner';
    case 'time':
      return isLoose ? 'for longer' : 'for a shorter time';
    case 'rule':
      return 'as before, by another rule';
  }
}

/** A finding in one line. */
export function findingLine(finding: DiffFinding): string {
  const { from, to, actions, when } = finding;
  const turn = from === to ? from : `${from} → ${to}`;
  const where = when.length === 0 ? '' : ` when \`${when.join(' and ')}\``;
  const more = differenceText(finding);
  return `${kindOf(finding).word}: ${turn} for ${actions.join(', ')}${where}${more === '' ? '' : `, ${more}`}`;
}

export function causeText({ rule, change }: DiffCause): string {
  return rule === null ? shapeChangeText[change] : `\`${rule}\` ${ruleChangeText[change]}`;
}

const ruleChangeText = {
  changed: 'changed',
  new: 'is new',
  gone: 'is gone',
  renamed: 'has another name',
} as const satisfies Readonly<Record<DiffCause['change'], string>>;

const shapeChangeText = {
  changed: 'the payload has another declaration',
  new: 'the action is new',
  gone: 'the action is gone',
  renamed: 'the action has another name',
} as const satisfies Readonly<Record<DiffCause['change'], string>>;

/** Who is asked, or how long a grant holds. */
export function asksText({
  requires,
  standing = [],
  valid_for_seconds: seconds,
}: DiffExample['old']): string {
  const people = requires?.approvals.map(
    ({ group, needs, withinSeconds, except = [] }) =>
      `${needs} of ${group}${except.length === 0 ? '' : ` except ${except.join(' and ')}`} within ${durationText(withinSeconds)}`,
  );
  const all = [...(people ?? []), ...stepUpText(requires?.reauth ?? null)];
  if (all.length > 0) return [all.join(' and '), ...standing].join(', ');
  return seconds === null ? 'nobody' : `nobody, for ${durationText(seconds)}`;
}

function stepUpText(stepUp: { readonly withinSeconds: number | null } | null): readonly string[] {
  if (stepUp === null) return [];
  const { withinSeconds } = stepUp;
  return [withinSeconds === null ? 'a step-up now' : `a step-up within ${durationText(withinSeconds)}`];
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** A duration as policies write it: `1h 30m`. */
function durationText(seconds: number): string {
  let left = seconds;
  const parts = units.flatMap(([unit, size]) => {
    const amount = Math.floor(left / size);
    left -= amount * size;
    return amount === 0 ? [] : [`${amount}${unit}`];
  });
  return parts.length === 0 ? '0s' : parts.join(' ');
}

export function countsText({ loosened, stricter, undecided }: PolicyDiff): string {
  return `${loosened} loosened · ${stricter} stricter · ${undecided} undecided`;
}

/** One line about the diff as a whole. */
export interface ClosingLine {
  readonly isGood: boolean;
  readonly text: string;
}

export function closingLines(diff: PolicyDiff): readonly ClosingLine[] {
  const { meters, chat_limits: chatLimits, limits, guarantees, remarks } = diff;
  const both = guarantees.filter((one) => one.old === 'proved' && one.new === 'proved');
  return [
    ...chatLimits.map(chatLimitLine),
    ...meters.map((name) =>
      bad(`meter \`${name}\` has another definition: it is computed again from the records`),
    ),
    ...(both.length === 0 ? [] : [good(`${many(both.length, 'clause')} of guarantees proved on both sides`)]),
    ...guarantees.filter((one) => !both.includes(one)).map(guaranteeLine),
    ...limits.map(({ action, limits: own }) =>
      bad(`\`${action}\`: not proved to be all, ${own.map((one) => proofLimitText[one]).join('; ')}`),
    ),
    ...remarks.map((remark) => good(remarkText(remark))),
    ...(limits.length > 0 ? [] : [good(proofText(diff))]),
  ];
}

const good = (text: string): ClosingLine => ({ isGood: true, text });
const bad = (text: string): ClosingLine => ({ isGood: false, text });

function many(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

function chatLimitLine({ group, direction, old, new: now }: PolicyDiff['chat_limits'][number]): ClosingLine {
  const text =
    now === null
      ? `may no longer decide by chat, until now up to risk ${old}`
      : `may decide by chat up to risk ${now}, until now ${old === null ? 'never' : `up to ${old}`}`;
  return { isGood: direction === 'stricter', text: `\`${group}\` ${text}` };
}

/** A change that alters no decision. */
function remarkText({ kind, change, rule, points }: PolicyDiff['remarks'][number]): string {
  switch (kind) {
    case 'reason':
      return `\`${rule}\` gives another reason`;
    case 'shadow':
      return `\`${rule}\` ${shadowText[change]}`;
    case 'risk':
      return points === null
        ? `\`${rule}\` adds to the risk score of other requests`
        : `\`${rule}\` adds ${points.new} to the risk score, not ${points.old}`;
  }
}

const shadowText = {
  new: 'is new in shadow',
  gone: 'is gone from shadow',
  changed: 'changes in shadow',
} as const satisfies Readonly<Record<PolicyDiff['remarks'][number]['change'], string>>;

function guaranteeLine({ name, text, old, new: now }: PolicyDiff['guarantees'][number]): ClosingLine {
  const became = becameText(old, now);
  return { isGood: now === 'proved', text: `guarantee \`${name}: ${text}\` ${became}` };
}

type Verdict = PolicyDiff['guarantees'][number]['old'];

function becameText(old: Verdict, now: Verdict): string {
  if (now === null) return `is gone, it was ${old}`;
  if (old === null) return `is new and ${now}`;
  return old === now ? `is ${now} on both sides` : `was ${old} and is ${now}`;
}

const proofLimitText = {
  'too many findings': 'there are more findings than are shown',
  'long lists': 'a longer list might be decided differently',
  'huge payloads': 'a payload so large that a condition is unknown might be decided differently',
  'too much search': 'the search took too long',
} as const satisfies Readonly<Record<PolicyDiff['limits'][number]['limits'][number], string>>;

function proofText({ findings, actions, horizon }: PolicyDiff): string {
  const isChanged = findings.some(({ direction }) => direction !== 'reworded');
  const headline = isChanged ? 'Nothing else changes' : 'No decision changes';
  return `${headline}: proved for all requests of ${many(actions.length, 'action')}, decided from ${horizon.from} to ${horizon.to}`;
}
