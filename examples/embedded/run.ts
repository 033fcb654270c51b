// `node examples/embedded/run.ts`: policies that decide inside this program. Prints a decision and why it was
// made, then follows a change of the policy file while the program runs. `node
// --disallow-code-generation-from-strings examples/embedded/run.ts` prints the same.

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPolicies } from 'writ';

const folder = await mkdtemp(join(tmpdir(), 'writ-embedded-'));
await cp(new URL('../policies', import.meta.url), folder, { recursive: true });
const policies = await loadPolicies(folder);
const question = {
  action: 'mail.send',
  payload: { to: 'ann@example.com', text: 'See you at nine.' },
};

const { decision, reason } = policies.decide(question);
console.log(`${decision}: ${reason}`);
for (const { rule, truth } of policies.explain(question).rules) console.log(`  ${rule} is ${truth}`);

const changed = Promise.withResolvers<void>();
const following = await policies.follow({ onChange: changed.resolve, onRefused: changed.reject });
const file = join(folder, 'mail.policy');
await writeFile(file, (await readFile(file, 'utf8')).replace('"example.com"', '"example.org"'));
await changed.promise;
console.log(`after the change ${policies.decide(question).decision}`);
await following.stop();
await rm(folder, { recursive: true });
