// `node bench/interpreter.ts`: compares how long a decision takes when generated code is interpreted and when
// it is a function, on the requests of the example policies. Decisions are checked to be equal first; the two
// take turns. Fails when the interpreter takes more than ten times as long.

import { readFileSync } from 'node:fs';
import { createFunctionCache } from '../src/language/emit/cache.ts';
import { interpret } from '../src/language/emit/interpret/interpret.ts';
import { link } from '../src/language/emit/link.ts';
import { rotate, timeCalls } from '../src/measure/clock.ts';
import { duration } from '../src/measure/figure.ts';
import { factsOf, readRequestLines } from '../src/measure/read-requests.ts';
import { compile } from '../src/pipeline.ts';
import { readPolicies } from '../src/service/policies/read-policies.ts';

const rounds = 15;
const timesMax = 10;

for (const pack of ['payments', 'banking', 'slack']) {
  const folder = new URL(`../policies/${pack}`, import.meta.url).pathname;
  const { set, engine, program } = compile((await readPolicies(folder)).sources);
  if (set === null || engine === null || program === null) throw new Error(`${pack} does not compile`);
  const interpreter = link(program, createFunctionCache(interpret));
  const { facts: requests } = factsOf(
    readRequestLines(readFileSync(`${folder}/requests.jsonl`), pack).lines,
    set,
    [],
  );
  for (const facts of requests) {
    const [fast, interpreted] = [engine.decide(facts), interpreter.decide(facts)];
    if (JSON.stringify(fast) !== JSON.stringify(interpreted)) throw new Error(`${pack}: the readings differ`);
  }
  const each =
    ({ decide }: typeof engine) =>
    () =>
      timeCalls(() => {
        for (const facts of requests) decide(facts);
      }, requests.length);
  const { fast, interpreted } = rotate({ fast: each(engine), interpreted: each(interpreter) }, rounds);
  const times = interpreted.median / fast.median;
  console.log(
    `${pack}: function ${duration(fast.median)}, interpreted ${duration(interpreted.median)}, ${times.toFixed(1)} times`,
  );
  if (times > timesMax) process.exitCode = 1;
}
