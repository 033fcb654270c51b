// Turns a comparison of two policy sets into text: for a terminal, and in Markdown for a pull request. The
// loosest finding comes first, and the last lines state what is proved. INVARIANT: text of policies and
// requests stands in code spans in Markdown, and is escaped on a terminal.

import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { whomText } from '../../language/model/approvers.ts';
import { exceptText } from '../../language/model/describe.ts';
import { fromNumber } from '../../language/value/decimal.ts';
import { formatDuration } from '../../language/value/time.ts';
import { shortenCondition } from '../../reasoning/prove/report/wording.ts';
import type { GroupWorkload } from '../replay/engine/workload.ts';
import type {
  DiffReport,
  GuaranteeChange,
  ReportedChatLimit,
  ReportedFinding,
  ReportedLog,
} from './diff-report.ts';

/** How code and emphasis are marked in a line. */
interface Style {
  readonly code: (text: string) => string;
  readonly strong: (text: string) => string;
}

const plainStyle: Style = { code: escapeForTerminal, strong: escapeForTerminal };

const markdownStyle: Style = { code: codeSpan, strong: (text) => `**${text}**` };

export function diffToText(report: DiffReport): string {
  const title = `${escapeForTerminal(`${report.old.name}..${report.new.name}`)}   ${countsText(report)}\n`;
  const findings = byOwner(report.findings).map(({ owner, findings: own }) => {
    const heading = owner === null ? '' : `\n${escapeForTerminal(owner)}\n`;
    return (
      heading +
      findingTexts({ ...report, findings: own })
        .map((text) => `\n${text}`)
        .join('')
    );
  });
  const end = proofLines(report).map((line) => `${line}\n`);
  return [title, ...findings, '\n', ...end].join('');
}

/** What is proved, and what is not: a line each. */
export function proofLines(report: DiffReport): readonly string[] {
  return endLines(report, plainStyle);
}

/** The findings as text for a terminal, some lines each. */
export function findingTexts({ findings }: DiffReport): readonly string[] {
  return findings.map((finding) => {
    const [head, ...lines] = findingLines(finding, plainStyle);
    return `${head}\n${lines.map((line) => `   ${line}\n`).join('')}`;
  });
}

export function diffToMarkdown(report: DiffReport): string {
  const title = `### Policies: ${codeSpan(`${report.old.name}..${report.new.name}`)}\n\n${countsText(report)}\n`;
  const findings = report.findings.filter(({ direction }) => direction !== 'reworded');
  const reworded = report.findings.filter(({ direction }) => direction === 'reworded');
  const folded =
    reworded.length === 0
      ? ''
      : `\n<details><summary>${many(reworded.length, 'place')} where another rule is named for the same decision</summary>\n${reworded.map(markdownFinding).join('')}\n</details>\n`;
  const end = endLines(report, markdownStyle).map((line) => `${line}  \n`);
  const blocks = byOwner(findings).map(({ owner, findings: own }) => {
    const heading = owner === null ? '' : `\n#### ${codeSpan(owner)}\n`;
    return heading + own.map(markdownFinding).join('');
  });
  return [title, ...blocks, folded, '\n', ...end].join('');
}

/** The findings of each owner together, in the order of the first of them; one group without a name without owners. */
function byOwner(
  findings: readonly ReportedFinding[],
): readonly { readonly owner: string | null; readonly findings: readonly ReportedFinding[] }[] {
  const groups = Map.groupBy(findings, ({ owner }) => owner ?? null);
  const isOwned = groups.size > 1 || !groups.has(null);
  return [...groups].map(([owner, own]) => ({
    owner: isOwned ? (owner ?? 'no owner') : null,
    findings: own,
  }));
}

function markdownFinding(finding: ReportedFinding): string {
  const [head, ...lines] = findingLines(finding, markdownStyle);
  return `\n${head}\n${lines.map((line) => `- ${line.trim()}\n`).join('')}`;
}

export function countsText({ loosened, stricter, undecided }: DiffReport): string {
  return `${loosened} loosened · ${stricter} stricter · ${undecided} undecided`;
}

function many(count: number, one: string): string {
  return `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
}

// ---- a finding

/** The heading of a finding, then a line for each thing that is known about it. */
function findingLines(finding: ReportedFinding, style: Style): readonly string[] {
  const { actions, when, example } = finding;
  return [
    `${marks[finding.direction]} ${style.strong(headingOf(finding))}   ${actions.map(style.code).join(', ')}`,
    ...(when.length === 0 ? [] : [`when ${when.map(shortenCondition).map(style.code).join(' and ')}`]),
    ...(finding.causes.length === 0
      ? []
      : [`because ${finding.causes.map((cause) => causeText(cause, style)).join('; ')}`]),
    ...(example === null ? undecidedLines(finding, style) : exampleLines(finding, example, style)),
    ...(finding.log === null ? [] : [filedText(finding.log), ...peopleTexts(finding.log.people, style)]),
  ];
}

const marks = { loosened: '🔓', stricter: '🔒', reworded: '·', undecided: '❓' } as const satisfies Readonly<
  Record<ReportedFinding['direction'], string>
>;

function filedText({ requests, agents }: NonNullable<ReportedFinding['log']>): string {
  if (requests === 0) return 'in the log no request';
  return `in the log ${many(requests, 'request')} of ${many(agents, 'agent')}`;
}

/** The groups of which more or fewer votes are asked than before. */
export function changedPeople(people: readonly GroupWorkload[]): readonly GroupWorkload[] {
  return people.filter(({ votes }) => votes.before !== votes.now);
}

/** A line for each group; empty when no group is asked, before or now. */
export function peopleTexts(
  people: readonly GroupWorkload[],
  { code }: Pick<Style, 'code'> = plainStyle,
): readonly string[] {
  return people.map(({ group, votes, day, busiest }) => {
    const more = votes.now - votes.before;
    const count = Math.abs(more).toLocaleString('en');
    const turn = more === 0 ? 'as many' : `${count} ${more > 0 ? 'more' : 'fewer'}`;
    const figures = [
      becomes(votes),
      `a day ${becomes({ before: day.before.median, now: day.now.median })}`,
      `on the worst ${becomes({ before: day.before.worst, now: day.now.worst })}`,
      `in the busiest hour ${becomes(busiest)}`,
    ];
    return `people: ${code(group)} ${turn}, ${figures.join(', ')}`;
  });
}

function becomes({ before, now }: GroupWorkload['votes']): string {
  const [old, own] = [before, now].map((one) => one.toLocaleString('en', { maximumFractionDigits: 1 }));
  return `${old} → ${own}`;
}

function headingOf({ from, to, difference, tier, direction }: ReportedFinding): string {
  const isUndecided = direction === 'undecided';
  return isUndecided
    ? `undecided: ${turnOf({ from, to, difference, tier })}`
    : turnOf({ from, to, difference, tier });
}

function turnOf({
  from,
  to,
  difference,
  tier,
}: Pick<ReportedFinding, 'from' | 'to' | 'difference' | 'tier'>): string {
  const turn = from === to ? from : `${from} → ${to}`;
  switch (difference) {
    case 'outcome':
      return tier === 4 ? `${turn}, refused before any rule until now` : turn;
    case 'people':
      return tier < 5 ? `${turn}, by fewer or other people or later` : `${turn}, by more people or sooner`;
    case 'time':
      return tier < 5 ? `${turn}, for longer` : `${turn}, for a shorter time`;
    case 'rule':
      return `${turn} as before, by another rule`;
  }
}

function causeText(
  { rule, change, location: place, side, reads }: ReportedFinding['causes'][number],
  style: Style,
): string {
  const at = place === null ? null : `${place.file}:${place.line}${side === 'old' ? ' before' : ''}`;
  const details = [...reads, ...(reads.length > 0 || at === null ? [] : [at])].map(style.code).join(', ');
  const what = rule === null ? shapeChangeText[change] : `${style.code(rule)} ${ruleChangeText[change]}`;
  return details === '' ? what : `${what} (${details})`;
}

const ruleChangeText = {
  changed: 'changed',
  new: 'is new',
  gone: 'is gone',
  renamed: 'has another name',
} as const satisfies Readonly<Record<ReportedFinding['causes'][number]['change'], string>>;

const shapeChangeText = {
  changed: 'the payload has another declaration',
  new: 'the action is new',
  gone: 'the action is gone',
  renamed: 'the action has another name',
} as const satisfies typeof ruleChangeText | Readonly<Record<keyof typeof ruleChangeText, string>>;

function undecidedLines({ guessed }: ReportedFinding, style: Style): readonly string[] {
  const terms = guessed.length === 0 ? '' : `: it may turn on ${guessed.map(style.code).join(', ')}`;
  return [`no request with this decision was found${terms}`];
}

function exampleLines(
  { from, to }: ReportedFinding,
  example: NonNullable<ReportedFinding['example']>,
  style: Style,
): readonly string[] {
  const { request, old_meters: oldMeters, near, old, new: now } = example;
  const knownMax = 800;
  const text = JSON.stringify(shortened(request));
  const shortText = text.length > knownMax ? `${text.slice(0, knownMax)}…` : text;
  const asksLabel = from === to ? ` asking ${asksText(old)}` : '';
  return [
    `for example ${style.code(shortText)}`,
    ...(near === null ? [] : [nearText(near, style)]),
    ...(oldMeters === null ? [] : [`meters before ${style.code(JSON.stringify(oldMeters))}`]),
    `was ${from} by ${style.code(old.by)}${asksLabel} · is ${to} by ${style.code(now.by)}${from === to ? ` asking ${asksText(now)}` : ''}`,
  ];
}

function nearText(
  { name, changed }: NonNullable<NonNullable<ReportedFinding['example']>['near']>,
  style: Style,
): string {
  const but = changed.length === 0 ? 'itself' : `but for ${changed.map(style.code).join(', ')}`;
  return name === null ? `the request ${but}` : `the test ${style.code(name)} ${but}`;
}

/** The request without its empty fields. */
function shortened(request: object): object {
  const isEmpty = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && Object.values(value).flat().length === 0;
  return Object.fromEntries(Object.entries(request).filter(([, value]) => !isEmpty(value)));
}

function asksText({
  requires,
  standing = [],
  valid_for_seconds: seconds,
}: NonNullable<ReportedFinding['example']>['old']): string {
  const people = requires?.approvals.map(
    ({ needs, withinSeconds, except, ...whom }) =>
      `${needs} of ${whomText(whom)}${exceptText(except)} within ${durationText(withinSeconds)}`,
  );
  const stepUp = requires?.reauth ?? null;
  const step =
    stepUp === null
      ? []
      : [
          stepUp.withinSeconds === null
            ? 'a step-up now'
            : `a step-up within ${durationText(stepUp.withinSeconds)}`,
        ];
  const all = [...(people ?? []), ...step];
  if (all.length > 0) return [all.join(' and '), ...standing].join(', ');
  return seconds === null ? 'nobody' : `nobody, for ${durationText(seconds)}`;
}

function durationText(seconds: number): string {
  return formatDuration(fromNumber(seconds));
}

// ---- the whole comparison

function endLines(report: DiffReport, style: Style): readonly string[] {
  const { findings, limits, meters } = report;
  const decisions = findings.filter(({ direction }) => direction !== 'reworded');
  return [
    ...report.chat_limits.map((one) => `${marks[one.direction]} ${chatLimitText(one, style)}`),
    ...meters.map(
      (name) => `⚠ meter ${style.code(name)} has another definition: it is computed again from the records`,
    ),
    ...guaranteeLines(report.guarantees, style),
    ...(report.log === null ? [] : logLines(report.log, meters, style)),
    ...limits.map(
      ({ action, limits: own }) =>
        `⚠ ${style.code(action)}: not proved to be all, ${own.map((one) => proofLimitText[one]).join('; ')}`,
    ),
    ...(limits.length > 0
      ? []
      : [
          `✓ ${decisions.length === 0 ? 'No decision changes' : 'Nothing else changes'}: ${proofText(report)}`,
        ]),
  ];
}

/** How a group may decide by chat now, as a sentence without its period. */
export function chatLimitText(
  { group, old, new: now }: ReportedChatLimit,
  { code }: Pick<Style, 'code'> = plainStyle,
): string {
  if (now === null) return `${code(group)} may no longer decide by chat, until now up to risk ${old}`;
  return `${code(group)} may decide by chat up to risk ${now}, until now ${old === null ? 'never' : `up to ${old}`}`;
}

function logLines(log: ReportedLog, meters: readonly string[], style: Style): readonly string[] {
  const { requests, from, until, without_finding: without, unfiled, withheld, unknown_facts: unknown } = log;
  const { people_without_finding: others } = log;
  const period = from === null || until === null ? '' : `, ${from.slice(0, 10)} to ${until.slice(0, 10)}`;
  const readings = meters.length === 0 ? '' : ', meters as the records read them';
  return [
    `the log has ${many(requests, 'request')}${period}${readings}`,
    ...(without === 0 ? [] : [`⚠ ${many(without, 'request')} of the log change without a finding`]),
    ...peopleTexts(changedPeople(others), style).map((text) => `⚠ without a finding, ${text}`),
    ...(unfiled === 0
      ? []
      : [
          `⚠ ${many(unfiled, 'request')} of the log belong to no finding: digests replace values that rules read`,
        ]),
    ...(withheld === 0
      ? []
      : [
          `⚠ ${many(withheld, 'request')} of the log cannot be assigned: digests replace values that the payload check or rules read`,
        ]),
    ...[...unknown].map(
      ([fact, count]) => `⚠ ${style.code(fact)} is unknown for ${many(count, 'request')} of the log`,
    ),
  ];
}

function proofText({ actions, horizon }: DiffReport): string {
  return `proved for all requests of ${many(actions.length, 'action')}, decided from ${horizon.from} to ${horizon.to}`;
}

const proofLimitText = {
  'too many findings': 'there are more findings than are shown (--max)',
  'long lists': 'a longer list might be decided differently',
  'huge payloads': 'a payload so large that a condition is unknown might be decided differently',
  'too much search': 'the search took too long',
} as const satisfies Readonly<Record<DiffReport['limits'][number]['limits'][number], string>>;

function guaranteeLines(guarantees: readonly GuaranteeChange[], style: Style): readonly string[] {
  const both = guarantees.filter((one) => one.old === 'proved' && one.new === 'proved');
  const others = guarantees.filter((one) => one.old !== one.new || one.new !== 'proved');
  return [
    ...(both.length === 0 ? [] : [`✓ ${many(both.length, 'claim')} of guarantees proved on both sides`]),
    ...others.map(
      ({ name, text, old, new: now }) =>
        `${now === 'proved' ? '✓' : '⚠'} guarantee ${style.code(`${name}: ${text}`)} ${becameText(old, now)}`,
    ),
  ];
}

function becameText(old: GuaranteeChange['old'], now: GuaranteeChange['new']): string {
  if (now === null) return `is gone, it was ${old}`;
  if (old === null) return `is new and ${now}`;
  return old === now ? `is ${now} on both sides` : `was ${old} and is ${now}`;
}

/** The text as a code span, between more backticks than it holds in a row. */
export function codeSpan(text: string): string {
  const escaped = escapeForTerminal(text);
  const longest = Math.max(0, ...[...escaped.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const ticks = '`'.repeat(longest + 1);
  return longest === 0 ? `${ticks}${escaped}${ticks}` : `${ticks} ${escaped} ${ticks}`;
}
