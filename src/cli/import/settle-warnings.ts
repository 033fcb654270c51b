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

export function settleWarnings(policy: string): string {
  let text = policy;
  for (let round = 0; round < roundsMax; round += 1) {
    const found = warningsOf(text);
    if (found.length === 0) return text;
    text = withSilences(text, found);
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

function withSilences(text: string, found: readonly Diagnostic[]): string {
  const lines = text.split('\n');
  const places = found.map(({ code, span }) => ({ code, line: position(text, span.start).line - 1 }));
  const unique = new Map(places.map((place) => [`${place.line} ${place.code}`, place]));
  for (const { code, line } of [...unique.values()].toSorted((a, b) => b.line - a.line)) {
    const indent = /^ */.exec(lines[line] ?? '')?.[0] ?? '';
    lines.splice(line, 0, `${indent}# writ: allow ${code} because the settings have this entry`);
  }
  return lines.join('\n');
}
