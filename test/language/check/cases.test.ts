// One golden case for each diagnostic of the checker, named by its code.

import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkCodes } from '../../../src/language/diagnostic/check-codes.ts';
import { runCase } from './golden.ts';

const folder = new URL('./cases', import.meta.url).pathname;
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.policy'))
  .map((file) => file.replace(/\.policy$/, ''));

describe('golden cases', () => {
  it.each(names)('%s', (name) => {
    const { expected, actual, codes } = runCase(folder, name);
    expect(actual).toBe(expected);
    // `ok-...` shows what has no diagnostic; a case named `code` or `code.variant` shows that code.
    if (name.startsWith('ok-')) expect(codes).toEqual([]);
    else expect(codes).toContain(name.split('.')[0]);
  });

  it.each(names)('%s says what to do about each problem', (name) => {
    const { actual } = runCase(folder, name);
    expect(actual).not.toMatch(/^#! (?:error|warning) .*(?:\n#! (?:error|warning| {2}see)|$(?!\n))/m);
  });

  it('has a case for each code', () => {
    const shown = new Set(names.map((name) => name.split('.')[0]));
    expect(Object.keys(checkCodes).filter((code) => !shown.has(code))).toEqual([]);
  });
});
