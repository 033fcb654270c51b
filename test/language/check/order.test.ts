// Law (c) for the checker: no order of files, declarations, rules or patterns changes the model or what is reported.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Declaration, PolicyFile } from '../../../src/language/syntax/tree/tree.ts';
import { checkSet, soundSets, withoutSpans } from './trees.ts';

describe('the model', () => {
  it.each(soundSets())('of $name does not depend on order', ({ folder, files }) => {
    const straight = checkSet(folder, files);
    expect(straight.set).not.toBeNull();
    const declarations = files.flatMap((file) => file.declarations);
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(1_000_000)), fc.integer({ min: 1, max: 3 }), (numbers, count) => {
        const shuffled = shuffle(
          declarations.map((each) => shuffleWithin(each, numbers)),
          numbers,
        );
        const arranged = deal(shuffled, files[0]!, count);
        const checked = checkSet(folder, arranged);
        expect(withoutSpans(checked.set)).toBe(withoutSpans(straight.set));
        expect(codesOf(checked.diagnostics)).toEqual(codesOf(straight.diagnostics));
      }),
      { numRuns: 15 },
    );
  });
});

function codesOf(
  diagnostics: readonly { readonly code: string; readonly severity: string }[],
): readonly string[] {
  return diagnostics.map(({ code, severity }) => `${severity} ${code}`).sort();
}

type Numbers = IterableIterator<number>;

function shuffle<T>(items: readonly T[], numbers: Numbers): readonly T[] {
  const keyed = items.map((item) => ({ item, key: numbers.next().value as number }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

function shuffleWithin(declaration: Declaration, numbers: Numbers): Declaration {
  if (declaration.kind === 'policy') {
    const { rules, patterns } = declaration;
    return { ...declaration, rules: shuffle(rules, numbers), patterns: shuffle(patterns, numbers) };
  }
  if (declaration.kind !== 'action') return declaration;
  const body = { ...declaration.body, fields: shuffle(declaration.body.fields, numbers) };
  return { ...declaration, body, keys: shuffle(declaration.keys, numbers) };
}

function deal(declarations: readonly Declaration[], file: PolicyFile, count: number): readonly PolicyFile[] {
  return Array.from({ length: count }, (_, index) => ({
    ...file,
    declarations: declarations.filter((_, at) => at % count === index),
  }));
}
