// The service and the program are killed without warning between a request, its approval and the execution:
// one approval leads to at most one execution, and a program without an answer runs nothing.

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { addPeople, createApprover } from '../../../examples/service.ts';
import { connect } from '../../../integrations/typescript/client.ts';
import { startService, temporary } from '../../e2e/acceptance/service.ts';
import type { Asked, Run } from './framework.ts';
import { frameworks } from './frameworks.ts';

const policyText = `
approvers support "Support"
action demo.pay { amount: number, ... }
policy paying on demo.pay { allow each after approval by support within 1h }
`;

function policiesIn(folder: string): string {
  writeFileSync(join(folder, 'demo.policy'), policyText);
  return folder;
}

test('an approval is executed at most once, whenever the process is killed', async () => {
  const started = { policies: policiesIn(temporary('policies')), data: temporary('restart') };
  const first = await startService(started);
  const [, token = ''] = /\/setup#token=(\S+)/.exec(first.output()) ?? [];
  const key = await (await addPeople(first.url, token))('payer');
  const paid: number[] = [];
  const runAll = async (url: string, paused: readonly Run[] = []): Promise<readonly (Run | null)[]> => {
    const asked = (amount: number): Asked => ({
      settings: {
        writ: connect({ url, key, wait: 0 }),
        as: 'demo',
      },
      amount,
      pay(given) {
        paid.push(given.amount);
        return 'paid';
      },
    });
    return await Promise.all(
      frameworks.map(({ run }, index) => run(asked(index), paused[index]?.saved).catch(() => null)),
    );
  };

  const paused = (await runAll(first.url)).filter((run) => run !== null);
  expect(paused.map(({ isPaused }) => isPaused)).toEqual(frameworks.map(() => true));
  const approveAll = await createApprover(first.url);
  expect(await approveAll()).toBe(frameworks.length);
  await first.end('SIGKILL');
  await runAll(first.url, paused);
  expect(paid).toEqual([]);

  const second = await startService(started);
  await runAll(second.url, paused);
  expect(paid.toSorted()).toEqual(frameworks.map((_, index) => index));
  await runAll(second.url, paused);
  expect(paid).toHaveLength(frameworks.length);

  const file = join(started.data, 'effects');
  writeFileSync(file, '');
  const program = (point?: string) =>
    runProgram([second.url, key, file, ...(point === undefined ? [] : [point])]);
  const effects = () => readFileSync(file, 'utf8').split('\n').length - 1;
  const approve = await createApprover(second.url);
  expect(await program()).toBe('waiting');
  await approve();
  expect(await program('before the effect')).toBe('SIGKILL');
  // The approval is used up without an execution, so people are asked again.
  expect([await program(), effects()]).toEqual(['waiting', 0]);
  await approve();
  expect(await program('after the effect')).toBe('SIGKILL');
  expect([await program(), effects()]).toEqual(['waiting', 1]);
  await approve();
  expect([await program(), effects()]).toEqual(['ran', 2]);
  expect(await program()).toBe('waiting');
  await second.end('SIGTERM');
});

/** The text that the program printed, or the signal that ended it. */
async function runProgram(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [new URL('./program.ts', import.meta.url).pathname, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  return await new Promise((resolve) => child.once('close', (_, signal) => resolve(signal ?? printed)));
}
