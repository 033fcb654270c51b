// Golden cases: each `cases/NAME.policy` has a `NAME.txt` with its diagnostics, the text after their fixes,
// and the declarations that survive. UPDATE_GOLDEN=1 accepts the present output.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { syntaxCodes } from '../../../src/language/diagnostic/syntax-codes.ts';
import { parse } from '../../../src/language/syntax/parse.ts';
import type { Declaration } from '../../../src/language/syntax/tree/tree.ts';
import { applyFix, drawDiagnostics } from './draw.ts';
import { caseFile, caseNames } from './files.ts';

describe('golden cases', () => {
  test.each(caseNames())('%s', (name) => {
    const source = caseFile(name);
    const { file, diagnostics } = parse(source);
    const outline = file.declarations.map(outlineOf).join('\n');
    const drawing = `${drawDiagnostics(diagnostics, source.text)}\n---\n${outline}\n`;
    const path = join(import.meta.dirname, 'cases', `${name}.txt`);
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(path, drawing);
    expect(existsSync(path), `${path} is missing: accept it with UPDATE_GOLDEN=1`).toBe(true);
    expect(drawing).toBe(readFileSync(path, 'utf8'));
  });

  test.each(caseNames())('every fix of %s resolves its diagnostic and makes no new one', (name) => {
    const source = caseFile(name);
    const { diagnostics } = parse(source);
    for (const { code, fix } of diagnostics) {
      if (fix === undefined) continue;
      const fixed = parse({ ...source, text: applyFix(fix, source.text) }).diagnostics;
      expect.soft(fixed.length, `${code} of ${name}`).toBeLessThan(diagnostics.length);
    }
  });

  test('every code of the parser is seen in a case, but for limits that take long texts', () => {
    const seen = new Set(
      caseNames().flatMap((name) => parse(caseFile(name)).diagnostics.map(({ code }) => code)),
    );
    const limits = ['nesting-too-deep', 'expression-too-deep', 'too-many-problems'];
    const unseen = Object.keys(syntaxCodes).filter((code) => !([...seen] as string[]).includes(code));
    expect(unseen.sort()).toEqual(limits.sort());
  });

  test('messages and help are in lower case and end without a period', () => {
    const texts = caseNames().flatMap((name) =>
      parse(caseFile(name)).diagnostics.flatMap(({ message, help }) => [message, help ?? '']),
    );
    for (const text of texts) {
      expect.soft(text).not.toMatch(/^[A-Z](?!\+|[A-Z])/);
      expect.soft(text).not.toMatch(/(?<!\.\.)\.$/);
    }
  });
});

function outlineOf(declaration: Declaration): string {
  const name =
    declaration.kind === 'action'
      ? declaration.keys.map(({ text }) => text).join(', ')
      : declaration.name.text;
  const inner =
    declaration.kind === 'policy'
      ? declaration.rules.map((rule) => `\n  ${rule.effect} ${rule.name.text}`)
      : [];
  return `${declaration.kind} ${name}${inner.join('')}`;
}
