// Shells that run lines in a temporary folder where the only programs are tracers, which write down their names and arguments.

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { lineFiles, lineVariables, tracedPrograms } from './shell-lines.ts';

/** What a shell has done with a line. */
export interface Traced {
  /** `sh -n` finds no syntax error. */
  readonly isRead: boolean;
  /** Programs with their arguments, in the order in which they ran. */
  readonly runs: readonly (readonly string[])[];
  /** Files that are new or have changed. */
  readonly written: readonly string[];
}

/** The path of a shell of that name, which may be the one behind `sh`; null when the machine has none. */
export function findShell(name: string): string | null {
  for (const folder of (process.env.PATH ?? '').split(':')) {
    for (const file of [name, 'sh']) {
      try {
        const path = realpathSync(join(folder, file));
        if (basename(path) === name) return path;
      } catch {}
    }
  }
  return null;
}

const seed = 'seed\n';
/** Programs that only start another program of the folder. */
const starters = ['env', 'nice', 'nohup', 'timeout'];
const linesAtOnce = 500;

/** What the shell does with each line, in the lines' order. */
export function traceLines(shell: string, lines: readonly string[]): readonly Traced[] {
  const traced: Traced[] = [];
  for (let at = 0; at < lines.length; at += linesAtOnce)
    traced.push(...traceSome(shell, lines.slice(at, at + linesAtOnce)));
  return traced;
}

function traceSome(shell: string, lines: readonly string[]): readonly Traced[] {
  const root = mkdtempSync(join(tmpdir(), 'writ-shell-'));
  try {
    makeTracers(root, shell);
    for (const folder of ['line', 'read', 'run']) mkdirSync(join(root, folder));
    for (const [at, line] of lines.entries()) {
      writeFileSync(join(root, 'line', `${at}`), line);
      mkdirSync(join(root, 'run', `${at}`));
      for (const file of lineFiles) writeFileSync(join(root, 'run', `${at}`, file), seed);
    }
    writeFileSync(join(root, 'driver'), driver);
    const env = { ...lineVariables, PATH: join(root, 'bin'), LANG: 'C.UTF-8', HOME: '/home/of/nobody' };
    const { status, stderr } = spawnSync(shell, [join(root, 'driver'), root, shell, `${lines.length}`], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`the shell that runs the lines failed: ${stderr}`);
    return readRuns(root, lines.length).map((runs, at) => ({
      isRead: existsSync(join(root, 'read', `${at}`)),
      runs,
      written: writtenIn(join(root, 'run', `${at}`)),
    }));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function makeTracers(root: string, shell: string): void {
  mkdirSync(join(root, 'bin'));
  const tracer = join(root, 'tracer');
  writeFileSync(tracer, `#!${shell}\n${tracerText}`, { mode: 0o755 });
  for (const program of [...tracedPrograms, 'z']) symlinkSync(tracer, join(root, 'bin', program));
  symlinkSync(shell, join(root, 'bin', 'sh'));
  for (const folder of (process.env.PATH ?? '').split(':')) {
    for (const starter of starters) {
      try {
        symlinkSync(realpathSync(join(folder, starter)), join(root, 'bin', starter));
      } catch {}
    }
  }
}

const tracerText = `printf '%s\\0' "$#" "\${0##*/}" "$@" >>"\${0%/*}/../runs"
echo said
case \${0##*/} in no*) exit 1 ;; esac
`;

/** The pipe ends with the last process of a line, so that the next line begins after it. */
const driver = `root=$1 shell=$2 count=$3 at=0
while [ "$at" -lt "$count" ]; do
  cd "$root/run/$at" || exit 1
  "$shell" -n "$root/line/$at" 2>/dev/null </dev/null && : >"$root/read/$at"
  printf '%s\\0' 0 "$at" >>"$root/runs" || exit 1
  { ulimit -t 2; "$shell" "$root/line/$at" </dev/null 9>&1 >/dev/null 2>&1; } | while read -r none; do :; done
  at=$((at + 1))
done
`;

/** The runs of each line. In the trace a line begins with its number, without arguments. */
function readRuns(root: string, count: number): readonly (readonly string[])[][] {
  const runs: string[][][] = Array.from({ length: count }, () => []);
  const parts = readFileSync(join(root, 'runs'), 'utf8').split('\0');
  let at = -1;
  for (let next = 0; next < parts.length - 1; ) {
    const length = Number(parts[next]);
    const run = parts.slice(next + 1, next + 2 + length);
    if (length === 0 && run[0] === `${at + 1}`) at += 1;
    else runs[at]!.push(run);
    next += 2 + length;
  }
  return runs;
}

function writtenIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((file) => !isSeed(folder, file));
}

function isSeed(folder: string, file: string): boolean {
  return (lineFiles as readonly string[]).includes(file) && readFileSync(join(folder, file), 'utf8') === seed;
}
