// Prints how long each claim of the tests takes to prove or refute, and the processor time for everything
// that `writ check` does with each shipped pack: `node bench/claims.ts`

import { join } from 'node:path';
import { compile } from '../src/pipeline.ts';
import { withLints } from '../src/reasoning/lints/lint.ts';
import { proveGuarantees } from '../src/reasoning/prove/prove.ts';
import { readSources } from '../src/service/policies/bundles/read-sources.ts';
import { allFalse, allTrue, provePackClaim } from '../test/reasoning/claims/prove-pack-claim.ts';

const judged = [];
for (const packClaim of [...allTrue, ...allFalse])
  judged.push({ packClaim, ...(await provePackClaim(packClaim)) });
for (const { packClaim, kind, milliseconds } of judged.toSorted((a, b) => a.milliseconds - b.milliseconds))
  console.log(
    `${milliseconds.toFixed(1).padStart(8)} ms ${kind.padEnd(10)} ${packClaim.on}: ${packClaim.claim}`,
  );
const undecided = judged.filter(({ kind }) => kind === 'undecided').length;
console.log(`\n${judged.length} claims, ${undecided} undecided`);

console.log('\nchecking a pack: compiling, proving its guarantees, finding what is needless');
for (const pack of ['payments', 'banking', 'slack']) {
  const start = process.cpuUsage();
  const { sources } = await readSources(join(import.meta.dirname, '../policies', pack));
  const compiled = compile(sources);
  if (compiled.set === null) throw new Error(`${pack} has errors`);
  proveGuarantees(compiled.set);
  withLints({ ...compiled, set: compiled.set, texts: sources.files });
  const { user, system } = process.cpuUsage(start);
  console.log(`${((user + system) / 1_000).toFixed(0).padStart(8)} ms of processor ${pack}`);
}
