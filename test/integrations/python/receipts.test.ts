// LAW: the check of receipts for Python passes no grant twice, with a memory of the process and with one that
// outlives it. `test/integrations/receipt-law.test.ts` holds the check for TypeScript to the same.

import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../../service/store/rows.ts';
import {
  audience,
  expectLaw,
  type History,
  historyOf,
  issuer,
  type Passes,
  toleranceSeconds,
} from '../receipt-history.ts';
import { inPython, requirePython } from './python.ts';

beforeAll(requirePython);

function passesOf({ steps, keys }: History, memory: string): Promise<Passes> {
  const program = `
now = [given['steps'][0]['at'] - 600]
time.time = lambda: now[0]
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
say(passes)`;
  return inPython({ steps, keys }, program);
}

test.each([1, 2, 3])('law: a grant passes once, seed %i', { timeout: 240_000 }, async (seed) => {
  const history = await historyOf(seed, 120);
  expectLaw(history, await passesOf(history, 'writ.UsedReceipts()'));
  const folder = join(temporaryFolder(), 'used');
  expectLaw(history, await passesOf(history, `writ.UsedReceiptFiles(${JSON.stringify(folder)})`));
  expect(history.steps.length).toBeGreaterThan(50);
});
