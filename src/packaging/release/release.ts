// `npm run release [-- --dry-run] [FOLDER]`: makes and describes everything that is published of this
// version, in FOLDER (default `build/release`), and tags the commit. With `--dry-run` nothing is tagged, and
// problems are only printed.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { release as bundleRelease } from '../../service/policies/compiled/bundle.ts';
import { packageManifest } from '../package/manifests.ts';
import { describeRelease, notesOf, type Source } from './describe.ts';

const root = resolve(import.meta.dirname, '../../..');
const command = new Command('npm run release --')
  .description('build the release files and their metadata, and tag the commit')
  .argument('[folder]', 'the output folder, which must be empty', 'build/release')
  .option('--dry-run', 'tag nothing, and only report what prevents a release')
  .parse();
const isDry = command.opts().dryRun === true;
const folder = resolve(command.processedArgs[0]);

const { version } = packageManifest;
const problems = problemsOf();
for (const problem of problems) console.error(`release ${version}: ${problem}`);
if (problems.length > 0 && !isDry) process.exit(1);
make({
  version,
  commit: git('rev-parse', 'HEAD'),
  at: new Date(git('log', '-1', '--format=%cI')).toISOString(),
});

function make(source: Source): void {
  if (existsSync(folder) && readdirSync(folder).length > 0)
    command.error(`error: ${folder} is not empty: name another folder`);
  mkdirSync(folder, { recursive: true });
  runTool('build.ts');
  if (isThere('dpkg-deb')) runTool('debian.ts');
  else console.error(`release ${version}: dpkg-deb is missing, so no Debian package is built`);
  runTool('wheel.ts');
  describeRelease(folder, source);
  for (const name of readdirSync(folder).toSorted()) console.log(join(folder, name));
  if (isDry) return;
  git('tag', '--annotate', tagOf(), '--message', `Writ ${version}`);
  console.log(`tagged ${tagOf()}: push the tag, and publish the files in ${folder}`);
}

function runTool(name: string): void {
  execFileSync(process.execPath, [join(root, 'src/packaging/package', name), folder], { stdio: 'inherit' });
}

function isThere(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

/** The reasons against a release of this checkout, in lower case without a final period. */
function problemsOf(): readonly string[] {
  return [
    git('status', '--porcelain') === '' ? null : 'the checkout has uncommitted changes',
    git('tag', '--list', tagOf()) === ''
      ? null
      : `the tag ${tagOf()} already exists: raise the version in package.json`,
    bundleRelease === version
      ? null
      : `bundles call this release ${bundleRelease}: see service/policies/compiled/bundle.ts`,
    existsSync(join(root, 'test/e2e/upgrades/stores', version))
      ? null
      : 'no store of this version is kept for tests of later versions: run node test/e2e/upgrades/keep.ts',
    problemOfNotes(),
  ].filter((problem) => problem !== null);
}

function problemOfNotes(): string | null {
  try {
    notesOf(version);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function tagOf(): string {
  return `v${version}`;
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}
