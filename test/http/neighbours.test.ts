// What an agent notices of a neighbour that misbehaves: it is decided every time, and not much later than alone.
// `node bench/service/neighbours.ts` measures the same for longer and prints a table.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { at, measure, misbehave, misbehaviours, startTarget } from '../../bench/service/neighbours.ts';

/** Generous, for the machine may be busy with other work; where a flood keeps the event loop to itself it is hundreds. */
const slowerMax = 100;

test('an agent is answered beside each kind of misbehaviour, and never kept waiting by a flood that has the event loop to itself', {
  timeout: 180_000,
}, async () => {
  const target = await startTarget();
  onTestFinished(target.end);
  await measure(target, 500);
  const alone: number[] = [];
  const beside = new Map<string, number>();
  for (const [name, flood] of Object.entries(misbehaviours)) {
    alone.push(...(await measure(target, 400)));
    const end = misbehave(target, flood);
    await sleep(500);
    // It throws where a single answer is not a decision.
    const took = await measure(target, 1_000);
    end();
    beside.set(name, at(took, 0.5));
    await sleep(300);
  }
  const usual = at(
    alone.toSorted((a, b) => a - b),
    0.9,
  );
  for (const [name, median] of beside) expect(median / usual, name).toBeLessThan(slowerMax);
});
