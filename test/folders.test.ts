// The folders of the stages as imports draw them: few files in each, no file that needs itself by way of others, no two
// folders that need each other.

import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const filesMax = 24;
const files = globSync('src/{check,program,emit}/**/*.ts').toSorted();

interface Import {
  readonly from: string;
  readonly to: string;
  readonly isType: boolean;
}

const imports: readonly Import[] = files.flatMap((from) =>
  [...readFileSync(from, 'utf8').matchAll(/^(?:import|export) (type )?([^;']*?) ?from '(\.[^']+)';/gm)].map(
    ([, type, names = '', target = '']) => ({
      from,
      to: join(dirname(from), target),
      isType: type !== undefined || (names.match(/[\w$]+(?=\s*[,}])/g) ?? []).length === typed(names),
    }),
  ),
);

function typed(names: string): number {
  return names.match(/\btype /g)?.length ?? 0;
}

/** A way from a node back to itself; null where there is none. */
function circleIn(edges: readonly (readonly [from: string, to: string])[]): readonly string[] | null {
  const next = Map.groupBy(edges, ([from]) => from);
  const done = new Set<string>();
  const find = (node: string, way: readonly string[]): readonly string[] | null => {
    if (way.includes(node)) return [...way.slice(way.indexOf(node)), node];
    if (done.has(node)) return null;
    done.add(node);
    for (const [, to] of next.get(node) ?? []) {
      const circle = find(to, [...way, node]);
      if (circle !== null) return circle;
    }
    return null;
  };
  for (const node of next.keys()) {
    const circle = find(node, []);
    if (circle !== null) return circle;
  }
  return null;
}

describe('the folders of the stages', () => {
  it('finds circles', () => {
    expect(
      circleIn([
        ['a', 'b'],
        ['b', 'c'],
        ['c', 'b'],
      ]),
    ).toEqual(['b', 'c', 'b']);
    expect(imports.length).toBeGreaterThan(400);
  });

  it(`hold at most ${filesMax} files each`, () => {
    const sizes = Map.groupBy(files, (file) => dirname(file));
    expect([...sizes].filter(([, all]) => all.length > filesMax).map(([folder]) => folder)).toEqual([]);
  });

  it('have no file that needs itself', () => {
    const values = imports.filter(({ isType }) => !isType);
    expect(circleIn(values.map(({ from, to }) => [from, to] as const))).toBeNull();
  });

  it('have no two folders that need each other, be it for types', () => {
    const between = imports.map(({ from, to }) => [dirname(from), dirname(to)] as const);
    expect(circleIn(between.filter(([from, to]) => from !== to))).toBeNull();
  });
});

describe('the way from text to function', () => {
  const way = wayAfter('each is imported by one before it:');

  it('is short, and each file is imported by one before it', () => {
    expect(way.length).toBeLessThanOrEqual(32);
    expect(strangersOn(way, [])).toEqual([]);
  });
});

/** They open the store and hand it to the app, once, at the start. */
const starters = ['src/service/http/main.ts', 'src/service/store/open.ts'];

describe('the way of a request', () => {
  const way = wayAfter('which opens the store and hands it to the app:');

  it('begins with the app, is short, and each file is imported by one before it', () => {
    expect(way[0]).toBe('src/service/http/app.ts');
    expect(way.length).toBeLessThanOrEqual(24);
    expect(strangersOn(way, starters)).toEqual([]);
  });

  it('is shorter for an approval, but for the connection and the writer that both share', () => {
    const approval = wayAfter('Between the two, it passes these files:');
    expect(approval[0]).toBe('src/service/http/app.ts');
    expect(approval.length).toBeLessThanOrEqual(16);
    const writer = way.filter((file) => /\/(writer|writes)\.ts$/.test(file));
    expect(strangersOn(approval, [...starters, ...writer])).toEqual([]);
  });
});

/** The files that the page on architecture lists after a sentence, in their order. */
function wayAfter(sentence: string): readonly string[] {
  const page = readFileSync('docs/ARCHITECTURE.md', 'utf8');
  const [, drawn = ''] = new RegExp(`${sentence}\\n\\n\`\`\`text\\n([^\`]*)\`\`\``).exec(page)!;
  return drawn
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [, before = '', names = '', after = ''] = /^(.*?)\{?([^/{}]*?)\}?(\.ts)$/.exec(line)!;
      return names.split(',').map((name) => `src/${before}${name}${after}`);
    });
}

/** Files that neither one before them imports nor one of the `others`. */
function strangersOn(way: readonly string[], others: readonly string[]): readonly string[] {
  return way.slice(1).filter((file, at) => {
    const imported = [...others, ...way.slice(0, at + 1)].flatMap((before) => importsOf(before));
    return !imported.includes(file);
  });
}

function importsOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8');
  const found = text.matchAll(
    /^(?:import|\}) (?!type )[^;]*?from '(\.[^']+)';|(?:import\(|new URL\()'(\.[^']+)'/gm,
  );
  return [...found].map(([, target, loaded]) => join(dirname(file), target ?? loaded ?? ''));
}
