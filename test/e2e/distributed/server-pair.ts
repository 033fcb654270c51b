// Two servers: a primary, and a standby that has each record before it is acknowledged. When the primary is
// killed the standby takes its place, and the data of the old primary is replaced by a new standby.

import { appendFileSync, chownSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { chown, copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type PostgresServer, serverOf, startPostgres } from '../../service/store/postgres-server.ts';

export interface ServerPair extends PostgresServer {
  /** Kills the primary for good; resolves when the other server accepts writes and has a standby again. */
  failOver(onPromoted: () => void): Promise<void>;
}

/** Starts a pair with the server programs in the given folder, or with those from npm. */
export async function startPair(programs?: string): Promise<ServerPair> {
  let primary = await startPostgres(programs);
  const [{ folder, bin }, first] = [primary, primary.socket];
  const places = [first, join(folder, 'other')];
  let standby = await startStandby(primary, join(folder, 'other'));
  await waitForStandby(primary);
  // This path always leads to the current primary.
  const socket = join(folder, 'primary');
  const leadTo = ({ socket: target }: PostgresServer) => {
    symlinkSync(target, `${socket}.next`);
    renameSync(`${socket}.next`, socket);
  };
  leadTo(primary);
  const pair: ServerPair = {
    folder,
    bin,
    socket,
    createDatabase: () => primary.createDatabase(),
    createEmptyDatabase: () => primary.createEmptyDatabase(),
    urlOf: (database) => primary.urlOf(database),
    query: (text, database) => primary.query(text, database),
    kill: () => primary.kill(),
    async start(settings) {
      await primary.start(settings);
      // A process that begins to serve earlier refuses to, because what it acknowledged would be on one
      // server alone.
      await untilStandby(primary, "sync_state = 'sync'");
    },
    async stop() {
      await standby.stop();
      await primary.stop();
    },
    async failOver(onPromoted) {
      const gone = primary;
      await gone.kill();
      await standby.query('SELECT pg_promote()');
      // Until there is another standby, commits wait for the one server alone.
      await setSynchronous(standby, '');
      // The server takes a while to apply the setting, and acknowledges nothing before.
      await commit(standby);
      primary = standby;
      leadTo(primary);
      onPromoted();
      const place = places.find((path) => path !== primary.socket) ?? first;
      // An asynchronous removal, because this process carries the traffic of the clients meanwhile.
      await rm(place, { recursive: true, force: true });
      standby = await startStandby(primary, place);
      await waitForStandby(primary);
    },
  };
  return pair;
}

async function startStandby(primary: PostgresServer, data: string): Promise<PostgresServer> {
  await copyData(primary, data);
  writeFileSync(join(data, 'standby.signal'), '');
  appendFileSync(
    join(data, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=${primary.socket} user=writ application_name=standby'\n`,
  );
  const { uid, gid } = statSync(primary.socket);
  for (const file of ['backup_label', 'standby.signal']) chownSync(join(data, file), uid, gid);
  const standby = serverOf({ bin: primary.bin, data, folder: primary.folder });
  // The default of five seconds would leave commits unacknowledged for that long after each restart of the
  // primary.
  await standby.start({ wal_retrieve_retry_interval: '100ms' });
  return standby;
}

/** Copies the data as a base backup, while the server runs. */
async function copyData(primary: PostgresServer, data: string): Promise<void> {
  const client = new pg.Client({ connectionString: primary.urlOf('postgres') });
  await client.connect();
  try {
    await client.query("SELECT pg_backup_start('standby', true)");
    await copyFolder(primary.socket, data);
    const { rows } = await client.query<{ label: string }>(
      'SELECT labelfile AS label FROM pg_backup_stop(false)',
    );
    writeFileSync(join(data, 'backup_label'), rows[0]?.label ?? '');
  } finally {
    await client.end();
  }
}

const ofTheServerAlone = /^(?:postmaster\.|\.s\.PGSQL|standby\.signal$)/;

/** Files may disappear during the copy; the write-ahead log has their changes. */
async function copyFolder(from: string, to: string): Promise<void> {
  const { uid, gid } = statSync(from);
  await mkdir(to, { mode: 0o700 });
  await chown(to, uid, gid);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyFolder(source, target);
    if (!entry.isFile() || ofTheServerAlone.test(entry.name)) continue;
    try {
      await copyFile(source, target);
      await chown(target, uid, gid);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}

/** After this, nothing is acknowledged that the standby does not have. */
async function waitForStandby(primary: PostgresServer): Promise<void> {
  // Commits need not wait while the standby starts.
  await untilStandby(primary, "state = 'streaming'");
  await setSynchronous(primary, '*');
  await untilStandby(primary, "sync_state = 'sync'");
  // This commit comes after all that was acknowledged before.
  await commit(primary);
}

async function untilStandby(primary: PostgresServer, condition: string): Promise<void> {
  const found = `SELECT 1 FROM pg_stat_replication WHERE ${condition}`;
  while ((await primary.query(found)).length === 0) await sleep(20);
}

async function commit(server: PostgresServer): Promise<void> {
  await server.query('CREATE TABLE IF NOT EXISTS followed (); DROP TABLE followed');
}

async function setSynchronous(server: PostgresServer, names: '' | '*'): Promise<void> {
  await server.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
  await server.query('SELECT pg_reload_conf()');
}
