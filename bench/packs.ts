// Measures the example policies on the requests of their own tests: the compiled function beside the
// definition (`src/language/spec`). Decisions are checked to be equal first.

import { readFileSync } from 'node:fs';
import { countRules } from '../src/language/model/policy.ts';
import type { Facts } from '../src/language/model/request.ts';
import { authorize } from '../src/language/spec/authorize.ts';
import { rotate, timeCalls } from '../src/measure/clock.ts';
import type { Figure } from '../src/measure/figure.ts';
import { factsOf, readRequestLines } from '../src/measure/read-requests.ts';
import { compile } from '../src/pipeline.ts';
import { readPolicies } from '../src/service/policies/read-policies.ts';

export interface PackFigures {
  readonly pack: string;
  readonly requests: number;
  readonly rules: number;
  readonly fast: Figure;
  readonly traced: Figure;
  readonly definition: Figure;
}

const packs = ['payments', 'banking', 'slack'];

export async function measurePacks(rounds: number): Promise<readonly PackFigures[]> {
  const measured: PackFigures[] = [];
  for (const pack of packs) measured.push(await measurePack(pack, rounds));
  return measured;
}

async function measurePack(pack: string, rounds: number): Promise<PackFigures> {
  const folder = new URL(`../policies/${pack}`, import.meta.url).pathname;
  const { set, engine } = compile((await readPolicies(folder)).sources);
  if (set === null || engine === null) throw new Error(`${pack} does not compile`);
  const { lines } = readRequestLines(readFileSync(`${folder}/requests.jsonl`), pack);
  const { facts: requests } = factsOf(lines, set, []);
  for (const facts of requests) {
    const [fast, defined] = [engine.decide(facts), authorize(set, facts)];
    if (JSON.stringify(fast) !== JSON.stringify(defined)) throw new Error(`${pack}: the readings differ`);
  }
  const each = (use: (facts: Facts) => unknown) => () =>
    timeCalls(() => {
      for (const facts of requests) use(facts);
    }, requests.length);
  const { fast, traced, definition } = rotate(
    {
      fast: each(engine.decide),
      traced: each(engine.decideTraced),
      definition: each((facts) => authorize(set, facts)),
    },
    rounds,
  );
  return { pack, requests: requests.length, rules: countRules(set.policies), fast, traced, definition };
}
