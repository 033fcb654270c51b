// Examines what the service keeps: its master key, its records, and the clock that dates them.

import { existsSync } from 'node:fs';
import { isoTime } from '../../language/value/iso-time.ts';
import { clockFault } from '../../service/clock.ts';
import type { Config } from '../../service/settings/load.ts';
import { StoreError, type StoreErrorCode } from '../../service/store/contract/store-error.ts';
import type { ExaminedStore } from '../../service/store/examine/examined-store.ts';
import { displayLocation, examineStore, fileOf, storeLocationOf } from '../../service/store/open.ts';
import { findingFromError, ok, type PartFinding, warned, wrong } from './finding.ts';

export interface RecordsResult {
  readonly key: PartFinding;
  readonly store: PartFinding;
  /** The examined store; null when there is no store, or none that can be examined. */
  readonly examined: ExaminedStore | null;
}

const aboutKey: ReadonlySet<StoreErrorCode> = new Set<StoreErrorCode>(['master-key', 'unsafe-files']);

export async function examineRecords({ data, store: database, durability }: Config): Promise<RecordsResult> {
  const place = storeLocationOf({ data, database, durability });
  const location = displayLocation(place);
  if (!('url' in place) && !existsSync(place.path) && !existsSync(`${place.path}.key`)) {
    const made = 'the first start creates it';
    return { key: ok(`no key yet: ${made}`), store: ok(`no records at ${location} yet`), examined: null };
  }
  try {
    const examined = await examineStore(place);
    return { key: keyFinding(fileOf(place), database), store: storeFinding(examined, location), examined };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const other = ok('not checked until the other is correct');
    const failure =
      error.code === 'unreachable'
        ? wrong(`${location} cannot be reached`, 'start the database, or correct the address in `store`')
        : findingFromError(error);
    const isKey = aboutKey.has(error.code);
    return { key: isKey ? failure : other, store: isKey ? other : failure, examined: null };
  }
}

function keyFinding(file: string, database: string | null): PartFinding {
  return ok(
    `${database === null ? `${file}.key` : file} is the key of these records, readable only by its owner`,
  );
}

function storeFinding({ isEarlier, isServed, difference }: ExaminedStore, location: string): PartFinding {
  if (isEarlier)
    return warned(
      `${location} is from an earlier version`,
      'stop the service of that version; the next start of this one, or `writ store migrate`, upgrades the store',
    );
  if (difference !== null)
    return wrong(
      `${location} was changed outside of the service: ${difference}`,
      '`writ audit verify` lists the changes; restore a backup, or accept them with `writ audit accept`',
    );
  return ok(`${location}, ${isServed ? 'served by a process' : 'not served by any process'}`);
}

/** The difference, in milliseconds, from which two clocks count as apart. */
const apartMs = 30_000;

export interface ClockSample {
  /** The owner of the clock, in words for people. */
  readonly whose: string;
  readonly atMs: number;
}

/** Compares the clock with the newest record, and with the clocks of other machines. */
export function examineClock(
  nowMs: number,
  newestMs: number | null,
  others: readonly ClockSample[],
): PartFinding {
  const behind = clockFault(nowMs, newestMs);
  if (behind !== null) {
    const [what = '', ...fix] = behind.split(': ');
    return wrong(what, fix.join(': '));
  }
  const other = others.find(({ atMs }) => Math.abs(atMs - nowMs) > apartMs);
  if (other !== undefined)
    return wrong(
      `this machine's clock shows ${isoTime(nowMs)}, the clock of ${other.whose} ${isoTime(other.atMs)}`,
      'set the clock with NTP: `timedatectl set-ntp true`',
    );
  const against = others.map(({ whose }) => whose);
  return ok(`${isoTime(nowMs)}${against.length === 0 ? '' : `, as ${against.join(' and ')}`}`);
}
