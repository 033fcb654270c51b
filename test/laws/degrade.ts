// `node test/laws/degrade.ts [PATHS]`: removes one field or one fact at a time from every case of the
// policies' tests and prints how often the decision stayed, became stricter or weaker. Fails when a law is
// broken: an unknown fact, a missing required field, and a missing field that no rule tests for may never
// weaken a decision. Without paths it uses `policies`.

import { type Degradation, degradeTests, freeLosses, strictLosses } from './degradation.ts';

const paths = process.argv.slice(2);
const found = await degradeTests(paths.length === 0 ? ['policies'] : paths);
const changes: readonly Degradation['change'][] = ['same', 'stricter', 'weaker'];
console.log(['taken away'.padEnd(28), 'tried', ...changes].map((text) => text.padStart(9)).join(''));
for (const loss of [...strictLosses, ...freeLosses]) {
  const ofLoss = found.filter((one) => one.loss === loss);
  const counts = changes.map((change) => ofLoss.filter((one) => one.change === change).length);
  console.log(
    [loss.padEnd(28), ...[ofLoss.length, ...counts].map((count) => String(count).padStart(9))].join(''),
  );
}
const weaker = found.filter(({ change }) => change === 'weaker');
for (const { place, before, after } of weaker) console.log(`weaker: ${place}: ${before} became ${after}`);
const broken = weaker.filter(({ loss }) => strictLosses.some((strict) => strict === loss));
console.log(`${found.length} degraded requests, ${weaker.length} weaker, ${broken.length} against the law`);
process.exitCode = broken.length === 0 ? 0 : 1;
