// Renders suggestions for people: what each one changes, what it allows besides the request, and its patch.

import { findingTexts } from '../../analysis/diff/diff-text.ts';
import type { ReportedSuggestion, SuggestionReport } from '../../analysis/suggest/suggestion-report.ts';
import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { many } from '../output/many.ts';
import { createMarks } from '../output/output.ts';

export function suggestionText(report: SuggestionReport): string {
  return [suggestionHead(report), ...suggestionTexts(report).map((text) => `\n${text}`)].join('');
}

/** The decision about the request, and what suggestions can do about it. */
export function suggestionHead(report: SuggestionReport): string {
  const { decision, by, reason } = report.decision;
  const head = `${decision} by ${escapeForTerminal(by)}: ${escapeForTerminal(reason)}\n`;
  return [head, ...goalLines(report)].join('');
}

/** A text for each suggestion. */
export function suggestionTexts({ suggestions }: SuggestionReport): readonly string[] {
  return suggestions.map((one, at) => oneText(one, at + 1));
}

function goalLines({
  decision,
  goal,
  forbidden_by: claims,
  suggestions,
}: SuggestionReport): readonly string[] {
  if (decision.decision === 'ALLOW') return ['The request is allowed already.\n'];
  const forbidden = claims.map(
    ({ guarantee, text }) => `  ${escapeForTerminal(guarantee)}: ${escapeForTerminal(text)}\n`,
  );
  const why = forbidden.length === 0 ? [] : ['Guarantees forbid to allow it at once:\n', ...forbidden];
  if (suggestions.length === 0)
    return [...why, 'No change is suggested: none was found that keeps the guarantees.\n'];
  return goal === 'ESCALATE' ? [...why, 'After these changes, people can approve it.\n'] : why;
}

function oneText(
  { text, patch, decision, milder, diff, sentences, broken_tests: broken }: ReportedSuggestion,
  number: number,
): string {
  const added = sentences.flatMap((one) => [
    ...one.removed.map((sentence) => `  - ${escapeForTerminal(sentence)}\n`),
    ...one.added.map((sentence) => `  + ${escapeForTerminal(sentence)}\n`),
  ]);
  return [
    `${createMarks().good(`${number}.`)} ${escapeForTerminal(text)}\n`,
    `  the request is then ${decision.decision} by ${escapeForTerminal(decision.by)}\n`,
    `  of ${many(milder.of, 'similar request')}, ${milder.count.toLocaleString('en')} get a milder decision\n`,
    ...(broken === null ? [] : [testsLine(broken)]),
    '  all that changes, proved:\n',
    ...findingTexts(diff).map(indented),
    ...(added.length === 0 ? [] : ['  in sentences:\n', ...added.map(indented)]),
    '\n',
    patch
      .split('\n')
      .map((line) => escapeForTerminal(line))
      .join('\n'),
  ].join('');
}

function testsLine(broken: readonly string[]): string {
  if (broken.length === 0) return '  all tests still pass\n';
  const shown = broken.slice(0, testsMax).map((name) => `\`${escapeForTerminal(name)}\``);
  const more = broken.length > testsMax ? ` and ${broken.length - testsMax} more` : '';
  return `  ${many(broken.length, 'test')} ${broken.length === 1 ? 'fails' : 'fail'} then: ${shown.join(', ')}${more}\n`;
}

const testsMax = 5;

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}
