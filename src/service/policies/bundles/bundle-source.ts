// Fetches a bundle from a file or an address, and tells whether it has changed since the last look.

import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { type FetchLimits, fetchDocument } from '../../fetching/fetch-document.ts';
import { faultOfFile } from '../../file-fault.ts';

export interface FetchedBundle {
  readonly bytes: Uint8Array;
  /** Tells this bundle from the next one at the same place. */
  readonly mark: string;
}

/**
 * Resolves to null when the bundle is still the one with this mark. Rejects with a line for people when no
 * bundle can be had.
 */
export type BundleSource = (mark: string | null, signal: AbortSignal) => Promise<FetchedBundle | null>;

/** The longest time that the download of a bundle may take, in milliseconds. */
const timeoutMs = 60_000;

export interface BundleLimits {
  /** The largest bundle that is read, in bytes: nobody vouches for it before it is read as a whole. */
  readonly bytesMax: number;
  /** The rate below which a server counts as stalled. */
  readonly rate?: FetchLimits['rate'];
}

/** `address`: an absolute path, or an http or https address. */
export function bundleSource(address: string, limits: BundleLimits): BundleSource {
  return /^https?:\/\//.test(address) ? fromAddress(address, limits) : fromFile(address, limits);
}

const bytesSetting = 'bundle.bytes_max';

function fromFile(path: string, { bytesMax }: BundleLimits): BundleSource {
  return async (mark) => {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
      const fingerprint = [dev, ino, size, mtimeNs, ctimeNs].join(':');
      if (fingerprint === mark) return null;
      if (size > bytesMax) throw new Error(`it has more than ${bytesMax} bytes (${bytesSetting})`);
      return { bytes: await readFile(path), mark: fingerprint };
    } catch (error) {
      throw new Error(`the bundle cannot be read: ${reasonOf(error)}`, { cause: error });
    }
  };
}

function fromAddress(address: string, { bytesMax, rate }: BundleLimits): BundleSource {
  return async (mark, signal) => {
    const etag = mark?.startsWith('etag ') === true ? mark.slice('etag '.length) : null;
    const headers = {
      accept: 'application/octet-stream',
      ...(etag === null ? {} : { 'if-none-match': etag }),
    };
    try {
      const limits = { bytesMax, bytesSetting, timeoutMs, signal, ...(rate === undefined ? {} : { rate }) };
      const { status, headers: given, bytes } = await fetchDocument(address, headers, limits);
      if (status === 304) return null;
      if (status !== 200) throw new Error(`the server answered ${status}`);
      const tag = given.get('etag');
      const fingerprint = tag === null ? `sha256 ${sha256Text(bytes)}` : `etag ${tag}`;
      return fingerprint === mark ? null : { bytes, mark: fingerprint };
    } catch (error) {
      throw new Error(`the bundle cannot be fetched: ${reasonOf(error)}`, { cause: error });
    }
  };
}

export function sha256Text(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function reasonOf(error: unknown): string {
  const fault = faultOfFile(error);
  if (fault !== null) return `it ${fault}`;
  return error instanceof Error ? error.message : String(error);
}
