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
  const [, drawn = ''] = /each is imported by one before it:\n\n```text\n([^`]*)```/.exec(
    readFileSync('docs/ARCHITECTURE.md', 'utf8'),
  )!;
  const way = drawn
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [, before = '', names = '', after = ''] = /^(.*?)\{?([^/{}]*?)\}?(\.ts)$/.exec(line)!;
      return names.split(',').map((name) => `src/${before}${name}${after}`);
    });

  it('is short, and each file is imported by one before it', () => {
    expect(way.length).toBeLessThanOrEqual(32);
    const strangers = way.slice(1).filter((file, at) => {
      const imported = way.slice(0, at + 1).flatMap((before) => importsOf(before));
      return !imported.includes(file);
    });
    expect(strangers).toEqual([]);
  });
});

function importsOf(file: string): readonly string[] {
  const found = readFileSync(file, 'utf8').matchAll(/^(?:import|\}) (?!type )[^;]*?from '(\.[^']+)';/gm);
  return [...found].map(([, target = '']) => join(dirname(file), target));
}
