// Silenced diagnostics beyond the golden cases: what tools receive, several files, and line ends.

import { describe, expect, it } from 'vitest';
import { check } from '../../../src/language/check/check.ts';
import { applySilences, type SilenceResult } from '../../../src/language/check/silences.ts';
import { parse } from '../../../src/language/syntax/parse.ts';
import { printFile } from '../../../src/language/syntax/print/print.ts';
import { createRandom, type RandomSource } from '../../../src/language/value/random.ts';
import { randomSet } from '../../laws/policies.ts';

function silence(...texts: readonly string[]): SilenceResult {
  const sources = texts.map((text, index) => ({ path: `${index}.policy`, text }));
  const parsed = sources.map(parse);
  const files = parsed.map(({ file }) => file);
  const checked = check(files, () => ({ code: 'list-file-missing', message: 'no files here' }));
  const all = [...parsed.flatMap(({ diagnostics }) => diagnostics), ...checked.diagnostics];
  return applySilences(files, sources, all);
}

const action = 'action order.place { count: integer }\n';
const comment = '# writ: allow allow-unconditional because orders are simulated';

describe('a silence', () => {
  it('hands on what it takes off, with its reason', () => {
    const { diagnostics, silenced } = silence(
      `${action}policy orders on order.place {\n  allow all ${comment}\n}`,
    );
    expect(diagnostics).toEqual([]);
    expect(silenced.map(({ diagnostic, reason }) => [diagnostic.code, reason])).toEqual([
      ['allow-unconditional', 'orders are simulated'],
    ]);
  });

  it('speaks of its own file alone', () => {
    const rules = 'policy orders on order.place { allow all }';
    const { diagnostics } = silence(`${action}${rules}`, `\n${comment}\nlet a = 1`);
    expect(diagnostics.map(({ code, span }) => [code, span.file])).toEqual([
      ['allow-unconditional', '0.policy'],
      ['silence-unused', '1.policy'],
      ['unused-declaration', '1.policy'],
    ]);
  });

  it('works where lines end in carriage return and line feed', () => {
    const { diagnostics } = silence(
      `${action}policy orders on order.place {\r\n  ${comment}\r\n  allow all\r\n}\r\n`,
    );
    expect(diagnostics).toEqual([]);
  });

  it('holds for all of a rule, so that breaking its lines changes nothing', () => {
    const rule =
      'deny a when payload.count > 5 and payload.count < 5 # writ: allow never-true because it is a draft';
    const { file } = parse({
      path: '0.policy',
      text: `${action}policy orders on order.place {\n  ${rule}\n}`,
    });
    const broken = `${action}policy orders on order.place {\n  deny a\n    when payload.count > 5\n      and payload.count < 5 # writ: allow never-true because it is a draft\n}`;
    for (const text of [broken, printFile(file)]) {
      expect(silence(text).silenced.map(({ diagnostic }) => diagnostic.code)).toEqual(['never-true']);
    }
  });

  it('does not reach into the next rule', () => {
    const rules =
      '  allow all # writ: allow allow-unconditional because orders are simulated\n  allow others';
    const { diagnostics } = silence(`${action}policy orders on order.place {\n${rules}\n}`);
    expect(diagnostics.map(({ code }) => code)).toEqual(['allow-unconditional', 'rule-duplicated']);
  });

  it('takes off what the parser warns of too', () => {
    const rule = 'deny a because "x" when payload.count > 5';
    const { silenced } = silence(
      `${action}policy orders on order.place {\n  # writ: allow clause-order because it is generated\n  ${rule}\n}`,
    );
    expect(silenced.map(({ diagnostic }) => diagnostic.code)).toEqual(['clause-order']);
  });

  it('is called unused only where all warnings have been looked for', () => {
    const { diagnostics } = silence(`${action}policy orders on order.plce { allow all ${comment}\n}`);
    expect(diagnostics.map(({ code }) => code)).toEqual(['pattern-matches-nothing']);
  });
});

/** The text with whole-line comments and blank lines above some of its lines. */
function withComments(text: string, codes: readonly string[], random: RandomSource): string {
  const silences = codes.map((code) => `# writ: allow ${code} because it is meant`);
  const above = [...silences, '# About what follows.', ''];
  return text
    .split('\n')
    .flatMap((line) => (random.chance(0.6) ? [...random.some(above, 0.6), line] : [line]))
    .join('\n');
}

describe('formatting', () => {
  it('never changes which warnings are silenced', () => {
    const counts = { silenced: 0, left: 0 };
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = createRandom(seed);
      const plain = randomSet(random).files.map(({ text }) => text);
      const codes = [...new Set(silence(...plain).diagnostics.map(({ code }) => code))];
      const texts = plain.map((text) => withComments(text, codes, random));
      const printed = texts.map((text) => printFile(parse({ path: 'x.policy', text }).file));
      const [before, after] = [silence(...texts), silence(...printed)].map(({ diagnostics, silenced }) => ({
        left: diagnostics.map(({ code }) => code).toSorted(),
        silenced: silenced.map(({ diagnostic }) => diagnostic.code).toSorted(),
      }));
      expect(after, `seed ${seed}`).toEqual(before);
      counts.silenced += before!.silenced.length;
      counts.left += before!.left.length;
    }
    expect(Math.min(counts.silenced, counts.left)).toBeGreaterThan(5);
  });
});
