// Turns cases that do not pass into diagnostics of their test file, each on the line on which its case
// begins.

import type { Diagnostic } from '../language/diagnostic/diagnostic.ts';
import type { Span } from '../language/diagnostic/span.ts';
import type { CaseRun } from './run.ts';
import type { TestFile } from './test-file.ts';

/** A diagnostic with codes of its own besides those of malformed files. */
export type CaseFinding = Omit<Diagnostic, 'code'> & {
  readonly code: Diagnostic['code'] | 'case-failed' | 'case-disagreed';
};

/** The diagnostics of a malformed case are its mistakes, with their own spans. */
export function caseDiagnostics(
  { text }: Pick<TestFile, 'text'>,
  cases: readonly CaseRun[],
): readonly CaseFinding[] {
  return cases.flatMap((judged): readonly CaseFinding[] => {
    const { outcome, mistakes, test } = judged;
    if (outcome === 'passed') return [];
    if (outcome === 'mistaken') return mistakes;
    const code = outcome === 'failed' ? 'case-failed' : 'case-disagreed';
    const message = `\`${test.name}\`: ${caseText(judged)}`;
    return [{ code, severity: 'error', span: firstLine(text, test.span), message }];
  });
}

/** The differences and the decision in words; empty for a case that passes. */
export function caseText({ outcome, differences, decision, mistakes }: CaseRun): string {
  if (outcome === 'passed') return '';
  if (outcome === 'mistaken') return mistakes.map(({ message }) => message).join('; ');
  const [left, right] = outcome === 'failed' ? ['expected', 'actual'] : ['definition', 'compiled'];
  const otherwise = differences
    .map(({ field, expected, actual }) => `${field}: ${left} ${expected}, ${right} ${actual}`)
    .join('; ');
  return decision === null || outcome === 'disagreed'
    ? otherwise
    : `${otherwise}; decided ${decision.outcome} by ${decision.by}: ${decision.reason}`;
}

function firstLine(text: string, { file, start, end }: Span): Span {
  const line = text.indexOf('\n', start);
  return { file, start, end: line === -1 ? end : Math.min(line, end) };
}
