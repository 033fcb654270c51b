// The address of a program that prints where it listens.

import { createInterface } from 'node:readline';

/** The first that its log names. */
export async function addressIn(log: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: log })) {
    const address = /http:\/\/[\w.:/]+/.exec(line)?.[0];
    if (address !== undefined) return address;
  }
  throw new Error('it did not start');
}
