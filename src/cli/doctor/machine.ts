// Examines the machine of the service: a Node that loads the packages, a data directory, free room and a fast
// disk.

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { writCommand } from '../../service/http/writ-command.ts';
import type { Config } from '../../service/settings/load.ts';
import { installCommand } from '../install-hint.ts';
import { codeOf, ok, type PartFinding, warned, wrong } from './finding.ts';

export async function examinePackages({ store }: Pick<Config, 'store'>): Promise<PartFinding> {
  const packages = ['better-sqlite3', '@node-rs/argon2', 'fastify', ...(store === null ? [] : ['pg'])];
  for (const name of packages) {
    try {
      await import(name);
    } catch (error) {
      return wrong(
        `the package ${name} cannot be loaded (${codeOf(error)})`,
        `${installCommand(name)}, with the Node that runs the service`,
      );
    }
  }
  return ok(`Node ${process.versions.node} on ${process.platform} ${process.arch}`);
}

/** Examines the data directory, or the nearest existing directory above it. */
export function examineData({ data }: Config): readonly PartFinding[] {
  const path = nearest(data);
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    const stranger = ownerFinding(path);
    return [...(stranger === null ? [] : [stranger]), probe(path, data)];
  } catch (error) {
    return [wrong(`\`${path}\` cannot be written (${codeOf(error)})`, `chown -R ${userName()} ${path}`)];
  }
}

function nearest(path: string): string {
  return existsSync(path) ? path : nearest(dirname(path));
}

function userName(): string {
  return process.env.USER ?? String(process.geteuid?.() ?? 'USER');
}

/**
 * Warns root about a data directory of another user, because root does not see which permissions that user
 * lacks.
 */
function ownerFinding(path: string): PartFinding | null {
  const owner = statSync(path).uid;
  if (process.geteuid?.() !== 0 || owner === 0) return null;
  return warned(
    `as root, doctor cannot detect missing permissions of user ${owner}, the owner of \`${path}\``,
    `setpriv --reuid ${owner} --clear-groups ${writCommand('doctor')}, with the same options`,
  );
}

const probeBytes = 4_096;
const probeCount = 5;
/** Milliseconds of a slow commit: at 20 ms the service decides about a thousand requests a second. */
const slowMs = 20;

/** Times writes like those of the store, in a file that is deleted again. */
function probe(place: string, data: string): PartFinding {
  const path = join(place, `.writ-doctor-${process.pid}`);
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
      const times = Array.from({ length: probeCount }, () => commitMs(file)).toSorted((a, b) => a - b);
      return diskFinding(
        times[Math.floor(probeCount / 2)]!,
        place === data ? data : `${data}, which the first start creates`,
      );
    } finally {
      closeSync(file);
      rmSync(path, { force: true });
    }
  } catch (error) {
    return wrong(
      `cannot write to \`${place}\` (${codeOf(error)})`,
      'mount it writable, free space, or raise the file size limit',
    );
  }
}

function commitMs(file: number): number {
  const from = performance.now();
  writeSync(file, Buffer.alloc(probeBytes));
  fsyncSync(file);
  return performance.now() - from;
}

export function diskFinding(medianMs: number, path: string): PartFinding {
  const message = `a commit takes ${medianMs.toFixed(1)} ms on the disk of ${path}`;
  return medianMs <= slowMs
    ? ok(message)
    : warned(message, 'each decision waits for the disk: put the data on a local SSD');
}

const mebibyte = 1024 ** 2;
const leastBytes = 256 * mebibyte;
/** About as much as a million requests take. */
const fewBytes = 2_200 * mebibyte;
/** The `statfs` numbers of network file systems: NFS, SMB 2, CIFS. */
const networkTypes: ReadonlySet<number> = new Set([0x6969, 0xfe534d42, 0xff534d42]);

/** The fields of `statfs` that are read, by their names there. */
export interface FileSystemRoom {
  readonly type: number;
  readonly bsize: number;
  readonly bavail: number;
}

export function examineRoom(
  { data }: Config,
  roomOf: (path: string) => FileSystemRoom = statfsSync,
): PartFinding {
  const { type, bsize, bavail } = roomOf(nearest(data));
  const free = bavail * bsize;
  const message = `${Math.floor(free / mebibyte)} MiB are free for ${data}`;
  const fix = 'free space: `writ audit prune` deletes the oldest records and leaves a checkpoint';
  if (free < leastBytes) return wrong(message, fix);
  if (networkTypes.has(type))
    return wrong(
      `${data} is on a network file system, which may lose acknowledged writes`,
      'put the data on a local disk',
    );
  return free < fewBytes ? warned(`${message}: fewer than a million requests`, fix) : ok(message);
}
