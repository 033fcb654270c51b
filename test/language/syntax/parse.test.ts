// Whole files: sound files give no diagnostics, limits are reported by name, and the places of nodes are
// right.

import { describe, expect, test } from 'vitest';
import { fileBytesMax, parse } from '../../../src/language/syntax/parse.ts';
import { printFile } from '../../../src/language/syntax/print/print.ts';
import type { PolicyDeclaration } from '../../../src/language/syntax/tree/tree.ts';
import { soundFiles } from './files.ts';

function read(text: string) {
  const { file, diagnostics } = parse({ path: 'x.policy', text });
  return { file, codes: diagnostics.map(({ code }) => code), diagnostics };
}

function firstPolicy(text: string): PolicyDeclaration {
  const found = read(text).file.declarations.find(({ kind }) => kind === 'policy');
  if (found?.kind !== 'policy') throw new Error('no policy');
  return found;
}

test.each(soundFiles())('$path is read without diagnostics', (source) => {
  expect(parse(source).diagnostics).toEqual([]);
});

// Long enough for a busy machine: the test is about getting an answer, not about its time.
const timeout = 60_000;

describe('limits', { timeout }, () => {
  const nested = (depth: number) => `let x = ${'('.repeat(depth)}1${')'.repeat(depth)}\nlet y = 2`;

  test('64 brackets are fine, 65 are not, and the rest of the file is read', () => {
    expect(read(nested(64)).codes).toEqual([]);
    const { codes, file } = read(nested(65));
    expect(codes).toEqual(['nesting-too-deep']);
    expect(file.declarations.map((one) => one.kind === 'let' && one.name.text)).toEqual(['x', 'y']);
  });

  test.each([
    ['not', (depth: number) => `let x = ${'not '.repeat(depth)}true`],
    ['minus', (depth: number) => `let x = ${'- '.repeat(depth)}y`],
    ['list type', (depth: number) => `type t = ${'['.repeat(depth)}string${']'.repeat(depth)}`],
    ['record type', (depth: number) => `type t = ${'{ x: '.repeat(depth)}string${' }'.repeat(depth)}`],
    ['modifier', (depth: number) => `type t = ${'secret '.repeat(depth)}string`],
  ])('nesting of %s', (_, write) => {
    expect(read(write(64)).codes).toEqual([]);
    expect(read(write(65)).codes).toEqual(['nesting-too-deep']);
    expect(read(write(60_000)).codes).toEqual(['nesting-too-deep']);
  });

  test.each([
    ['in a chain', (depth: number) => `${'if payload.type == 1 then 2 else '.repeat(depth)}3`],
    [
      'in conditions',
      (depth: number) => `${'if '.repeat(depth)}true${' then true else false'.repeat(depth)}`,
    ],
    ['behind then', (depth: number) => `${'if payload has list then '.repeat(depth)}true`],
    ['between brackets', (depth: number) => `${'(if true then '.repeat(depth)}1${')'.repeat(depth)}`],
  ])('64 `if` %s are fine, more are not, however many', (_, write) => {
    const file = (depth: number) => `let x = ${write(depth)}\nlet y = 2`;
    expect(read(file(30)).codes).toEqual([]);
    for (const depth of [70, 1_000, 30_000]) expect(read(file(depth)).codes).toContain('nesting-too-deep');
    expect(read(file(30_000)).file.declarations.map((one) => one.kind)).toEqual(['let', 'let']);
  });

  test('brackets without end', () => {
    expect(read(`let x = ${'(['.repeat(100_000)}`).codes).toContain('nesting-too-deep');
    expect(read(')]}'.repeat(100_000)).codes).toContain('unexpected-token');
  });

  test('operators may stand 500 deep inside one another', () => {
    const chain = (length: number, operator: string) => `let x = ${Array(length).fill('a').join(operator)}`;
    expect(read(chain(500, ' + ')).codes).toEqual([]);
    expect(read(chain(501, ' + ')).codes).toEqual(['expression-too-deep']);
    expect(read(chain(50_000, ' + ')).codes).toEqual(['expression-too-deep']);
    expect(read(`let x = a${' else 1'.repeat(50_000)}`).codes).toEqual(['expression-too-deep']);
  });

  test.each(['and', 'or'])('a chain of `%s` is flat and may be as long as the file', (operator) => {
    const text = `let x = ${Array(50_000).fill('a').join(` ${operator} `)}\n`;
    const { file, codes } = read(text);
    expect(codes).toEqual([]);
    expect(printFile(file)).toBe(`${text.trimEnd().replaceAll(` ${operator}`, `\n  ${operator}`)}\n`);
  });

  test('a chain that tells values as conditions is read soon', () => {
    const text = `let x = ${Array(10_000).fill('a == 1 or 2').join(' or ')}`;
    expect(new Set(read(text).codes)).toEqual(new Set(['value-as-condition', 'too-many-problems']));
  });

  test('a list may have any number of entries', () => {
    const { codes } = read(`let x = [${'1,'.repeat(150_000)} a == 1 or 2]`);
    expect(codes).toEqual(['value-as-condition']);
  });

  test('a file has at most 1 MiB of UTF-8', () => {
    const comment = '#'.padEnd(fileBytesMax - 1, 'ä');
    expect(read('#'.padEnd(fileBytesMax, 'a')).codes).toEqual([]);
    expect(read('#'.padEnd(fileBytesMax + 1, 'a')).codes).toEqual(['file-too-large']);
    expect(read(comment).codes).toEqual(['file-too-large']);
  });

  test('at most 200 problems are listed', () => {
    const { diagnostics } = read('§ '.repeat(1000));
    expect(diagnostics).toHaveLength(201);
    expect(read('let x =\n'.repeat(50_000)).diagnostics).toHaveLength(201);
    expect(diagnostics.at(-1)?.code).toBe('too-many-problems');
  });
});

describe('documentation', () => {
  test('is the whole-line comments that end on the line above', () => {
    const { file } = read('# far\n\n# near\n#  more\nlet x = 1 # behind\nlet y = 2\n\n# apart\n\nlet z = 3');
    expect(file.declarations.map(({ doc }) => doc)).toEqual(['near\n more', null, null]);
  });

  test('belongs to rules, fields and claims too, with either line end', () => {
    const { file } = read(
      'action a.b {\r\n  # of x\r\n  x: string\r\n}\r\npolicy p on a.b {\r\n  # of d\r\n  deny d\r\n}\r\nguarantee g on a.b {\r\n  # of g\r\n  never allow\r\n}',
    );
    const docs = file.declarations.map((one) => {
      if (one.kind === 'action') return one.body.fields[0]?.doc;
      if (one.kind === 'policy') return one.rules[0]?.doc;
      return one.kind === 'guarantee' ? one.claims[0]?.doc : null;
    });
    expect(docs).toEqual(['of x', 'of d', 'of g']);
  });
});

describe('reasons', () => {
  const partsOf = (reason: string) => {
    const text = `policy p on a.b {\n  deny d because ${reason}\n}`;
    const { diagnostics } = read(text);
    const clause = firstPolicy(text).rules[0]?.clauses[0];
    if (clause?.kind !== 'because') throw new Error('no reason');
    const parts = clause.reason.parts.map((part) =>
      part.kind === 'template-text'
        ? part.text
        : [part.value, text.slice(part.value.span.start, part.value.span.end)],
    );
    return { parts, diagnostics, text };
  };

  test('hold texts and expressions, with spans behind escapes', () => {
    const { parts, diagnostics } = partsOf(String.raw`"\u0041\n{{x}} {payload.y else \"a}\"}\\{risk}"`);
    expect(diagnostics).toEqual([]);
    expect(parts).toEqual([
      'A\n{x}} ',
      [expect.objectContaining({ kind: 'else' }), String.raw`payload.y else \"a}\"`],
      '\\',
      [expect.objectContaining({ kind: 'path' }), 'risk'],
    ]);
  });

  test('point into the file where an expression is wrong', () => {
    const { diagnostics, text } = partsOf(String.raw`"\t\t{payload.x = \"é\"}"`);
    expect(diagnostics.map(({ code }) => code)).toEqual(['assignment-for-equality']);
    expect(text.slice(diagnostics[0]!.span.start, diagnostics[0]!.span.end)).toBe('=');
  });
});

describe('after an error', () => {
  test('an expression is missing where it should stand, within brackets too', () => {
    const [declaration] = read('let x = ()').file.declarations;
    const value = declaration?.kind === 'let' ? declaration.value : null;
    expect(value).toMatchObject({ kind: 'missing', span: { start: 9, end: 9 } });
  });

  test('what else is wrong is told of a part that is left out, too', () => {
    const { codes } = read('policy p on a.b {\n  deny when payload.x == "\\q"\n}');
    expect(codes).toEqual(['unexpected-token', 'bad-escape']);
  });

  test('a sound text is read as it is after a broken one', () => {
    const text = 'let x = a and b\n';
    const before = JSON.stringify(read(text));
    read('policy p on a.b { deny x when (a like [');
    expect(JSON.stringify(read(text))).toBe(before);
  });
});

test('texts are resolved, raw ones kept', () => {
  const { file, codes } = read(String.raw`list x = ["\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00", '\d"{']`);
  expect(codes).toEqual([]);
  const [list] = file.declarations;
  const entries = list?.kind === 'list' && list.source.kind === 'entries' ? list.source.entries : [];
  expect(entries.map((entry) => entry.kind === 'text' && [entry.value, entry.isRaw])).toEqual([
    ['"\\/\b\f\n\r\té😀', false],
    ['\\d"{', true],
  ]);
});

test('a byte order mark and either line end are blanks', () => {
  expect(read('\ufefflet x = 1\r\nlet y = 2').codes).toEqual([]);
});

test('the `risk` of a following rule is no clause', () => {
  const { rules } = firstPolicy('policy p on a.b { escalate x to g when a risk y +5 deny z risk +6 }');
  expect(rules.map(({ name, clauses }) => [name.text, clauses.length])).toEqual([
    ['x', 2],
    ['y', 1],
    ['z', 1],
  ]);
});
