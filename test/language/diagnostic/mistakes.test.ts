// Common mistakes of people who know other languages: each case of `mistakes/*.txt` has one diagnostic that
// says what is wrong, where, and what to write. UPDATE_GOLDEN=1 accepts the present diagnostics.

import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../src/language/diagnostic/diagnostic.ts';
import { applyFix } from '../syntax/draw.ts';
import { diagnose, wrapped } from './pages.ts';

/**
 * Rules beside those of a case, so that every part of the prelude is used and each guard has something to
 * guard.
 */
const beside = `policy beside on order.place {
  allow timely when payload.due in 2026-01-01..2026-12-31
  escalate own to finance when payload.to == "a@example.com"
}
`;

interface Mistake {
  readonly setting: 'rules' | 'declarations' | 'whole';
  readonly title: string;
  readonly text: string;
  readonly reported: string;
}

const files = globSync('test/language/diagnostic/mistakes/*.txt').sort();

describe.each(files)('%s', (path) => {
  const mistakes = readMistakes(readFileSync(path, 'utf8'));
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(path, mistakes.map(written).join('\n'));

  it.each(mistakes)('$title', (mistake) => {
    const { reported } = mistake;
    const diagnostics = diagnose(whole(mistake), 'whole');
    if (process.env.UPDATE_GOLDEN !== '1') expect(report(mistake)).toBe(reported);
    expect(diagnostics.map(({ code }) => code)).toHaveLength(1);
    const { help, fix } = diagnostics[0]!;
    expect(help ?? fix?.title).toBeDefined();
    if (fix === undefined) return;
    const left = diagnose(applyFix(fix, whole(mistake)), 'whole').map(({ code }) => code);
    // Mistakes in the spelling of an amount do not test its currency.
    expect(left.filter((code) => code !== 'currency-untested')).toEqual([]);
  });
});

it('there are the 56 of newcomers, 70 of other languages, 161 of assistants and 130 of other forms', () => {
  const counts = files.map((path) => readMistakes(readFileSync(path, 'utf8')).length);
  expect(counts).toEqual([161, 70, 56, 130]);
});

/** The cases of a file: `=== SETTING: TITLE`, the text, `---`, and its diagnostics. */
function readMistakes(text: string): readonly Mistake[] {
  return text
    .split(/^=== /m)
    .slice(1)
    .map((part) => {
      const groups = /^(?<setting>\w+): (?<title>.*?)\n(?<text>.*?)\n---\n(?<reported>.*)$/s.exec(
        part,
      )?.groups;
      if (groups === undefined) throw new Error(`this is no case: ${part}`);
      const { setting, title = '', text: written = '', reported = '' } = groups;
      return { setting: setting as Mistake['setting'], title, text: written, reported: reported.trim() };
    });
}

function written(mistake: Mistake): string {
  const { setting, title, text } = mistake;
  return `=== ${setting}: ${title}\n${text}\n---\n${report(mistake)}\n`;
}

function report(mistake: Mistake): string {
  const text = whole(mistake);
  return diagnose(text, 'whole')
    .map((diagnostic) => drawn(diagnostic, text))
    .join('\n');
}

function whole({ text, setting }: Mistake): string {
  return setting === 'whole' ? text : `${wrapped(text, setting)}${beside}`;
}

/** A diagnostic with the text in its span, its help, and the line that its fix makes. */
function drawn({ severity, code, span, message, help, related = [], fix }: Diagnostic, text: string): string {
  const at = (place: { readonly start: number; readonly end: number }): string =>
    `[${text.slice(place.start, place.end).split('\n')[0] || text.slice(0, place.start).split('\n').at(-1)}]`;
  return [
    `${severity} ${code} ${at(span)} ${message}`,
    ...(help === undefined ? [] : [`  help: ${help}`]),
    ...related.map((each) => `  see ${at(each.span)} ${each.message}`),
    ...(fix?.edits ?? []).map((edit) => `  fix: ${at(edit.span)} -> ${JSON.stringify(edit.text)}`),
  ].join('\n');
}
