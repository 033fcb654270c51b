// Watching on a real folder: what starts a run, what each run receives, and how watching ends.

import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runTestFiles } from '../../src/testing/run.ts';
import { createRunSignal, watchTests } from '../../src/testing/watch.ts';
import { createFolder, pause, until, writeFiles } from '../service/policies/folder.ts';

const policy =
  'action a.b { n: string }\nlist good from "good.txt"\npolicy p on a.b {\n  allow x when payload.n in good\n}\n';
const tests = 'tests:\n  - { name: t, action: a.b, payload: { n: x }, expect: ALLOW }\n';

/** Watches a folder with the files above until `act` is done. Returns what each run received. */
async function watched(
  act: (watch: {
    folder: string;
    runs: readonly string[];
    again: () => void;
    idle: () => Promise<unknown>;
  }) => Promise<void>,
  run: (signal: AbortSignal) => Promise<void> = async () => undefined,
): Promise<readonly string[]> {
  const folder = createFolder({ 'a.policy': policy, 'a.test.yaml': tests, 'good.txt': 'x\n' });
  const end = new AbortController();
  const again = createRunSignal();
  const runs: string[] = [];
  let idles = 0;
  const over = watchTests([folder], {
    run: async (changed, signal) => {
      runs.push(changed.map((path) => path.split('/').at(-1)).join(' '));
      await run(signal);
      return runTestFiles([folder]);
    },
    onIdle: () => {
      idles += 1;
    },
    end: end.signal,
    again,
  });
  const idle = async (): Promise<unknown> => {
    const before = idles;
    return until(() => idles > before);
  };
  await act({ folder, runs, again: again.ring, idle });
  end.abort();
  await over;
  return runs;
}

describe('watchTests', () => {
  it('runs again for policies, tests and list files, and says which', async () => {
    const runs = await watched(async ({ folder, idle }) => {
      await idle();
      for (const file of ['a.policy', 'a.test.yaml', 'good.txt']) {
        writeFiles(folder, {
          [file]: { 'a.policy': `${policy}\n`, 'a.test.yaml': `${tests}\n` }[file] ?? 'x\ny\n',
        });
        await idle();
      }
      writeFiles(folder, { 'more/b.policy': 'group g\n' });
      await idle();
      rmSync(`${folder}/more/b.policy`);
      await idle();
    });
    expect(runs).toEqual(['', 'a.policy', 'a.test.yaml', 'good.txt', 'b.policy', 'b.policy']);
  });

  it('does not run for other files, and runs when asked', async () => {
    const runs = await watched(async ({ folder, again, idle }) => {
      await idle();
      writeFiles(folder, { 'report.xml': '<x/>' });
      await pause(400);
      again();
      await idle();
    });
    expect(runs).toEqual(['', '']);
  });

  it('tells a run that its result is of no use any more', async () => {
    let isAborted = false;
    const runs = await watched(
      async ({ folder, idle }) => {
        await pause(300);
        writeFiles(folder, { 'a.policy': `${policy}\n` });
        await idle();
      },
      async (signal) => {
        if (isAborted) return;
        await until(() => signal.aborted);
        isAborted = true;
      },
    );
    expect(runs).toEqual(['', 'a.policy']);
  });
});
