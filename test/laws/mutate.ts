// `node test/laws/mutate.ts --mutants 10000 --seed 1`: compiles mutated policy files and sends random
// requests to those that compile. Prints the counts and the slowest file, and writes each failure as a case
// that the tests repeat.

import { parseArgs } from 'node:util';
import { writeCase } from './cases.ts';
import { tryMutations } from './mutations.ts';

const { values } = parseArgs({
  options: { mutants: { type: 'string', default: '10000' }, seed: { type: 'string' } },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000_000) : Number(values.seed);
const started = performance.now();
const { count, sound, requests, slowestMs, findings } = tryMutations(Number(values.mutants), seed);
for (const [index, finding] of findings.entries()) {
  console.log(`${finding.problem}\nwritten to ${writeCase(`mutant-${seed}-${index}`, finding)}\n`);
}
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(
  `seed ${seed}: ${count} mutants in ${seconds} s, ${sound} compiled, ${requests} requests, slowest ${slowestMs.toFixed(0)} ms, ${findings.length} failures`,
);
process.exitCode = findings.length === 0 ? 0 : 1;
