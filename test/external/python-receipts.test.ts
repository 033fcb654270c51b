// LAW: the check of receipts for Python passes no grant twice, with a memory of the process and with one that
// outlives it. `test/integrations` holds the check for TypeScript to the same.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import {
  audience,
  expectLaw,
  type History,
  historyOf,
  issuer,
  type Passes,
  toleranceSeconds,
} from '../integrations/receipt-history.ts';
import { temporaryFolder } from '../service/store/rows.ts';
import { python, requireProgram } from './programs.ts';

beforeAll(() => requireProgram([python, '-c', 'import cryptography'], 'python3 python3-cryptography'));

function inPython({ steps, keys }: History, memory: string): Passes {
  const text = `
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, 'integrations/python')
import writ
given = json.load(sys.stdin)
now = [given['steps'][0]['at'] - 600]
writ.time.time = lambda: now[0]
def begin():
    return ${memory}
used = begin()
passes = []
for step in given['steps']:
    now[0] = step['at']
    if step['what'] == 'restart':
        used = begin()
        passes.append(None)
        continue
    try:
        writ.verify_receipt(step['receipt'], given['keys'], issuer='${issuer}', audience='${audience}',
                            action=step['grant']['action'], payload=step['grant']['payload'], used=used, leeway=${toleranceSeconds})
        passes.append(True)
    except writ.ReceiptError:
        passes.append(False)
print(json.dumps(passes))
`;
  const { stdout, stderr } = spawnSync(python, ['-c', text], {
    input: JSON.stringify({ steps, keys }),
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

test.each([1, 2, 3])('law: a grant passes once, seed %i', { timeout: 240_000 }, async (seed) => {
  const history = await historyOf(seed, 120);
  expectLaw(history, inPython(history, 'writ.UsedReceipts()'));
  const folder = join(temporaryFolder(), 'used');
  expectLaw(history, inPython(history, `writ.UsedReceiptFiles(${JSON.stringify(folder)})`));
  expect(history.steps.length).toBeGreaterThan(50);
});
