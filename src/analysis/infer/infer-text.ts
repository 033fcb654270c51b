// Turns the result of an inference into text for a terminal: what it rests on, what it would have done to the
// requests that were held out, and the difference to the existing policies.

import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { type Align, columns } from '../columns.ts';
import { diffToText } from '../diff/diff-text.ts';
import type { InferReport, ReportedHeldOut } from './infer-report.ts';
import type { Exclusion } from './sample.ts';

export function inferToText(report: InferReport): string {
  const parts = [
    headLines(report),
    tableLines(report),
    boundLines(report),
    askLines(report),
    leftOutLines(report),
    droppedLines(report),
  ];
  const text = parts
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.map(escapeForTerminal).join('\n')}\n`)
    .join('\n');
  return `${text}\n${diffToText(report.diff)}`;
}

function many(count: number, one: string): string {
  return `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
}

function percent(share: number): string {
  const digits = share < 0.001 ? 3 : share < 0.1 ? 1 : 0;
  // Rounded up, so that the text never promises more than the bound.
  const rounded = Math.ceil(share * 100 * 10 ** digits - 1e-9) / 10 ** digits;
  return `${rounded.toLocaleString('en', { maximumFractionDigits: 3 })} %`;
}

// ---- what it rests on

function headLines({
  requests,
  from,
  until,
  policy_sets,
  repeated,
  actions,
}: InferReport): readonly string[] {
  const period = from === null || until === null ? '' : `, ${from.slice(0, 10)} to ${until.slice(0, 10)}`;
  const reasons = (Object.keys(exclusionText) as Exclusion[]).flatMap((why) => {
    const count = actions.reduce((sum, { not_learned_from }) => sum + (not_learned_from[why] ?? 0), 0);
    return count === 0 ? [] : [`not learned from: ${many(count, 'request')} that ${exclusionText[why]}`];
  });
  return [
    `${many(requests, 'request')}${period}`,
    ...(policy_sets > 1
      ? [
          `${policy_sets} versions of policies decided them: requests of older versions may no longer be typical`,
        ]
      : []),
    ...(repeated === 0 ? [] : [`${many(repeated, 'line')} repeat a request and were not counted again`]),
    ...reasons,
  ];
}

const exclusionText = {
  denied: 'policies denied',
  rejected: 'people rejected',
  unanswered: 'were pending or expired without an answer',
  approved: 'people approved: name the policies that asked them, to keep asking',
  other_shape: 'do not fit the declared payload',
} as const satisfies Readonly<Record<Exclusion, string>>;

// ---- the requests that were held out

function tableLines({ actions, total }: InferReport): readonly string[] {
  const rows = actions.flatMap(({ action, learned_from, held_out }) =>
    held_out === null ? [] : [row(action, learned_from, held_out)],
  );
  const learned = actions.reduce((sum, one) => sum + (one.held_out === null ? 0 : one.learned_from), 0);
  const head = ['action', 'learned from', 'held out', 'refused', 'waiting', 'stopped at most'];
  const all = rows.length < 2 ? [] : [row('all', learned, total)];
  return columns([head, ...rows, ...all], aligns);
}

const aligns: readonly Align[] = ['left', 'right', 'right', 'right', 'right', 'right'];

function row(
  name: string,
  learned: number,
  { requests, refused, waiting, share_at_most }: ReportedHeldOut,
): readonly string[] {
  const counts = [learned, requests, refused, waiting].map((count) => count.toLocaleString('en'));
  return [name, ...counts, requests === 0 ? '–' : percent(share_at_most)];
}

function boundLines({ held_out, total, confidence }: InferReport): readonly string[] {
  if (held_out.share === 0)
    return ['No request was held out, so the share of requests that will be stopped is not known.'];
  const sure = `${confidence * 100} %`;
  const bound = `At most ${percent(total.share_at_most)} of such requests would be refused or wait that were not before (${sure} confidence for each line, Clopper–Pearson).`;
  if (held_out.by === 'latest')
    return [
      bound,
      'The latest requests were held out: the bound shows how policies inferred earlier fared later. It is exact only if nothing has changed since.',
    ];
  return [
    bound,
    `The requests were held out at random (seed ${held_out.seed}). The bound holds for later requests as far as they are like these; --hold-out-latest shows what changes over time.`,
  ];
}

function askLines({ asks_per_day: asks, approvers }: InferReport): readonly string[] {
  const placeholder =
    approvers?.is_placeholder === true
      ? [`Nobody is in the group \`${approvers.name}\` yet: use --approvers to name one of your groups.`]
      : [];
  if (asks === null)
    return ['The requests have no times, so approvals a day cannot be estimated.', ...placeholder];
  const day = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 });
  return [
    `People would be asked about ${day(asks.now)} requests a day, and about ${day(asks.before)} by the existing policies.`,
    ...placeholder,
  ];
}

// ---- what is left out

function leftOutLines({ actions }: InferReport): readonly string[] {
  const left = actions.filter(({ problem }) => problem !== null);
  if (left.length === 0) return [];
  return ['Left out:', ...left.map(({ action, problem }) => `  ${action}: ${problem}`)];
}

function droppedLines({ dropped }: InferReport): readonly string[] {
  if (dropped.length === 0) return [];
  return [
    'Not written, because they are needless or make a rule of the existing policies needless:',
    ...dropped.map(({ action, guard, why }) => `  ${action}${guard === '' ? '' : ` ${guard}`}: ${why}`),
  ];
}
