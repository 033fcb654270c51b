// Turns changes of rules that change no decision into lines for people. The lines come below the findings,
// because none of these changes opens or closes the gate.

import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import type { ReportedRemark } from './diff-report.ts';
import { codeSpan } from './diff-text.ts';

const shownMax = 20;

export function remarkLines(remarks: readonly ReportedRemark[]): readonly string[] {
  const lines = remarks.slice(0, shownMax).map((remark) => `· ${remarkText(remark)}`);
  const more = remarks.length - lines.length;
  return more > 0 ? [...lines, `· and ${more} more of the kind`] : lines;
}

/** The remarks in a folded block, because people read them after the findings. */
export function remarksToMarkdown(remarks: readonly ReportedRemark[]): string {
  if (remarks.length === 0) return '';
  const lines = remarkLines(remarks).map((line) => `- ${codeSpan(line.slice(2))}\n`);
  return `\n<details><summary>${remarks.length} changes of reasons, risk or rules in shadow</summary>\n\n${lines.join('')}\n</details>\n`;
}

function remarkText({ kind, change, rule, location, side, points }: ReportedRemark): string {
  const at =
    location === null ? '' : ` (${location.file}:${location.line}${side === 'old' ? ' before' : ''})`;
  return escapeForTerminal(`${rule} ${textOf(kind, change, points)}${at}`);
}

function textOf(
  kind: ReportedRemark['kind'],
  change: ReportedRemark['change'],
  points: ReportedRemark['points'],
): string {
  switch (kind) {
    case 'reason':
      return 'gives another reason';
    case 'shadow':
      return { new: 'is new in shadow', gone: 'is gone from shadow', changed: 'changes in shadow' }[change];
    case 'risk':
      return points === null
        ? 'adds its points of risk to other requests'
        : `adds ${points.new} points of risk, not ${points.old}`;
  }
}
