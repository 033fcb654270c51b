// Finds the address that a program prints when it starts to listen.

import { createInterface } from 'node:readline';

/** Returns the first HTTP address in a program's log. Throws when the log ends without an address. */
export async function addressIn(log: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: log })) {
    const address = /http:\/\/[\w.:/]+/.exec(line)?.[0];
    if (address !== undefined) return address;
  }
  throw new Error('it did not start');
}
