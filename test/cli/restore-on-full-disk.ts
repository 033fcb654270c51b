// A process that makes a store and a backup in the folder argv[2], fills the disk, restores the backup, makes
// room, restores it again, and prints both outcomes. The folder is a small file system of its own, or the
// process has a limit on the size of files in place of a full disk (argv[3] is `tmpfs` or `limit`).

import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writProcess } from './writ.ts';

const [, , folder = '', means = ''] = process.argv;
const [data, backup, ballast] = ['data', 'backup.db', 'ballast'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];

function setSizeLimit(limit: string): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${limit}:`]);
}

function fillDisk(): void {
  if (means === 'limit') {
    setSizeLimit('4096');
    return;
  }
  try {
    for (;;) appendFileSync(ballast, Buffer.alloc(4096, 1));
  } catch {
    // The disk is full.
  }
}

function makeRoom(): void {
  if (means === 'limit') setSizeLimit('unlimited');
  else rmSync(ballast);
}

/** The store's files with their content, in which nothing may change while a restore fails. */
function storeFiles(): string {
  const names = readdirSync(data).filter((name) => name !== 'writ.db.serving');
  return JSON.stringify(names.map((name) => [name, readFileSync(join(data, name), 'base64')]));
}

const agent = ['agent', 'add', 'buyer', '--tier', 'low', '--owner', 'ann@example.com'];
await writProcess([...agent, '--data', data]);
await writProcess(['backup', backup, '--data', data]);
const before = storeFiles();
fillDisk();
const whileFull = await writProcess(['restore', backup, '--data', data]);
const isUnchanged = storeFiles() === before;
makeRoom();
const after = await writProcess(['restore', backup, '--data', data]);
process.stdout.write(JSON.stringify({ whileFull, isUnchanged, after }));
