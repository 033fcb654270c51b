// The uses of the delegations by which a request comes: a request that is granted, or waits for people, takes one of
// each link. INVARIANT: reading the counts and entering the uses are one synchronous step, and the uses are stored
// with the record of their request, so no link is used more often than it may be, and no use is lost.

import { delegationMeters, oneUse } from '../../../language/model/lasting-meters.ts';
import type { MeterUse } from '../../../language/model/metering.ts';
import { compare, fromNumber, toNumber } from '../../../language/value/decimal.ts';
import type { ActingChain, ActingLink, CountUses } from '../../agents/delegations/delegation.ts';
import type { MeterStore, StoredMeterEntry } from '../../store/contract/metering.ts';
import { StoreError } from '../../store/contract/store-error.ts';
import type { RecordedLink } from '../record/record.ts';
import type { Metering } from './metering.ts';

const noUses: readonly MeterUse[] = [];

/** One use of each link that has a limit. */
export function usesOf(chain: ActingChain | undefined): readonly MeterUse[] {
  return chain === undefined ? noUses : chainUses(chain.links);
}

/** What a recorded request has entered. */
export function recordedUses(chain: readonly RecordedLink[] | undefined): readonly MeterUse[] {
  return chain === undefined ? noUses : chainUses(chain);
}

interface LimitedLink {
  readonly id: string;
  readonly uses?: number | null;
}

function chainUses(links: readonly LimitedLink[]): readonly MeterUse[] {
  return links.flatMap(({ id, uses = null }, place) => (uses === null ? [] : [useAt(place, id)]));
}

function useAt(place: number, id: string, names: readonly string[] = []): MeterUse {
  const definition = delegationMeters[place];
  if (definition === undefined) throw new Error(`a chain has no place ${place}`);
  return oneUse(definition, id, names);
}

/** The first link that has no uses left; null while each has one. Throws a StoreError when a count is not known. */
export function usedUp(
  chain: ActingChain | undefined,
  metering: Pick<Metering, 'read'>,
  at: { readonly nowMs: number; readonly requestId: string },
): ActingLink | null {
  if (chain === undefined) return null;
  const isEmpty = ({ id, uses }: ActingLink, place: number) => {
    if (uses === null) return false;
    // The reading includes this request.
    const { high = null } = metering.read([useAt(place, id, [id])], at).known[id] ?? {};
    if (high === null)
      throw new StoreError('not-ready', `the uses of the delegation \`${id}\` are not known yet`);
    return compare(high, fromNumber(uses)) > 0;
  };
  return chain.links.find(isEmpty) ?? null;
}

/** Returns a function that counts uses by the meters; to be called once these have caught up. */
export function createUseCounter(metering: Pick<Metering, 'read'>, nowMs: number): CountUses {
  return ({ id, above }) => {
    const use = useAt(above.length, id, [id]);
    const { high } = metering.read([use], { nowMs, requestId: '' }).known[id] ?? {};
    // The reading includes one use more.
    return high === undefined ? null : toNumber(high) - 1;
  };
}

/** The same for a store that no service has open in this process. */
export async function readUses(meters: Pick<MeterStore, 'openPast'>): Promise<CountUses> {
  const counts = new Map<string, number>();
  const count = ({ key }: StoredMeterEntry) => counts.set(key, (counts.get(key) ?? 0) + 1);
  const past = await meters.openPast();
  try {
    for (const { id } of delegationMeters) {
      (await past.pending(id)).forEach(count);
      for await (const entries of past.granted(id, 0)) entries.forEach(count);
    }
  } finally {
    await past.close();
  }
  return ({ id }) => counts.get(id) ?? 0;
}
