// `node src/dashboard/build.ts [--if-needed]`: builds dist/ from the sources of the dashboard, and dist/docs/ from
// the pages of the documentation. With `--if-needed`, it builds only when a source, a page, a manifest of npm or
// this script has changed since the last build, as their digest shows. INVARIANT: dist/ is always whole: it is built elsewhere and put in place at
// once, so a service that starts meanwhile reads one build.

import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join, relative } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { buildSite } from '../site/pages/build.ts';
import { pagePaths } from '../site/pages/sources.ts';

const root = import.meta.dirname;
const outputFolder = join(root, 'dist');
const markFile = join(outputFolder, '.built');
const repository = join(root, '../..');
/** Parts of `src` that scripts for browsers contain, besides the dashboard: the documentation's playground decides. */
const sourceFolders = ['site', 'embedded', 'language'];
const sourceFiles = ['src/pipeline.ts'];

const digest = sourcesDigest();
if (!process.argv.includes('--if-needed') || !isBuilt(digest)) {
  const making = join(root, `.dist-${process.pid}`);
  try {
    // The service sees this folder, and says that the dashboard is being built.
    mkdirSync(making, { recursive: true });
    console.error('Building the dashboard ...');
    // A service that starts meanwhile comes first.
    setPriority(10);
    await make(making);
    putInPlace(making);
    console.error('The dashboard is built.');
  } finally {
    for (const left of [making, `${making}-old`]) rmSync(left, { recursive: true, force: true });
  }
}

async function make(folder: string): Promise<void> {
  // With another value Vite builds for development, and the paths of this machine would be in the result.
  process.env.NODE_ENV = 'production';
  const { build } = await import('vite');
  await build({ configFile: join(root, 'vite.config.ts'), build: { outDir: folder } });
  await buildSite(join(folder, 'docs'));
  for (const path of filesOf(folder).filter((one) => !one.endsWith('.png'))) {
    writeFileSync(`${path}.br`, compressed(path));
    // The documentation is read in its compressed form only.
    if (path.startsWith(join(folder, 'docs'))) rmSync(path);
  }
  writeFileSync(join(folder, '.built'), digest);
}

/** The pages of the documentation are many: the best compression would take most of the build's time. */
function compressed(path: string): Buffer {
  const quality = path.endsWith('.html') ? 9 : constants.BROTLI_DEFAULT_QUALITY;
  return brotliCompressSync(readFileSync(path), { params: { [constants.BROTLI_PARAM_QUALITY]: quality } });
}

function putInPlace(folder: string): void {
  if (existsSync(outputFolder)) renameSync(outputFolder, `${folder}-old`);
  renameSync(folder, outputFolder);
}

function isBuilt(expected: string): boolean {
  return existsSync(markFile) && readFileSync(markFile, 'utf8') === expected;
}

function sourcesDigest(): string {
  const hash = createHash('sha256');
  const own = filesOf(root).filter((path) => !path.startsWith(outputFolder));
  const sources = [
    ...own,
    ...sourceFolders.flatMap((folder) => filesOf(join(root, '..', folder))),
    ...filesOf(join(repository, 'docs')),
    ...[...sourceFiles, ...pagePaths(repository)].map((path) => join(repository, path)),
  ];
  const manifests = ['package.json', 'package-lock.json'].map((name) => join(root, '../..', name));
  for (const path of new Set([...sources, ...manifests].sort())) {
    hash.update(relative(root, path)).update('\0').update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex');
}

function filesOf(folder: string): readonly string[] {
  return globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
