// What a start says when one of its files cannot be used: which file, what is wrong with it, and nothing of a
// file that is right.

import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { faultOfFile, findFault } from '../../../src/service/file-fault.ts';
import { configured } from '../../../src/service/http/main.ts';
import { bundleSource } from '../../../src/service/policies/bundles/bundle-source.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { keptPostgres } from './postgres-server.ts';
import { temporaryFolder } from './rows.ts';

async function made(): Promise<string> {
  const path = join(temporaryFolder(), 'writ.db');
  await (await openStore({ path })).close();
  return path;
}

const isDirectory = 'is a directory, and must be a file';

test.each(['', '.serving'])('a directory in place of `writ.db%s` is named', async (end) => {
  const path = await made();
  rmSync(path + end, { force: true });
  mkdirSync(path + end);
  await expect(openStore({ path, isUpgradeAllowed: true })).rejects.toMatchObject({
    code: 'unwritable',
    message: `\`${path}${end}\` ${isDirectory}`,
  });
});

test('a directory in place of the master key is named', async () => {
  const path = await made();
  rmSync(`${path}.key`);
  mkdirSync(`${path}.key`);
  await expect(openStore({ path })).rejects.toMatchObject({
    code: 'master-key',
    message: `the master key \`${path}.key\` ${isDirectory}`,
  });
});

test('a data directory that is a file is named, whatever lies under it', async () => {
  const folder = temporaryFolder();
  const data = join(folder, 'var');
  writeFileSync(data, '');
  await expect(openStore({ path: join(data, 'writ.db') })).rejects.toThrow(
    `\`${data}\` is a file, and must be a directory`,
  );
  const under = join(data, 'deep', 'writ.db');
  await expect(openStore({ path: under })).rejects.toThrow('lies under a file, where a directory must be');
});

test('a loop of links is named', async () => {
  const path = await made();
  rmSync(`${path}.key`);
  symlinkSync(`${path}.key`, `${path}.key`);
  await expect(openStore({ path })).rejects.toThrow(`\`${path}.key\` is a loop of links`);
});

test('the key of a database is named, and its fault is not one of the network', async () => {
  const server = await keptPostgres();
  const { url } = await server.createDatabase();
  const keyFile = join(temporaryFolder(), 'writ.key');
  mkdirSync(keyFile);
  await expect(openStore({ url, keyFile })).rejects.toMatchObject({
    code: 'master-key',
    message: `the master key \`${keyFile}\` ${isDirectory}`,
  });
});

test('a configuration and a bundle that are directories are named', async () => {
  const directory = temporaryFolder();
  mkdirSync(join(directory, 'writ.yaml'));
  expect(() => configured({ directory, environment: {} })).toThrow(
    `${join(directory, 'writ.yaml')} ${isDirectory}`,
  );
  const reading = bundleSource(directory, { bytesMax: 1_024 })(null, new AbortController().signal);
  await expect(reading).rejects.toThrow(`the bundle cannot be read: it ${isDirectory}`);
});

/** Opens a store, so that all is loaded, and then another one, as nobody where it runs as root. */
const asNobody = `
  import { openStore } from '${import.meta.dirname}/../../../src/service/store/open.ts';
  const [, , own, path] = process.argv;
  await (await openStore({ path: own })).close();
  if (process.getuid() === 0) {
    process.setgroups([]);
    process.setgid(65534);
    process.setuid(65534);
  }
  console.log(await openStore({ path }).then(() => 'opened', (error) => error.message));
`;

test('a file of another mode is named', async () => {
  const path = await made();
  if (process.getuid?.() === 0) {
    for (const own of [dirname(path), path, `${path}.key`]) chownSync(own, 65_534, 65_534);
    // The folder of all temporary folders lets nobody through otherwise.
    chmodSync(dirname(dirname(path)), 0o711);
  }
  chmodSync(path, 0o000);
  const file = join(temporaryFolder(), 'open.mjs');
  writeFileSync(file, asNobody);
  const { stdout, stderr } = run([process.execPath, file, join(temporaryFolder(), 'writ.db'), path]);
  expect(stdout + stderr).toContain(`\`${path}\` may not be read or written by this user`);
});

/**
 * Runs with a folder of its own that takes few files; where nobody may mount one, with a folder of which the
 * system says so, and a store that SQLite cannot open.
 */
const script = `
  import { openStore } from '${import.meta.dirname}/../../../src/service/store/open.ts';
  import { mkdirSync, writeFileSync } from 'node:fs';
  const folder = process.argv[2];
  const path = folder + '/writ.db';
  if (process.argv[3] === 'true') await (await openStore({ path })).close();
  if (process.argv[4] === 'mounted') {
    let at = 0;
    try { for (;;) writeFileSync(folder + '/' + at++, ''); } catch {}
  } else {
    mkdirSync(path + '-wal');
  }
  console.log(await openStore({ path }).then(() => 'opened', (error) => error.message));
`;
/** Prints what is said when SQLite cannot write the index of its log. */
const failingScript = `
  import Database from '${import.meta.dirname}/../../../node_modules/better-sqlite3/lib/index.js';
  import { toFailure } from ${JSON.stringify(new URL('../../../src/service/store/sqlite/file/errors.ts', import.meta.url).href)};
  const error = new Database.SqliteError('disk I/O error', 'SQLITE_IOERR_SHMSIZE');
  console.log(toFailure(error, '/var/lib/writ/writ.db').message);
`;
/** Loaded first in the process and in each of its threads. */
const withoutFreeFiles = `
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  fs.statfsSync = () => ({ bavail: 4096, bsize: 4096, files: 12, ffree: 0 });
  syncBuiltinESMExports();
`;
function run([program = '', ...args]: readonly string[]) {
  return spawnSync(program, args, { encoding: 'utf8' });
}

const mount = 'mount -t tmpfs -o size=4m,nr_inodes=12 none "$1" && shift && exec "$@"';
const ownMounts =
  process.getuid?.() === 0 ? ['unshare', '--mount'] : ['unshare', '--user', '--map-root-user', '--mount'];
const canMount = run([...ownMounts, 'sh', '-c', 'mount -t tmpfs none /mnt']).status === 0;

test.each([false, true])(
  'a file system that takes no more files is named (the store is there: %s)',
  (isMade) => {
    const folder = temporaryFolder();
    const file = join(temporaryFolder(), 'open.mjs');
    writeFileSync(file, script);
    const preload = join(temporaryFolder(), 'preload.mjs');
    writeFileSync(preload, withoutFreeFiles);
    const opening = [file, folder, String(isMade)];
    const { stdout, stderr } = canMount
      ? run([...ownMounts, 'sh', '-c', mount, 'sh', folder, process.execPath, ...opening, 'mounted'])
      : run([process.execPath, '--import', preload, ...opening, 'told']);
    expect(stdout + stderr).toMatch(/writ\.db[a-z.]*` cannot be written, as its disk is full: .*`df -i`/);
  },
);

test.each([
  ['nothing is free', 'bavail: 0'],
  ['a library has deleted what it could not write in full', 'bavail: 8'],
])('a full disk is named (%s)', (_, free) => {
  const file = join(temporaryFolder(), 'open.mjs');
  writeFileSync(file, failingScript);
  const preload = join(temporaryFolder(), 'preload.mjs');
  writeFileSync(preload, withoutFreeFiles.replace('bavail: 4096', free).replace('ffree: 0', 'ffree: 12'));
  const { stdout, stderr } = run([process.execPath, '--import', preload, file]);
  expect(stdout + stderr).toBe(
    '`/var/lib/writ/writ.db` cannot be written, as its disk is full: free space there (`df -h` shows it), or delete files if no inodes are left (`df -i`)\n',
  );
});

test('what the system reports is said in words, and what it does not report is not guessed', () => {
  const of = (code: string) =>
    faultOfFile(Object.assign(new Error('no'), { code, syscall: 'open', path: '/a' }));
  for (const code of ['ENOENT', 'EISDIR', 'ENOTDIR', 'EACCES', 'EROFS', 'ENOSPC', 'EMFILE', 'ELOOP', 'EIO'])
    expect(of(code)).not.toContain(code);
  expect(of('EWEIRD')).toBe('cannot be read or written (EWEIRD)');
  expect(faultOfFile(new Error('no'))).toBeNull();
  expect(findFault(join(temporaryFolder(), 'none'))).toBeNull();
});
