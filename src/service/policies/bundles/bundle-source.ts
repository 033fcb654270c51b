// Fetches a bundle from a file or an address, and tells whether it has changed since the last look.

import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';

export interface FoundBundle {
  readonly bytes: Uint8Array;
  /** Tells this bundle from the next one at the same place. */
  readonly mark: string;
}

/**
 * Resolves to null when the bundle is still the one with this mark. Rejects with a line for people when no
 * bundle can be had.
 */
export type BundleSource = (mark: string | null, signal: AbortSignal) => Promise<FoundBundle | null>;

/** A bundle of a hundred thousand policies has about 100 MB. */
const bytesMax = 1024 ** 3;
const timeoutMs = 60_000;

/** `place`: an absolute path, or an http or https address. */
export function bundleSource(place: string): BundleSource {
  return /^https?:\/\//.test(place) ? fromAddress(place) : fromFile(place);
}

function fromFile(path: string): BundleSource {
  return async (mark) => {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
      const found = [dev, ino, size, mtimeNs, ctimeNs].join(':');
      if (found === mark) return null;
      if (size > bytesMax) throw new Error(`it has more than ${bytesMax} bytes`);
      return { bytes: await readFile(path), mark: found };
    } catch (error) {
      throw new Error(`the bundle cannot be read: ${reasonOf(error)}`, { cause: error });
    }
  };
}

function fromAddress(address: string): BundleSource {
  return async (mark, signal) => {
    const etag = mark?.startsWith('etag ') === true ? mark.slice('etag '.length) : null;
    try {
      const reply = await fetch(address, {
        headers: { accept: 'application/octet-stream', ...(etag === null ? {} : { 'if-none-match': etag }) },
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      if (reply.status === 304) return null;
      if (reply.status !== 200) throw new Error(`the server answered ${reply.status}`);
      const bytes = await bodyOf(reply);
      const given = reply.headers.get('etag');
      const found = given === null ? `sha256 ${sha256Text(bytes)}` : `etag ${given}`;
      return found === mark ? null : { bytes, mark: found };
    } catch (error) {
      throw new Error(`the bundle cannot be fetched: ${reasonOf(error)}`, { cause: error });
    }
  };
}

async function bodyOf(reply: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of reply.body ?? []) {
    length += part.length;
    if (length > bytesMax) throw new Error(`it has more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

export function sha256Text(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** `fetch` puts the real reason into the `cause` of its error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const code = 'code' in error ? error.code : cause instanceof Error && 'code' in cause ? cause.code : null;
  return typeof code === 'string' ? code : error.message;
}
