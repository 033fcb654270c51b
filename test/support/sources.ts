// The sources of the product as text: the files, the imports of each, and import cycles.

import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const files: readonly string[] = globSync(['grammar/*.ts', 'src/**/*.{ts,tsx,js}'], {
  exclude: ['src/dashboard/dist/**'],
}).toSorted();

const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));

export function textOf(file: string): string {
  return texts.get(file) ?? '';
}

/** The file's text without its comments. */
export function codeOf(file: string): string {
  return textOf(file)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\/\/.*$/gm, '');
}

export interface Import {
  readonly from: string;
  /** The imported file of the product, or the name of a package. */
  readonly to: string;
  readonly isPackage: boolean;
  readonly isType: boolean;
  /** The import is dynamic: loaded when needed. */
  readonly isLater: boolean;
}

const importForm =
  /(?:^|\n)(?:import|export)\s+(type\s+)?([\w$*{}\s,]*?)\s*from\s*'([^']+)'|(?:^|\n)import '([^']+)'|import\('([^']+)'\)/g;

export const imports: readonly Import[] = files.flatMap((from) =>
  [...textOf(from).matchAll(importForm)].map(([, type, names = '', target, side, later]) => {
    const name = target ?? side ?? later ?? '';
    const isPackage = !name.startsWith('.');
    return {
      from,
      to: isPackage ? name : join(dirname(from), name),
      isPackage,
      isType: type !== undefined || areTypes(names),
      isLater: later !== undefined,
    };
  }),
);

/** Whether each name between the braces is marked as a type. */
function areTypes(names: string): boolean {
  if (!names.startsWith('{')) return false;
  const all = names.replace(/[{}]/g, '').split(',');
  return all.map((one) => one.trim()).every((one) => one === '' || one.startsWith('type '));
}

export const inside: readonly Import[] = imports.filter(({ to, isPackage }) => !isPackage && existsSync(to));

export type Edge = readonly [from: string, to: string];

/** A path from a node back to itself; null when there is none. */
export function circleIn(edges: readonly Edge[]): readonly string[] | null {
  const next = Map.groupBy(edges, ([from]) => from);
  const done = new Set<string>();
  const find = (node: string, way: readonly string[]): readonly string[] | null => {
    if (way.includes(node)) return [...way.slice(way.indexOf(node)), node];
    if (done.has(node)) return null;
    for (const [, to] of next.get(node) ?? []) {
      const circle = find(to, [...way, node]);
      if (circle !== null) return circle;
    }
    done.add(node);
    return null;
  };
  for (const node of next.keys()) {
    const circle = find(node, []);
    if (circle !== null) return circle;
  }
  return null;
}

/** The imports between folders; imports within one folder are left out. */
export function betweenFolders(those: readonly Import[]): readonly Edge[] {
  return those.map(({ from, to }): Edge => [dirname(from), dirname(to)]).filter(([from, to]) => from !== to);
}
