// Compares a bundle with the policy texts that it was made from: how long loading takes until policies can
// decide, and the peak memory. Each load runs in a process of its own. `node bench/bundle-ready.ts [POLICIES]
// [ROUNDS]` fails when the bundle takes more than a twentieth of the time of its texts, or more memory.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadBundle, loadPolicies } from '../src/embedded/index.ts';
import { figureOf } from '../src/measure/figure.ts';
import { policyFiles } from './policy-text.ts';
import { createWorkload } from './workloads.ts';

const [shareMost, writ] = [1 / 20, join(import.meta.dirname, '../src/cli/writ.js')];

interface Started {
  readonly ms: number;
  readonly peakMb: number;
}

async function start(what: 'bundle' | 'texts', folder: string): Promise<Started> {
  const started = performance.now();
  if (what === 'bundle') await loadBundle(readFileSync(join(folder, 'policies.writ')));
  else await loadPolicies(join(folder, 'policies'));
  return { ms: performance.now() - started, peakMb: process.resourceUsage().maxRSS / 1024 };
}

function measure(what: 'bundle' | 'texts', folder: string, rounds: number) {
  const all = Array.from({ length: rounds }, (): Started => {
    const printed = execFileSync(process.execPath, [import.meta.filename, what, folder], {
      encoding: 'utf8',
    });
    return JSON.parse(printed);
  });
  const [ms, peakMb] = [figureOf(all.map((one) => one.ms)), figureOf(all.map((one) => one.peakMb))];
  console.log(`${what}: ready in ${ms.median.toFixed(0)} ms, ${peakMb.median.toFixed(0)} MB at most`);
  return { ms: ms.median, peakMb: peakMb.median };
}

function compare(policies: number, rounds: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  try {
    mkdirSync(join(folder, 'policies'));
    for (const { path, text } of policyFiles(createWorkload('actions', policies)))
      writeFileSync(join(folder, 'policies', path), text);
    const args = ['build', join(folder, 'policies'), '-o', join(folder, 'policies.writ')];
    console.log(execFileSync(process.execPath, [writ, ...args], { encoding: 'utf8' }).trim());
    const [bundle, texts] = [measure('bundle', folder, rounds), measure('texts', folder, rounds)];
    const isMet = bundle.ms <= texts.ms * shareMost && bundle.peakMb <= texts.peakMb;
    const share = `1/${(texts.ms / bundle.ms).toFixed(0)}`;
    console.log(`${share} of the time, at most 1/20, and no more memory: ${isMet ? 'met' : 'MISSED'}`);
    if (!isMet) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [first = '100000', second = '3'] = process.argv.slice(2);
if (first === 'bundle' || first === 'texts') console.log(JSON.stringify(await start(first, second)));
else compare(Number(first), Number(second));
