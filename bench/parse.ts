// `node bench/parse.ts REVISION`, or with the folder of another checkout: compares what parsing one long text
// costs in this checkout and in the other, as medians of processor time, and prints the ratio. Each side runs
// in a process of its own, and the two take turns. The first rounds count, since most programs parse few
// texts; the warm rounds are printed beside them.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { linkPackages, ownRoot, withRevision } from './checkout.ts';

const rounds = 80;
const coldRounds = 20;
const copies = 60;

const [place, other = ownRoot] = process.argv.slice(2);
if (process.send !== undefined && place !== undefined) await serve(place, other);
else if (place === undefined) {
  console.error('usage: node bench/parse.ts REVISION, or the folder of another checkout of this repository');
  process.exitCode = 2;
} else if (existsSync(place)) await compare([ownRoot, resolve(place)]);
else {
  await withRevision(place, async ({ folder }) => {
    linkPackages(folder);
    await compare([ownRoot, folder]);
  });
}

async function compare(roots: readonly string[]): Promise<void> {
  const sides = roots.map((root) => ({
    root,
    times: [] as number[],
    child: fork(import.meta.filename, [root, roots.at(-1) ?? root]),
  }));
  for (const { child } of sides) await once(child, 'message');
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) side.times.push(await cost(side.child));
  }
  for (const { child } of sides) child.disconnect();
  print('first', (times) => median(times.slice(0, coldRounds)));
  print('warm', (times) => median(times.slice(rounds / 2)));

  function print(name: string, of: (times: readonly number[]) => number): void {
    const [ours = 0, theirs = 0] = sides.map(({ times }) => of(times));
    const ratio = (ours / theirs).toFixed(2);
    console.log(`${name}: ${ours.toFixed(1)} ms here, ${theirs.toFixed(1)} ms there, ratio ${ratio}`);
  }
}

async function cost(child: ChildProcess): Promise<number> {
  child.send('read');
  const [milliseconds] = await once(child, 'message');
  return milliseconds as number;
}

/**
 * Parses the same text, which lies in the other checkout, each time a message arrives. Answers with the
 * processor time in milliseconds.
 */
async function serve(root: string, other: string): Promise<void> {
  // Older revisions have the parser in another folder.
  const places = ['src/language/syntax/parse.ts', 'src/syntax/parse.ts'].map((place) => join(root, place));
  const { parse } = (await import(places.find((place) => existsSync(place)) ?? places[0]!)) as {
    readonly parse: (source: { readonly path: string; readonly text: string }) => unknown;
  };
  const text = readFileSync(join(other, 'policies/banking/banking.policy'), 'utf8').repeat(copies);
  process.on('message', () => {
    const before = process.cpuUsage();
    parse({ path: 'banking.policy', text });
    const { user, system } = process.cpuUsage(before);
    process.send?.((user + system) / 1_000);
  });
  process.send?.('ready');
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
}
