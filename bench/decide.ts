// `npm run bench`: what one decision costs, by the compiled function and by the definition, on each policy pack. Decisions
// are checked equal first; rounds alternate; medians with minimum and maximum.

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import type { Decision } from '../src/model/decision.ts';
import type { Facts } from '../src/model/request.ts';
import { compile } from '../src/pipeline.ts';
import { constantsOf } from '../src/prove/constants.ts';
import { createRandom } from '../src/prove/random.ts';
import { randomRequest } from '../src/prove/request.ts';
import { readPolicies } from '../src/sources/read.ts';
import { authorize } from '../src/spec/authorize.ts';

const packs = ['policies/payments', 'policies/banking', 'policies/slack', 'policies'];
const requestsPerPack = 1_000;

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });

console.log(`${cpus()[0]?.model}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}\n`);
console.log('| policies | function, ns | min..max | definition, ns | min..max | definition / function |\n|---|---|---|---|---|---|');
for (const pack of packs) {
  const { set, engine } = compile((await readPolicies(pack)).sources);
  if (set === null || engine === null) throw new Error(`${pack} does not compile`);
  const actions = [...set.actions.values()];
  const random = createRandom(1);
  const source = { set, constants: constantsOf(set), random, requirements: [] };
  const requests = Array.from({ length: requestsPerPack }, () => randomRequest(source, random.pick(actions)));
  for (const facts of requests) {
    const [fast, defined] = [engine.decide(facts), authorize(set, facts)];
    if (fast.outcome !== defined.outcome || fast.by !== defined.by) throw new Error(`${pack}: the readings differ`);
  }
  const fast: number[] = [];
  const slow: number[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    fast.push(nanoseconds(engine.decide, requests, 200));
    slow.push(nanoseconds((facts) => authorize(set, facts), requests, 2));
  }
  const ratio = (median(slow) / median(fast)).toFixed(0);
  console.log(`| ${pack} | ${median(fast)} | ${spread(fast)} | ${median(slow)} | ${spread(slow)} | ${ratio} |`);
}

function nanoseconds(decide: (facts: Facts) => Decision, requests: readonly Facts[], repeats: number): number {
  let allowed = 0;
  const started = process.hrtime.bigint();
  for (let i = 0; i < repeats; i++) {
    for (const facts of requests) if (decide(facts).outcome === 'ALLOW') allowed++;
  }
  const elapsed = Number(process.hrtime.bigint() - started);
  if (allowed < 0) throw new Error('the decisions are used');
  return Math.round(elapsed / repeats / requests.length);
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? 0;
}

function spread(figures: readonly number[]): string {
  return `${Math.min(...figures)}..${Math.max(...figures)}`;
}
