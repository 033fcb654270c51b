// Measures how long `writ diff` and `writ check` of the package take with large sets, including the start of
// Node, and compares the times with their limits. The sets have one changed rule among many, hours that many
// rules read, or one line added to a long list. Run it by hand, on a quiet machine: `node bench/scale.ts`, or
// with another number of rounds: `node bench/scale.ts 5`. `--write` puts the table into results/scale.md.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, figureOf } from '../src/measure/figure.ts';
import { installPackage } from './installed.ts';
import { sets } from './proofs.ts';

type SetName = keyof typeof sets;

/** The most seconds, on the clock of a quiet machine, unless a change has a limit of its own. */
const most: Readonly<Record<SetName, number>> = {
  '1,000 rules of one action': 1,
  '10,000 rules of 100 actions': 2,
  'a list of 100,000 entries': 2,
};

interface ScaleFigures {
  readonly what: string;
  readonly seconds: Figure;
  /** Processor time of all threads. When it is less than the time on the clock, other work was in the way. */
  readonly processorSeconds: Figure;
  readonly most: number;
}

interface Change {
  readonly what: string;
  readonly most?: number;
  readonly to: (path: string, text: string) => string;
}

const number: Change = {
  what: 'a number of one rule',
  to: (path, text) =>
    path === '1.policy' ? text.replace('payload.amount > 80', 'payload.amount > 90') : text,
};
const pattern: Change = {
  what: 'the pattern of one rule',
  to: (path, text) => (path === '1.policy' ? text.replace('"/team-10/*"', '"/team-10/x*"') : text),
};
/** An eighth of the rules read these hours. */
const hours: Change = {
  what: 'hours that 125 rules read',
  most: 2,
  to: (_path, text) => text.replace('mon-fri 09:00-17:00', 'mon-fri 08:00-18:00'),
};
const entry: Change = {
  what: 'one more entry',
  to: (path, text) => (path === 'known.txt' ? `${text}somebody else\n` : text),
};

const changes: Readonly<Record<SetName, readonly Change[]>> = {
  '1,000 rules of one action': [number, pattern, hours],
  '10,000 rules of 100 actions': [number, pattern],
  'a list of 100,000 entries': [entry],
};

/** Returns a function that writes the set, unchanged or with one change, and returns the folder. */
function layOut(name: SetName, folder: string): (change: Change | null) => string {
  const { files, readListFile } = sets[name]();
  const lists = ['blocked.txt', 'known.txt'].flatMap((path) => {
    const file = readListFile(path);
    return 'text' in file ? [{ path, text: file.text }] : [];
  });
  return (change) => {
    const root = join(folder, change?.what ?? 'old');
    mkdirSync(root, { recursive: true });
    for (const { path, text } of [...files, ...lists])
      writeFileSync(join(root, path), change === null ? text : change.to(path, text));
    return root;
  };
}

interface Run {
  readonly seconds: number;
  readonly processorSeconds: number;
}

/** Runs a command under the shell's `time`, which reports what an ended process has used. */
function run(args: readonly string[]): Run {
  const script = 'TIMEFORMAT="%R %U %S"; time "$@" > /dev/null 2> /dev/null';
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const { stderr, status } = spawnSync('bash', ['-c', script, 'bash', process.execPath, ...args], {
    encoding: 'utf8',
    env,
  });
  const figures = stderr.trim().split(/\s+/).map(Number);
  const [seconds, user, system] = figures;
  // `writ check` ends with code 1 when a guarantee is refuted.
  if (status === null || status > 1 || figures.length !== 3) throw new Error(`${args.join(' ')}: ${stderr}`);
  return { seconds: seconds!, processorSeconds: user! + system! };
}

function measure(what: string, args: readonly string[], of: { most: number; rounds: number }): ScaleFigures {
  // The first run fills Node's cache of compiled modules.
  run(args);
  const runs = Array.from({ length: of.rounds }, () => run(args));
  return {
    what,
    seconds: figureOf(runs.map((one) => one.seconds)),
    processorSeconds: figureOf(runs.map((one) => one.processorSeconds)),
    most: of.most,
  };
}

function measureScale(rounds: number): readonly ScaleFigures[] {
  const folder = mkdtempSync(join(tmpdir(), 'writ-scale-'));
  try {
    const writ = installPackage(folder);
    return (Object.keys(sets) as SetName[]).flatMap((name, at) => {
      const laidOut = layOut(name, join(folder, String(at)));
      const old = laidOut(null);
      const of = { most: most[name], rounds };
      return [
        ...changes[name].map((change) =>
          measure(
            `writ diff, ${name}: ${change.what}`,
            [writ, 'diff', '--old', old, '--new', laidOut(change)],
            {
              ...of,
              most: change.most ?? of.most,
            },
          ),
        ),
        measure(`writ check, ${name}`, [writ, 'check', old], of),
      ];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function table(figures: readonly ScaleFigures[]): string {
  const shown = ({ median, min, max }: Figure): string =>
    `${median.toFixed(2)} s (${min.toFixed(2)} to ${max.toFixed(2)})`;
  const rows = figures.map(({ what, seconds, processorSeconds, most: least }) => {
    const isMet = seconds.median <= least ? '✓' : '✗';
    return `| ${what} | ≤ ${least} s | ${isMet} | ${shown(seconds)} | ${shown(processorSeconds)} |`;
  });
  return ['| command | must | | took | processor |', '|---|---|---|---|---|', ...rows].join('\n');
}

const rounds = Number(process.argv.find((argument) => /^\d+$/.test(argument)) ?? 3);
const figures = table(measureScale(rounds));
const [load = 0] = loadavg();
const text = `# Commands about large sets

One rule changed, hours that many rules read, or one line of a list added, by the package, Node's start included. \`node bench/scale.ts --write\` on Node ${process.version}, ${availableParallelism()} cores,
with a load of ${load.toFixed(1)} at the end: what the clock says is the commands' own only where that is about 1.

${figures}
`;
console.log(text);
if (process.argv.includes('--write')) writeFileSync(join(import.meta.dirname, 'results/scale.md'), text);
