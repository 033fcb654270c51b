// Finds the record of a request by its id, in the store of a service.

import { existsSync } from 'node:fs';
import { type RequestRecord, requestRecord } from '../../service/requests/record/record.ts';
import { StoreError } from '../../service/store/contract/store-error.ts';
import { fileOf, openStore } from '../../service/store/open.ts';
import { commandStoreLocation, type DataOption } from '../client/with-store.ts';
import { printError } from '../output/output.ts';

export function isRequestId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** Prints why there is no such record, and then returns `none`. */
export async function findRecord(id: string, options: DataOption): Promise<RequestRecord | 'none'> {
  const { data } = options;
  const location = commandStoreLocation(options);
  // Opening a store that does not exist would create it.
  if (!existsSync(fileOf(location))) return fail(`there is no store in \`${data}\``);
  try {
    const store = await openStore(location);
    try {
      const row = await store.requests.find(id.toLowerCase());
      return row === null ? fail(`there is no request \`${id}\` in \`${data}\``) : requestRecord(row);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return fail(error.message);
  }
}

function fail(message: string): 'none' {
  printError(`error: ${message}\n`);
  return 'none';
}
