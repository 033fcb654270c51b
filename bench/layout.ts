// The folders of revisions before `src` had wings: this tree's benchmarks find there what they measure. Only imports
// and names are changed, in the copy that lies beside the other revision.

import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const moved: readonly (readonly [now: RegExp, then: string])[] = [
  [/\/language\/value\/random\.ts/, '/prove/random.ts'],
  [/\/service\/policies\//, '/sources/'],
  [/\/program\/index\/explain-index-key\.ts/, '/program/explain-anchor.ts'],
  [/\/program\/(?:plan|packed|index)\//, '/program/'],
  [/\/(?:language|service|tools|reasoning)\//, '/'],
];

const renamed: readonly (readonly [now: RegExp, then: string])[] = [
  [/\b(create)?(Compile|Plan)Cache\b/g, '$1$2Memory'],
  // Each check looked for warnings, too.
  [/, findErrors\b/g, ''],
];

/** Where the measurements of a revision lie. */
export function measureFolder(root: string): string {
  return hasWings(root) ? 'src/tools/measure' : 'src/measure';
}

/** Lets benchmarks that were copied to `root` import by the folders of that revision. */
export function fitImports(root: string): void {
  if (hasWings(root)) return;
  for (const file of globSync(['bench/**/*.ts', 'src/measure/*.ts'], { cwd: root })) {
    const path = join(root, file);
    const text = renamed.reduce((all, [now, then]) => all.replace(now, then), readFileSync(path, 'utf8'));
    const isMeasure = file.startsWith('src/');
    writeFileSync(
      path,
      text.replace(/(?<=from ')\.[^']+/g, (target) => importThen(target, isMeasure)),
    );
  }
}

function hasWings(root: string): boolean {
  return existsSync(join(root, 'src/language'));
}

function importThen(target: string, isMeasure: boolean): string {
  const fitted = moved.reduce((text, [now, then]) => text.replace(now, then), target);
  // The measurements lay one folder higher.
  return isMeasure && target.startsWith('../../') ? fitted.slice('../'.length) : fitted;
}
