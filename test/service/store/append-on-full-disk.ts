// A process that fills the disk under the store in the folder argv[2], appends requests meanwhile and
// afterwards, and prints their outcomes. `tmpfs`: the folder is a small file system of its own. `limit`: the
// process has a limit on the size of files, in place of a full disk.

import { execFileSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import { StoreError } from '../../../src/service/store/contract/store-error.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { requestRow } from './rows.ts';

const [, , folder = '', means = ''] = process.argv;
const limitProgram = 'prlimit';
const ballast = join(folder, 'ballast');
const store = await openStore({ path: join(folder, 'writ.db') });

function setSizeLimit(limit: string): void {
  execFileSync(limitProgram, ['--pid', String(process.pid), `--fsize=${limit}:`]);
}

function fillDisk(): void {
  if (means === 'limit') {
    setSizeLimit('4096');
    return;
  }
  try {
    for (;;) appendFileSync(ballast, Buffer.alloc(4096, 1));
  } catch {
    // The disk is full.
  }
}

function makeRoom(): void {
  if (means === 'limit') setSizeLimit('unlimited');
  else rmSync(ballast);
}

/** Appends `count` requests at once; returns for each its outcome, and whether its record can be found. */
async function appendMany(count: number) {
  const records = Array.from({ length: count }, () => requestRow());
  const results = await Promise.allSettled(
    records.map((record) => store.requests.append(record, { openMax: 20 })),
  );
  const outcomes = results.map((result) => {
    if (result.status === 'fulfilled') return result.value;
    return result.reason instanceof StoreError ? result.reason.code : String(result.reason);
  });
  const found = await Promise.all(records.map((record) => store.requests.find(record.id)));
  const foundCount = found.filter((record) => record !== null).length;
  return { outcomes: [...new Set(outcomes)], foundCount, isWritable: store.isWritable() };
}

const before = await appendMany(3);
fillDisk();
const whileFull = [await appendMany(40), await appendMany(40)];
makeRoom();
const after = await appendMany(40);
const chain = await verifyChain(store);
await store.close();
process.stdout.write(JSON.stringify({ before, whileFull, after, chain: chain.kind }));
