// Files that are written slowly: a partly written file may be a valid policy with fewer rules, and must never
// become active.

import { closeSync, fsyncSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FileStamp } from '../../../src/service/policies/directory-listing.ts';
import {
  FileStabilityTracker,
  longWaitMs,
  shortWaitMs,
} from '../../../src/service/policies/file-stability.ts';
import { openPolicies, type PolicyHost } from '../../../src/service/policies/policy-host.ts';
import type { PolicyPath } from '../../../src/service/policies/read-policies.ts';
import { createFolder, pause, until, writeFiles } from './folder.ts';

/** Each prefix that ends behind a declaration compiles; without the last piece everything is allowed. */
function pieces(denied: number): readonly string[] {
  return [
    '# what may be done\naction a.b {\n  n: integer\n}\n',
    'policy open on a.b {\n  allow everything\n    when payload.n >= 0\n}\n',
    `# and what not\npolicy guard on a.b {\n  deny one\n    when payload.n == ${denied}\n}\n`,
  ];
}

/**
 * Writes in place, as editors and `cp` do: truncates, then fills the file again, each piece on disk before
 * the next.
 */
async function writeSlowly(path: string, texts: readonly string[], pauseMs: number): Promise<void> {
  const file = openSync(path, 'w');
  for (const [at, text] of texts.entries()) {
    if (at > 0) await pause(pauseMs);
    writeSync(file, text);
    fsyncSync(file);
  }
  closeSync(file);
}

function outcome(host: PolicyHost, n: number): string {
  return host.current().decide({
    action: 'a.b',
    payload: { n },
    agent: {},
    request: {},
    nowMs: 0,
    meters: {},
    satisfied: { escalate: [], reauth: [] },
  }).outcome;
}

async function open(
  folder: string,
): Promise<{ host: PolicyHost; taken: () => number; failed: () => number }> {
  const host = await openPolicies({ directory: folder });
  onTestFinished(() => host.close());
  let [taken, failed] = [0, 0];
  host.onChange(({ status }) => {
    if (status === 'current') taken += 1;
    else failed += 1;
  });
  return { host, taken: () => taken, failed: () => failed };
}

describe('a file written in slow pieces', () => {
  it.each([150, 400])('in place, %i ms apart, is taken when it is whole', async (pauseMs) => {
    const folder = createFolder({ 'a.policy': pieces(1).join('') });
    const { host, taken, failed } = await open(folder);
    let ends = Number.POSITIVE_INFINITY;
    const written = writeSlowly(join(folder, 'a.policy'), pieces(2), pauseMs).then(() => {
      ends = performance.now();
    });
    // The old guard holds until the new guard holds, so one of them always does.
    await until(() => {
      if (outcome(host, 1) === 'ALLOW' && outcome(host, 2) === 'ALLOW') throw new Error('no guard is active');
      return outcome(host, 2) === 'DENY';
    });
    expect(performance.now()).toBeGreaterThan(ends);
    await written;
    expect([taken(), failed()]).toEqual([1, 0]);
  });

  it('is taken when it is whole where it is a new one', async () => {
    const folder = createFolder({ 'z.policy': pieces(1).join('') });
    const { host, taken, failed } = await open(folder);
    const texts = [
      'policy more on a.b {\n  deny two\n    when payload.n == 2\n}\n',
      'policy most on a.b {\n  deny three\n    when payload.n == 3\n}\n',
    ];
    await writeSlowly(join(folder, 'a.policy'), texts, 150);
    await until(() => outcome(host, 3) === 'DENY');
    expect([outcome(host, 2), taken(), failed()]).toEqual(['DENY', 1, 0]);
  });

  it('is waited for in the middle of a line, too', async () => {
    const folder = createFolder({ 'a.policy': pieces(1).join('') });
    const { host, taken, failed } = await open(folder);
    const text = `${pieces(2).join('')}${'# more\n'.repeat(20)}`;
    await writeSlowly(join(folder, 'a.policy'), [text.slice(0, -20), text.slice(-20)], 400);
    await until(() => outcome(host, 2) === 'DENY');
    await pause(300);
    expect([taken(), failed()]).toEqual([1, 0]);
  });

  it('may be a list file', async () => {
    const policy =
      'action a.b {\n  n: integer\n}\nlist bad: integer from "bad.yaml"\npolicy p on a.b {\n  allow good\n    when payload.n not in bad\n}\n';
    const folder = createFolder({ 'a.policy': policy, 'bad.yaml': '- 1\n- 2\n' });
    const { host, taken, failed } = await open(folder);
    const written = writeSlowly(join(folder, 'bad.yaml'), ['- 1\n', '- 2\n', '- 3\n'], 300);
    await until(() => {
      if (outcome(host, 2) === 'ALLOW') throw new Error('half a list is active');
      return outcome(host, 3) === 'DENY';
    });
    await written;
    expect([taken(), failed()]).toEqual([1, 0]);
  });

  it('is reloaded when it is whole, though a reload is asked for in between', async () => {
    const folder = createFolder({ 'a.policy': pieces(1).join('') });
    const { host, taken } = await open(folder);
    const written = writeSlowly(join(folder, 'a.policy'), pieces(2), 200);
    await pause(50);
    await host.reload();
    await written;
    expect([outcome(host, 2), taken()]).toEqual(['DENY', 1]);
  });
});

describe('a directory that never comes to rest', () => {
  it('is reported, and taken when it does', async () => {
    const folder = createFolder({ 'a.policy': pieces(1).join('') });
    const { host } = await open(folder);
    let round = 1;
    const timer = setInterval(() => {
      round += 1;
      // Without a final line end, so that the file looks finished only if this test halts for long.
      writeFiles(folder, { 'a.policy': pieces(round).join('').trimEnd() });
    }, 40);
    onTestFinished(() => clearInterval(timer));
    await pause(500);
    // A caller of `reload` does not wait for ever.
    await host.reload();
    expect(host.state().failure).toMatchObject({ cause: 'unsettled' });
    expect(outcome(host, 1)).toBe('DENY');
    clearInterval(timer);
    await until(() => host.state().status === 'current');
    expect(outcome(host, round)).toBe('DENY');
  });
});

describe('Settling', () => {
  /** A file that was changed a minute ago, unless `change` sets another time. */
  function place(change: Partial<FileStamp> = {}, path = 'a.policy'): PolicyPath {
    const touched = Date.now() - 60_000;
    const stamp = { identity: '1:1', sizeBytes: 100, writtenAtMs: touched, changedAtMs: touched, ...change };
    return { path, mark: JSON.stringify(stamp), stamp };
  }

  function justNow(change: Partial<FileStamp>): PolicyPath {
    return place({ writtenAtMs: Date.now(), changedAtMs: Date.now(), ...change });
  }

  /**
   * Milliseconds that are still to wait after a change from the first, active place to the others, with a
   * look every 500 ms.
   */
  function missingAfter(...places: readonly (PolicyPath | null)[]): number {
    const settling = new FileStabilityTracker();
    const [first] = places;
    settling.noteScan([first!], 0);
    settling.noteActive([first!]);
    for (const [at, next] of places.entries()) settling.noteScan(next === null ? [] : [next], at * 500);
    return settling.remainingMs((places.length - 1) * 500);
  }

  it('waits for nothing where nothing was touched lately', () => {
    expect(missingAfter(place())).toBeLessThanOrEqual(0);
  });

  it('waits longest for a file that was cut, a moment for one that was replaced or is longer', () => {
    expect(missingAfter(place(), justNow({ sizeBytes: 99 }))).toBe(longWaitMs);
    expect(missingAfter(place(), justNow({ sizeBytes: 101 }))).toBe(shortWaitMs);
    const renamed = { identity: '1:2', writtenAtMs: Date.now() - 5, changedAtMs: Date.now() };
    expect(missingAfter(place(), place({ ...renamed, sizeBytes: 1 }))).toBe(shortWaitMs);
  });

  it('waits longer for a new file and for one that is gone', () => {
    expect(missingAfter(place(), justNow({ identity: '1:2' }))).toBeGreaterThan(shortWaitMs);
    expect(missingAfter(place(), null)).toBeGreaterThan(shortWaitMs);
  });

  it('waits longest for a file that grows', () => {
    const grown = [101, 102].map((sizeBytes) => justNow({ sizeBytes }));
    expect(missingAfter(place(), ...grown)).toBe(longWaitMs);
  });

  it('waits after any event', () => {
    const settling = new FileStabilityTracker();
    settling.noteScan([place()], 0);
    settling.noteEvent(50);
    expect([settling.quietMs(60), settling.remainingMs(60)]).toEqual([shortWaitMs - 10, shortWaitMs - 10]);
  });

  it('waits for a line without an end only where the file is not active', () => {
    const settling = new FileStabilityTracker();
    const first = place();
    settling.noteScan([first], 0);
    settling.noteActive([first]);
    expect(settling.remainingForMs(['a.policy'], 10)).toBe(Number.NEGATIVE_INFINITY);
    settling.noteScan([justNow({ sizeBytes: 101 })], 20);
    expect(settling.remainingForMs(['a.policy'], 30)).toBe(longWaitMs - 10);
  });
});

it('a replacement by a rename is taken, whatever its length', async () => {
  const folder = createFolder({ 'a.policy': pieces(1).join('') });
  const { host, taken } = await open(folder);
  writeFileSync(join(folder, '.new'), pieces(22).slice(0, 2).join('').trimStart());
  // The clock of the file system moves on between the write and the rename.
  await pause(20);
  renameSync(join(folder, '.new'), join(folder, 'a.policy'));
  await until(() => outcome(host, 1) === 'ALLOW');
  expect(taken()).toBe(1);
});
