// The example policies on calls of real agents where these are at hand, else on random ones: the compiled function beside
// the definition, decisions checked equal first.

import { existsSync, readFileSync } from 'node:fs';
import type { JsonObject } from '../src/model/json.ts';
import { type Facts, nothingSatisfied } from '../src/model/request.ts';
import { compile } from '../src/pipeline.ts';
import { constantsOf } from '../src/prove/constants.ts';
import { createRandom } from '../src/prove/random.ts';
import { randomRequest } from '../src/prove/request.ts';
import { readPolicies } from '../src/sources/read.ts';
import { authorize } from '../src/spec/authorize.ts';
import { type Figure, rotate, time } from './figure.ts';

export interface PackFigures {
  readonly pack: string;
  readonly requests: string;
  readonly rules: number;
  readonly fast: Figure;
  readonly traced: Figure;
  readonly definition: Figure;
}

const packs = ['payments', 'banking', 'slack'];
const calls = new URL('../../shared/data/agentdojo-user-tasks.jsonl', import.meta.url);
const requestsDrawn = 500;

export async function measurePacks(rounds: number): Promise<readonly PackFigures[]> {
  const measured: PackFigures[] = [];
  for (const pack of packs) measured.push(await measurePack(pack, rounds));
  return measured;
}

async function measurePack(pack: string, rounds: number): Promise<PackFigures> {
  const folder = new URL(`../policies/${pack}`, import.meta.url).pathname;
  const { set, engine } = compile((await readPolicies(folder)).sources);
  if (set === null || engine === null) throw new Error(`${pack} does not compile`);
  const real = existsSync(calls) ? realRequests(pack) : [];
  const requests = real.length > 0 ? real : randomRequests(set);
  for (const facts of requests) {
    const [fast, defined] = [engine.decide(facts), authorize(set, facts)];
    if (JSON.stringify(fast) !== JSON.stringify(defined)) throw new Error(`${pack}: the readings differ`);
  }
  const each = (use: (facts: Facts) => unknown) => () =>
    time(() => {
      for (const facts of requests) use(facts);
    }, requests.length);
  const { fast, traced, definition } = rotate(
    {
      fast: each(engine.decide),
      traced: each((facts) => [engine.decide(facts), engine.trace(facts)]),
      definition: each((facts) => authorize(set, facts)),
    },
    rounds,
  );
  const rules = set.policies.reduce((sum, policy) => sum + policy.rules.length, 0);
  const kind = real.length > 0 ? `${real.length} calls of real agents` : `${requests.length} random requests`;
  return { pack, requests: kind, rules, fast, traced, definition };
}

function randomRequests(set: NonNullable<ReturnType<typeof compile>['set']>): readonly Facts[] {
  const random = createRandom(1);
  const actions = [...set.actions.values()];
  const source = { set, constants: constantsOf(set), random, requirements: [] };
  return Array.from({ length: requestsDrawn }, () => randomRequest(source, random.pick(actions)));
}

interface Task {
  readonly suite: string;
  readonly calls: readonly { readonly tool: string; readonly args: JsonObject }[];
}

function realRequests(pack: string): readonly Facts[] {
  const lines = readFileSync(calls, 'utf8').trim().split('\n');
  const tasks = lines.map((line) => JSON.parse(line) as Task).filter(({ suite }) => suite === pack);
  return tasks.flatMap((task) => task.calls.map(({ tool, args }) => toFacts(`${pack}.${tool}`, args)));
}

function toFacts(action: string, payload: JsonObject): Facts {
  return {
    action,
    payload,
    agent: { id: 'agt-1', name: 'assistant', risk_tier: 'low', control_owner: 'ops@example.com', tags: [] },
    request: { ip: '10.0.0.7', signed: false, session: 's-1' },
    nowMs: Date.UTC(2026, 2, 2, 15),
    meters: {},
    satisfied: nothingSatisfied,
  };
}
