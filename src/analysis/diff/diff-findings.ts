// Turns a comparison into findings for build servers. Each finding lies at the rule that causes it, or at the
// set when the rule's file is gone.

import { shortenCondition } from '../../reasoning/prove/report/wording.ts';
import { diffCodes, type Finding } from '../findings/findings.ts';
import type { DiffReport, ReportedFinding } from './diff-report.ts';
import { chatLimitText } from './diff-text.ts';

/** `path` is the compared path; findings without a place of their own lie there. */
export function diffFindings(
  { findings, chat_limits: chatLimits, limits }: DiffReport,
  path: string,
): readonly Finding[] {
  return [
    ...findings.flatMap((finding) => findingOf(finding, path)),
    ...chatLimits.map((one) => ({
      code: diffCodes[one.direction].code,
      severity: 'warning' as const,
      message: chatLimitText(one),
      ...nowhere(path),
    })),
    ...limits.map(({ action, limits: own }) => ({
      code: diffCodes.undecided.code,
      severity: 'warning' as const,
      message: `what changes for \`${action}\` is not proved to be found: ${own.join(', ')}`,
      ...nowhere(path),
    })),
  ];
}

function findingOf(finding: ReportedFinding, path: string): readonly Finding[] {
  const { from, to, actions, when, causes, example, direction } = finding;
  if (direction === 'reworded') return [];
  const location = causes.find((cause) => cause.side === 'new' && cause.location !== null)?.location ?? null;
  const conditions = when.length === 0 ? '' : ` when ${when.map(shortenCondition).join(' and ')}`;
  const because = causes.map(({ rule, change }) => `${rule ?? 'the action'} (${change})`).join(', ');
  const exampleText = example === null ? '' : `\nfor example ${JSON.stringify(example.request)}`;
  const start = location === null ? null : { line: location.line, column: 1 };
  return [
    {
      code: diffCodes[direction].code,
      severity: 'warning',
      message: `${direction === 'undecided' ? 'undecided: ' : ''}${from} → ${to} for ${actions.join(', ')}${conditions}, because of ${because}${exampleText}`,
      ...nowhere(path),
      ...(location === null ? {} : { file: location.file, start, end: start }),
    },
  ];
}

function nowhere(path: string): Omit<Finding, 'code' | 'severity' | 'message'> {
  return { file: path, start: null, end: null, help: null, related: [], fix: null };
}
