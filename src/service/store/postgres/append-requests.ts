// Appends requests through the commit queue: those without meters, and those decided on meters. If a request
// was decided by another policy set than the active one, this process loads the active set before the caller
// tries again.

import type { MeterEntryRow, MeterSeries, SpendingRequest } from '../contract/metering.ts';
import type { RequestRow } from '../contract/records.ts';
import type { SealKey } from '../contract/seal.ts';
import type { AppendLimits, AppendResult } from '../contract/store.ts';
import { type NewRequest, type PreparedRequest, prepareRequest } from './append.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { RequestOutcome, WaitingRequest } from './request-batch.ts';
import { isInUse, otherPolicies, toStoreFailure } from './server/errors.ts';

export interface AppendFunctions {
  append(row: RequestRow, limits: AppendLimits, entries: readonly MeterEntryRow[]): Promise<AppendResult>;
  spend(
    series: readonly MeterSeries[],
    work: () => SpendingRequest | null,
  ): Promise<AppendResult | 'nothing'>;
  /** Sets the listener that takes in the active policies and returns whether this process has them. */
  onOtherPolicies(listener: () => Promise<boolean>): void;
}

export function createRequestAppender(queue: Pick<CommitQueue, 'ask'>, sealKey: SealKey): AppendFunctions {
  let lookAgain = async (): Promise<boolean> => false;

  async function send(
    request: Pick<WaitingRequest, 'series' | 'make' | 'revertMeters'>,
    idOf: () => string,
  ): Promise<AppendResult | 'nothing'> {
    const sent = new Promise<RequestOutcome>((resolve, reject) => queue.ask({ ...request, resolve, reject }));
    const word = await sent.catch((error: unknown) => {
      throw isInUse(error) ? duplicateId(idOf()) : error;
    });
    if (word !== 'policies-changed') return word;
    if (!(await lookAgain())) throw otherPolicies();
    return 'precondition-failed';
  }

  async function append(request: NewRequest): Promise<AppendResult> {
    const prepared = preparedOrThrow(request, sealKey);
    const sent = { series: [], make: () => prepared, revertMeters: doNothing };
    const word = await send(sent, () => request.row.id);
    if (word === 'nothing') throw new Error('the server returned no result for the request');
    return word;
  }

  return {
    append: (row, limits, entries) => append({ row, limits, entries, series: [] }),
    async spend(series, work) {
      if (series.length === 0) {
        const made = work();
        return made === null ? 'nothing' : await append({ ...made, series });
      }
      const pending: SpendingRequest[] = [];
      const make = (): PreparedRequest | null => {
        const spending = work();
        if (spending !== null) pending.push(spending);
        return spending === null ? null : preparedOrThrow({ ...spending, series }, sealKey);
      };
      const sent = { series, make, revertMeters: () => pending.at(-1)?.revertMeters() };
      return await send(sent, () => pending.at(-1)?.row.id ?? '');
    },
    onOtherPolicies(listener) {
      lookAgain = listener;
    },
  };
}

function preparedOrThrow(request: NewRequest, sealKey: SealKey): PreparedRequest {
  try {
    return prepareRequest(request, sealKey);
  } catch (error) {
    throw toStoreFailure(error);
  }
}

function doNothing(): void {
  // A request without meters has entered nothing.
}

/** The service makes ids itself and never takes one from a client, so a duplicate is a mistake in Writ. */
export function duplicateId(id: string): Error {
  return new Error(`the id \`${id}\` is in use`);
}
