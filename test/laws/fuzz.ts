// `npm run fuzz -- --pairs 200000 --seed 1`: compares the compiled function with the definition on random pairs and
// prints what it reached. Without `--seed` it draws one and prints it.

import { parseArgs } from 'node:util';
import { compareReadings } from './differential.ts';

const { values } = parseArgs({
  options: { pairs: { type: 'string', default: '200000' }, seed: { type: 'string' } },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000_000) : Number(values.seed);
const started = performance.now();
console.log(`seed ${seed}`);
const { pairs, outcomes, findings } = compareReadings(Number(values.pairs), seed);
for (const finding of findings) {
  console.log(
    `\nseed ${finding.seed}: ${finding.problem}\n${finding.policies}\n${JSON.stringify(finding.facts, bigintAsText, 1)}`,
  );
}
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(
  `${pairs} pairs in ${seconds} s, ${findings.length} differences; outcomes ${JSON.stringify(outcomes)}`,
);
process.exitCode = findings.length === 0 ? 0 : 1;

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}
