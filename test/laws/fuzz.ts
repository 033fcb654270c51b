// `npm run fuzz -- --pairs 200000 --seed 1`: compares the compiled function with the definition on random pairs, prints
// what it reached and, at the end, what it did not, and writes each failure as a case that the tests replay. Without
// `--seed` it draws one and prints it; `--quiet` leaves out the table.

import { parseArgs } from 'node:util';
import { writeCase } from './cases.ts';
import { compareReadings } from './differential.ts';
import { tableOf } from './reached.ts';

const { values } = parseArgs({
  options: {
    pairs: { type: 'string', default: '200000' },
    seed: { type: 'string' },
    quiet: { type: 'boolean', default: false },
  },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 1_000_000_000) : Number(values.seed);
const started = performance.now();
console.log(`seed ${seed}`);
const { pairs, reached, findings } = compareReadings(Number(values.pairs), seed);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
const counts = reached.counts();
if (!values.quiet) for (const line of tableOf(counts)) console.log(line);
for (const finding of findings) {
  const path = writeCase(`found-${finding.seed}`, finding);
  const texts = finding.files.map(({ text }) => text).join('\n');
  console.log(`\nseed ${finding.seed}: ${finding.problem}\n${texts}\nwritten to ${path}`);
}
const missing = reached.missing();
console.log(missing.length === 0 ? 'not reached: nothing' : `not reached:\n  ${missing.join('\n  ')}`);
const summary = `${findings.length} differences, ${counts.size} features reached, ${missing.length} not`;
console.log(`${pairs} pairs in ${seconds} s, ${summary}`);
process.exitCode = findings.length === 0 ? 0 : 1;
