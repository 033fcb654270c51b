#!/usr/bin/env node
// The `writ` command: makes sure that Node is new enough before anything else is loaded, then hands over to main.ts.
// Too old a Node runs the one in node_modules, which a checkout installs; without it, one line says what to do.
// INVARIANT: plain JavaScript without imports of our own but the last, so that any Node can read it.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

const required = [22, 18];
/** Set for the Node that is started here, so that a wrong one cannot start itself again and again. */
const mark = 'WRIT_NODE_CHOSEN';

if (isEnough(process.versions.node)) run();
else startNewer();

async function startNewer() {
  if (process.env[mark] !== undefined) return stop();
  if (!isEnough(bundledVersion())) await installBundled();
  if (isEnough(bundledVersion())) startBundled();
  else stop();
}

/** @param {string} version */
function isEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > required[0] || (major === required[0] && minor >= required[1]);
}

function bundledNode() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  return fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url));
}

/** Empty when there is none that runs here. */
function bundledVersion() {
  const { stdout } = spawnSync(bundledNode(), ['--version'], { encoding: 'utf8' });
  return (stdout || '').trim().replace(/^v/, '');
}

/** Only a checkout has the installer; a package is installed by a Node that is new enough. */
async function installBundled() {
  const installer = new URL('../packaging/node/install.js', import.meta.url);
  if (!existsSync(installer)) return;
  const { installNode } = await import(installer.href);
  const problem = installNode();
  if (problem !== null) console.error(`writ: ${problem}`);
}

function startBundled() {
  const args = [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(bundledNode(), args, { stdio: 'inherit', env: { ...process.env, [mark]: '1' } });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both processes; passed on once more it would be a second one.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', stop);
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function stop() {
  const wanted = required.join('.');
  console.error(`writ needs Node ${wanted} or later, this is ${process.versions.node} (${process.execPath})`);
  process.exitCode = 1;
}

async function run() {
  // What the service reads from its environment is checked to the letter.
  delete process.env[mark];
  keepCompiled();
  // Node strips no types under node_modules, where an installed package lies; tsx does.
  if (import.meta.url.includes('/node_modules/')) (await import('tsx/esm/api')).register();
  // Once nothing is left to do, the process ends at once: taking it apart takes longer than many a command.
  process.once('beforeExit', () => process.exit());
  const { main } = await import('./main.ts');
  process.exitCode = await main(process.argv.slice(2));
}

/** Keeps what Node makes of our sources, so that the next start need not. Where it cannot write, nothing is kept. */
function keepCompiled() {
  // NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE have the last word.
  if (process.env.NODE_COMPILE_CACHE !== undefined) return;
  nodeModule.enableCompileCache?.(fileURLToPath(new URL('../../node_modules/.cache/writ', import.meta.url)));
}
