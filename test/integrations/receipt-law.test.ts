// LAW: no sequence of granting, issuing, waiting, showing, reporting and restarting passes a grant twice,
// whatever the clocks differ by within the tolerance: in the check for TypeScript, with a memory of the process
// and with one that outlives it, and with a plain JWT library that keeps each `jti` until `exp`. A fresh grant
// passes. `python/receipts.test.ts` holds the check for Python to the same.

import { join } from 'node:path';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  createReceiptCheck,
  createUsedReceiptFiles,
  createUsedReceipts,
  ReceiptError,
  type UsedReceipts,
} from '../../integrations/typescript/receipt.ts';
import { temporaryFolder } from '../service/store/rows.ts';
import {
  audience,
  expectLaw,
  type History,
  historyOf,
  issuer,
  type Passes,
  toleranceSeconds,
} from './receipt-history.ts';

async function inTypeScript({ steps, keys }: History, begin: () => UsedReceipts): Promise<Passes> {
  const options = { issuer, audience, keys: createLocalJWKSet(keys), clockTolerance: toleranceSeconds };
  vi.useFakeTimers({ now: ((steps[0]?.at ?? 0) - 600) * 1000, toFake: ['Date'] });
  let check = createReceiptCheck({ ...options, used: begin() });
  const passes: (boolean | null)[] = [];
  for (const step of steps) {
    vi.setSystemTime(step.at * 1000);
    if (step.what === 'restart') {
      check = createReceiptCheck({ ...options, used: begin() });
      passes.push(null);
    } else
      passes.push(
        await check(step.receipt, step.grant.action, step.grant.payload).then(
          () => true,
          (error) => {
            if (!(error instanceof ReceiptError)) throw error;
            return false;
          },
        ),
      );
  }
  vi.useRealTimers();
  return passes;
}

/** A plain library, and each `jti` kept until the `exp` of its receipt and the tolerance, as libraries do. */
async function inPlainLibrary({ steps, keys }: History): Promise<Passes> {
  const list = createLocalJWKSet(keys);
  const used = new Map<string, number>();
  const passes: (boolean | null)[] = [];
  for (const step of steps) {
    if (step.what === 'restart') {
      passes.push(null);
      continue;
    }
    for (const [id, end] of used) if (end < step.at) used.delete(id);
    const currentDate = new Date(step.at * 1000);
    const rules = { issuer, audience, clockTolerance: toleranceSeconds, currentDate };
    const claims = await jwtVerify(step.receipt, list, rules).then(
      ({ payload }) => payload,
      () => null,
    );
    const isFirst = claims !== null && !used.has(claims.jti ?? '');
    if (isFirst) used.set(claims.jti ?? '', (claims.exp ?? 0) + toleranceSeconds);
    passes.push(isFirst);
  }
  return passes;
}

afterEach(() => {
  vi.useRealTimers();
});

describe.each([1, 2, 3])('law: a grant passes once, seed %i', (seed) => {
  test('in every check, whatever its memory', { timeout: 240_000 }, async () => {
    const history = await historyOf(seed, 120);
    expectLaw(history, await inTypeScript(history, createUsedReceipts));
    const folder = join(temporaryFolder(), 'used');
    expectLaw(history, await inTypeScript(history, () => createUsedReceiptFiles(folder)));
    expectLaw(history, await inPlainLibrary(history));
  });
});

test('a store of used receipts refuses what it may have forgotten when the clock goes back', () => {
  vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] });
  const used = createUsedReceipts();
  expect(used.putIfAbsent('first', 1_065)).toBe(true);
  vi.setSystemTime(1_066_000);
  expect(used.putIfAbsent('second', 1_100)).toBe(true);
  vi.setSystemTime(1_010_000);
  expect(used.putIfAbsent('first', 1_065)).toBe(false);
  expect(used.putIfAbsent('third', 1_100)).toBe(true);
});
