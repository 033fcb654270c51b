// What decides for sub-agents is loaded in parts: a service answers others meanwhile.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const module = join(import.meta.dirname, '../../../src/service/policies/delegated-policies.ts');

test('other work is done while the guards of delegations are loaded', () => {
  // A new process has loaded nothing.
  const script = `
    const { createDelegatedPolicies } = await import(${JSON.stringify(module)});
    let turns = 0;
    let isLoaded = false;
    const turn = () => { turns += 1; if (!isLoaded) setImmediate(turn); };
    setImmediate(turn);
    await createDelegatedPolicies().ready();
    isLoaded = true;
    console.log(turns);`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(Number(stdout)).toBeGreaterThanOrEqual(2);
});
