// Silences the warnings of an imported policy file, each with a reason, because settings often have an entry that another
// one makes needless. INVARIANT: the result has no warning, and the same rules.

import type { Diagnostic } from '../../language/diagnostic/diagnostic.ts';
import { position } from '../../language/diagnostic/render.ts';
import { checkSources } from '../../pipeline.ts';
import { withLints } from '../../reasoning/lints/lint.ts';
import { SettingsError } from './host-settings.ts';

const path = 'import.policy';

/** Rules that a first round silences can show what others lack, so there is more than one. */
const roundsMax = 4;

/** `reason` says why the policies are as they are, after `because`. */
export function settleWarnings(policy: string, reason: string): string {
  let text = policy;
  for (let round = 0; round < roundsMax; round += 1) {
    const found = warningsOf(text);
    if (found.length === 0) return text;
    text = withSilences(text, found, reason);
  }
  throw new SettingsError(
    `the imported policies have warnings: ${warningsOf(text)[0]?.message ?? 'in turns'}`,
  );
}

function warningsOf(text: string): readonly Diagnostic[] {
  const texts = [{ path, text }];
  const checked = checkSources({
    files: texts,
    readListFile: () => ({ code: 'list-file-missing', message: 'there are no list files' }),
  });
  const { set, files, silenced, diagnostics } = checked;
  const error = diagnostics.find(({ severity }) => severity === 'error');
  if (set === null || error !== undefined)
    throw new SettingsError(`an entry cannot be written as a policy: ${error?.message}`);
  return withLints({ set, files, texts, silenced, diagnostics }).diagnostics;
}

function withSilences(text: string, found: readonly Diagnostic[], reason: string): string {
  const lines = text.split('\n');
  const places = found.map(({ code, span }) => ({ code, line: position(text, span.start).line - 1 }));
  // A silence holds for the whole rule, so a second one would be needless.
  const unique = new Map(
    places.toReversed().map((place) => [`${ruleLine(lines, place.line)} ${place.code}`, place]),
  );
  for (const { code, line } of [...unique.values()].toSorted((a, b) => b.line - a.line)) {
    const indent = /^ */.exec(lines[line] ?? '')?.[0] ?? '';
    lines.splice(line, 0, `${indent}# writ: allow ${code} because ${reason}`);
  }
  return lines.join('\n');
}

/** The line on which the rule around a line begins; the line itself where there is none. */
function ruleLine(lines: readonly string[], line: number): number {
  const start = lines.findLastIndex((text, at) => at <= line && /^ {2}\w|^\w/.test(text));
  return start < 0 ? line : start;
}
