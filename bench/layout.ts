// Lets the benchmarks of this tree run on revisions from before `src` was split into `language`, `service`,
// `tools` and `reasoning`. Only imports and names change, in the copy of the benchmarks inside the other
// revision's checkout.

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
  // Before `src` was split, each check also looked for warnings, and the parameter `findErrors` did not
  // exist.
  [/, findErrors\b/g, ''],
];

/** Returns the folder of the measuring helpers in the checkout at `root`, relative to `root`. */
export function measureFolder(root: string): string {
  return hasWings(root) ? 'src/measure' : 'src/measure';
}

/** Rewrites the imports of the benchmarks that were copied to `root` to the folders of that revision. */
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
  // Before `src` was split, the measuring helpers were one folder higher.
  return isMeasure && target.startsWith('../../') ? fitted.slice('../'.length) : fitted;
}
