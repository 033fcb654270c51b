// Compares how long `writ check` of the payments pack takes with `node -e 0`. The package is built, installed
// from its tarball into an empty folder, and started in turns with a Node that does nothing. `node
// bench/start.ts [ROUNDS]` prints the table of results/start.md and fails when the target is missed. Nothing
// else should run on the machine meanwhile: the smallest of many rounds is nearest to the real time.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackage } from './installed.ts';

/** The most that a start may take: as a multiple of Node alone, and in milliseconds. */
const most = { times: 6, ms: 250 } as const;

const rounds = Number(process.argv[2] ?? 30);
const folder = mkdtempSync(join(tmpdir(), 'writ-bench-start-'));

interface Started {
  readonly name: string;
  readonly args: readonly string[];
  readonly ms: number[];
}

try {
  const writ = installPackage(folder);
  cpSync(join(import.meta.dirname, '../policies/payments'), join(folder, 'payments'), { recursive: true });
  const all: readonly Started[] = [
    { name: '`node -e 0`', args: ['-e', '0'], ms: [] },
    { name: '`writ --version`', args: [writ, '--version'], ms: [] },
    { name: '`writ check` of the payments pack', args: [writ, 'check', 'payments'], ms: [] },
  ];
  // The first start of each fills the cache of compiled code.
  for (const one of all) timeOf(one);
  for (let round = 0; round < rounds; round += 1) for (const one of all) one.ms.push(timeOf(one));
  print(all);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function timeOf({ name, args }: Started): number {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const begun = performance.now();
  const { status } = spawnSync(process.execPath, args, { cwd: folder, env, stdio: 'ignore' });
  if (status !== 0) throw new Error(`${name} ended with ${status}`);
  return performance.now() - begun;
}

function print(all: readonly Started[]): void {
  const figures = all.map(({ name, ms }) => {
    const sorted = ms.toSorted((a, b) => a - b);
    return { name, least: sorted[0]!, middle: sorted[Math.floor(sorted.length / 2)]! };
  });
  const [node, , check] = figures as [Figure, Figure, Figure];
  const times = check.middle / node.middle;
  const isMet = times <= most.times && check.middle <= most.ms;
  const where = `Node ${process.version}, ${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}, ${new Date().toISOString().slice(0, 10)}`;
  console.log(
    `# How long a start takes\n\n${where}; \`node bench/start.ts ${rounds}\`: from the package, in turn.\n`,
  );
  console.log('| | least | median | beside Node alone, by median | must | met |\n|---|---|---|---|---|---|');
  for (const figure of figures) {
    const must =
      figure === check ? `≤ ${most.times} times, ≤ ${most.ms} ms | ${isMet ? 'yes' : '**no**'}` : '|';
    const cells = [`${figure.least.toFixed(0)} ms`, `${figure.middle.toFixed(0)} ms`];
    console.log(
      `| ${figure.name} | ${cells.join(' | ')} | ${(figure.middle / node.middle).toFixed(1)} | ${must} |`,
    );
  }
  if (!isMet) process.exitCode = 1;
}

interface Figure {
  readonly name: string;
  readonly least: number;
  readonly middle: number;
}
