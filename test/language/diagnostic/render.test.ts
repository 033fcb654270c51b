// Diagnostics as text and as JSON: the smallest source that shows each point, with the output below it.

import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../src/language/diagnostic/diagnostic.ts';
import { diagnosticToJson, position, renderDiagnostics } from '../../../src/language/diagnostic/render.ts';

/** Renders one diagnostic at the place that `«` and `»` mark in the text. */
function render(marked: string, parts: Partial<Diagnostic> = {}): string {
  const { text, start, end } = unmark(marked);
  return renderDiagnostics([diagnostic({ file: 'a.policy', start, end }, parts)], () => text, {
    color: false,
  });
}

function unmark(marked: string): { text: string; start: number; end: number } {
  const start = marked.indexOf('«');
  const end = marked.indexOf('»') - 1;
  return { text: marked.replace(/[«»]/g, ''), start, end };
}

function diagnostic(span: Diagnostic['span'], parts: Partial<Diagnostic> = {}): Diagnostic {
  return { code: 'unknown-name', severity: 'error', span, message: 'nothing is called `x`', ...parts };
}

describe('renderDiagnostics', () => {
  it('shows the line with a caret under the place', () => {
    expect(render('one\nallow a when «x» > 1\nthree')).toBe(
      [
        'error[unknown-name]: nothing is called `x`',
        ' --> a.policy:2:14',
        '  |',
        '2 | allow a when x > 1',
        '  |              ^',
        '',
        '1 error',
        '',
      ].join('\n'),
    );
  });

  it('shows help with further lines under the first, and related places', () => {
    const place = { span: { file: 'a.policy', start: 0, end: 3 }, message: 'declared here' };
    expect(render('one\n«two»', { help: 'write\nthis', related: [place], severity: 'warning' })).toBe(
      [
        'warning[unknown-name]: nothing is called `x`',
        ' --> a.policy:2:1',
        '  |',
        '2 | two',
        '  | ^^^',
        '  = help: write',
        '          this',
        'note: declared here',
        ' --> a.policy:1:1',
        '  |',
        '1 | one',
        '  | ^^^',
        '',
        '1 warning',
        '',
      ].join('\n'),
    );
  });

  it.each([
    ['a tab stands for up to four cells', '\tx\t«y»', '    x   y', '        ^'],
    ['a wide character for two', '"東京🎫" «y»', '"東京🎫" y', '         ^'],
    ['a combining mark for none', 'e\u0301 «y»', 'e\u0301 y', '  ^'],
    ['an empty place gets a caret', 'ab«»c', 'abc', '  ^'],
    ['an end of text too', 'abc«»', 'abc', '   ^'],
    ['a place that ends with the line break ends on its line', 'ab«c\n»d', 'abc', '  ^'],
    ['carriage returns are not shown', 'ab«c»\r\nd', 'abc', '  ^'],
  ])('%s', (_name, marked, shown, carets) => {
    const lines = render(marked).split('\n');
    expect(lines.slice(3, 5)).toEqual([`1 | ${shown}`, `  | ${carets}`]);
  });

  it('escapes what could mislead the reader or drive the terminal, in the line, the message and the file', () => {
    const text = 'a \u202e\u200b\u001b[31m y';
    const shown = renderDiagnostics(
      [diagnostic({ file: 'b\u0007.policy', start: 10, end: 11 }, { message: 'bad `\u202e`' })],
      () => text,
      { color: false },
    );
    for (const raw of '\u202e\u200b\u001b\u0007') expect(shown).not.toContain(raw);
    expect(shown).toContain('bad `\\u{202e}`');
    expect(shown).toContain('b\\u{7}.policy:1:11');
    const [line, carets] = shown.split('\n').slice(3, 5) as [string, string];
    expect(line).toBe('1 | a \\u{202e}\\u{200b}\\u{1b}[31m y');
    expect(line[carets.indexOf('^')]).toBe('y');
  });

  it('underlines the first and the last line of a longer place', () => {
    expect(render('a «b\nc\n  d» e').split('\n').slice(2, 8)).toEqual([
      '  |',
      '1 | a b',
      '  |   ^',
      '...',
      '3 |   d e',
      '  |   ^',
    ]);
  });

  it('cuts a line of thousands of characters around the place', () => {
    const lines = render(`${'a'.repeat(5000)}«b»${'c'.repeat(5000)}`).split('\n');
    expect(lines[3]!.length).toBeLessThan(180);
    expect(lines[3]).toMatch(/^1 \| …a+bc+…$/);
    expect(lines[4]!.indexOf('^')).toBe(lines[3]!.indexOf('b'));
  });

  it('names the file alone where it has no text', () => {
    const text = renderDiagnostics([diagnostic({ file: 'gone.policy', start: 0, end: 0 })], () => null, {
      color: false,
    });
    expect(text).toBe('error[unknown-name]: nothing is called `x`\n --> gone.policy\n\n1 error\n');
  });

  it('colours only when asked', () => {
    const source = (): string => 'x';
    const found = [diagnostic({ file: 'a', start: 0, end: 1 })];
    const colored = renderDiagnostics(found, source, { color: true });
    expect(colored).toContain('\u001b[');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape that starts a colour
    expect(colored.replace(/\u001b\[[\d;]*m/g, '')).toBe(renderDiagnostics(found, source, { color: false }));
  });

  it('counts errors and warnings, and says nothing of nothing', () => {
    const span = { file: 'a', start: 0, end: 0 };
    const found = [diagnostic(span), diagnostic(span), diagnostic(span, { severity: 'warning' })];
    expect(renderDiagnostics(found, () => '', { color: false })).toMatch(/\n\n2 errors, 1 warning\n$/);
    expect(renderDiagnostics([], () => '', { color: false })).toBe('');
  });
});

describe('position', () => {
  it('counts lines and code points from 1', () => {
    expect(position('🎫a\r\nb', 2)).toEqual({ line: 1, column: 2 });
    expect(position('🎫a\r\nb', 5)).toEqual({ line: 2, column: 1 });
    expect(position('ab', 99)).toEqual({ line: 1, column: 3 });
  });
});

describe('diagnosticToJson', () => {
  it('has every place by line and column', () => {
    const span = { file: 'a.policy', start: 4, end: 7 };
    const json = diagnosticToJson(
      diagnostic(span, {
        help: 'do',
        related: [{ span: { file: 'b.policy', start: 0, end: 1 }, message: 'see' }],
        fix: { title: 'write `y`', edits: [{ span, text: 'y' }] },
      }),
      (path) => (path === 'a.policy' ? 'one\ntwo' : null),
    );
    const place = { file: 'a.policy', start: { line: 2, column: 1 }, end: { line: 2, column: 4 } };
    expect(json).toEqual({
      code: 'unknown-name',
      severity: 'error',
      message: 'nothing is called `x`',
      ...place,
      help: 'do',
      related: [{ file: 'b.policy', start: null, end: null, message: 'see' }],
      fix: { title: 'write `y`', edits: [{ ...place, text: 'y' }] },
    });
  });
});
