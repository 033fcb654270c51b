// A bundle is one file with a compiled program, the texts it was made from, the commit and a signature, so
// that policies travel as one thing and load without compiling. This file writes and reads the bytes of a
// bundle and needs no file system, thread or package. INVARIANT: a bundle in which any bit has changed is
// refused. If a key is given, a bundle without that key's signature is refused.
//
//   "writ b1\n" | 1 if it is signed, else 0 | length of the header, 4 bytes | header, JSON | texts | summary of the set | program
//   | SHA-256 of all before | Ed25519 signature of all before, if it is signed

import type { Title } from '../../../language/model/title.ts';
import type { PackedProgram } from '../../../language/program/packed/packed.ts';
import { deserialize, type SerializedProgram, wholeOf } from '../../../language/program/packed/serialize.ts';

export interface BundledText {
  /** Relative to the policy directory. */
  readonly path: string;
  readonly kind: 'policy' | 'list';
  readonly text: string;
}

export interface Bundle {
  /** When the bundle was made, in milliseconds since 1970. */
  readonly madeMs: number;
  /** The git commit that was checked out around the policies; null when there was none. */
  readonly commit: string | null;
  readonly texts: readonly BundledText[];
  readonly program: PackedProgram;
  readonly facts?: SetFacts;
  /**
   * Only in the file that a service keeps for its next start: the mark of the compiler. Equal marks mean that
   * the same texts compile to the same program.
   */
  readonly engine?: string;
}

/** Identifies what a set was, or would be, compiled from. */
export interface SetContent {
  /** SHA-256 over the policy files and the list files that were known to belong to them. */
  readonly hash: string;
  readonly listFiles: readonly string[];
}

/**
 * What serving needs beside a program: what the program was made from, and what people are told of the set.
 */
export interface SetFacts {
  readonly content: SetContent;
  /** Digest of the set: SHA-256 in hexadecimal. */
  readonly digest: string;
  readonly actions: number;
  readonly rules: number;
  readonly titles: readonly (readonly [action: string, title: Title])[];
  /** `SetSummary` as JSON in UTF-8; parsed only on demand. */
  readonly about: Uint8Array;
}

export interface OpenedBundle extends Bundle {
  /** The public key that signed the bundle, 32 bytes in base64url; null for an unsigned bundle. */
  readonly key: string | null;
}

export interface BundleSigner {
  /** The public key, 32 bytes in base64url. */
  readonly key: string;
  /** Returns an Ed25519 signature, 64 bytes. */
  readonly sign: (bytes: Uint8Array) => Uint8Array;
}

/** A bundle that must not be used. */
export class BundleError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BundleError';
  }
}

interface Header extends Omit<Bundle, 'texts' | 'program' | 'facts'> {
  /** The release that compiled the program; only the same release reads the bundle. */
  readonly writ: string;
  readonly key: string | null;
  readonly texts: readonly (Omit<BundledText, 'text'> & { readonly bytes: number })[];
  /** Facts of the set; the summary's bytes follow the last of the texts. */
  readonly facts?: Omit<SetFacts, 'about'> & { readonly aboutBytes: number };
  readonly program: SerializedProgram;
}

/** The release of Writ. The bytes of a program may differ from one release to the next. */
export const release = '0.1.0';

/** The first bytes of every bundle. */
export const bundleMagic = new TextEncoder().encode('writ b1\n');
const headerStart = bundleMagic.length + 5;
const digestLength = 32;
const signatureLength = 64;

/** Returns the bytes of a bundle: the same bytes for the same contents, time and key. */
export async function writeBundle(bundle: Bundle, signer: BundleSigner | null): Promise<Uint8Array> {
  const { madeMs, commit, facts, engine } = bundle;
  const { whole, bytes: program } = wholeOf(bundle.program);
  const texts = bundle.texts.map(({ text }) => new TextEncoder().encode(text));
  const about = facts?.about ?? new Uint8Array();
  const header: Header = {
    writ: release,
    madeMs,
    commit,
    key: signer?.key ?? null,
    ...(facts === undefined ? {} : { facts: { ...withoutAbout(facts), aboutBytes: about.length } }),
    ...(engine === undefined ? {} : { engine }),
    texts: bundle.texts.map(({ path, kind }, at) => ({ path, kind, bytes: texts[at]!.length })),
    program: whole,
  };
  const json = new TextEncoder().encode(JSON.stringify(header));
  const before = [headerStart, json.length, about.length, ...texts.map(({ length }) => length)];
  // White space behind the header aligns the numbers of the program, so that they can be read in place.
  const head = joined([json, spaces.subarray(0, -before.reduce((sum, length) => sum + length) & 3)]);
  const start = new Uint8Array(headerStart);
  start.set(bundleMagic);
  start[bundleMagic.length] = signer === null ? 0 : 1;
  new DataView(start.buffer).setUint32(bundleMagic.length + 1, head.length, true);
  const contents = joined([start, head, ...texts, about, program]);
  const signed = joined([contents, await sha256Of(contents)]);
  return signer === null ? signed : joined([signed, signer.sign(signed)]);
}

const spaces = new TextEncoder().encode('   ');

export interface ReadOptions {
  /** Computes SHA-256; by default the platform's own, which copies the bytes. */
  readonly sha256?: (bytes: Uint8Array) => Uint8Array;
  /** Whether the caller no longer uses the bytes: program and summary then share their memory. */
  readonly isGivenAway?: boolean;
}

/**
 * `key`: the public key that must have signed the bundle, 32 bytes in base64url. Throws a BundleError for a
 * bundle that must not be used.
 */
export async function readBundle(
  given: Uint8Array,
  key?: string,
  { sha256, isGivenAway = false }: ReadOptions = {},
): Promise<OpenedBundle> {
  // `slice` of a Node buffer shares its memory; `slice` of a Uint8Array copies.
  const bytes = new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
  const isSigned = bytes[bundleMagic.length] === 1;
  const end = bytes.length - (isSigned ? signatureLength : 0) - digestLength;
  if (end < headerStart || !bundleMagic.every((byte, at) => byte === bytes[at]))
    throw new BundleError('this is not a policy bundle');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const digest = await (sha256 ?? sha256Of)(bytes.subarray(0, end));
  if (!digest.every((byte, at) => byte === bytes[end + at]))
    throw new BundleError('the bundle is damaged: its contents do not match its checksum');
  const bodyStart = headerStart + view.getUint32(bundleMagic.length + 1, true);
  if (bodyStart > end) throw new BundleError('the bundle is damaged: its header is longer than the file');
  const header = JSON.parse(textOf(bytes.subarray(headerStart, bodyStart))) as Header;
  await checkSignature(bytes, { isSigned, own: header.key, expectedKey: key, end: end + digestLength });
  if (header.writ !== release)
    throw new BundleError(`the bundle is from release ${header.writ}, but this is ${release}`);
  let at = bodyStart;
  const next = (length: number): Uint8Array => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  const texts = header.texts.map(
    ({ path, kind, bytes: length }): BundledText => ({ path, kind, text: textOf(next(length)) }),
  );
  const ownBytes = (part: Uint8Array): Uint8Array => (isGivenAway ? part : part.slice());
  const facts = header.facts && factsOf(header.facts, ownBytes(next(header.facts.aboutBytes)));
  const { madeMs, commit, engine } = header;
  return {
    madeMs,
    commit,
    key: header.key,
    texts,
    program: deserialize(header.program, ownBytes(bytes.subarray(at, end))),
    ...(facts === undefined ? {} : { facts }),
    ...(engine === undefined ? {} : { engine }),
  };
}

function withoutAbout({ about: _, ...facts }: SetFacts): Omit<SetFacts, 'about'> {
  return facts;
}

function factsOf({ aboutBytes: _, ...facts }: NonNullable<Header['facts']>, about: Uint8Array): SetFacts {
  return { ...facts, about };
}

interface SignedBundle {
  readonly isSigned: boolean;
  readonly own: string | null;
  readonly expectedKey: string | undefined;
  /** Where the signature begins. */
  readonly end: number;
}

async function checkSignature(
  bytes: Uint8Array,
  { isSigned, own, expectedKey, end }: SignedBundle,
): Promise<void> {
  if (isSigned !== (own !== null))
    throw new BundleError('the bundle is damaged: it does not name its signer');
  if (expectedKey !== undefined && own === null) throw new BundleError('the bundle is not signed');
  if (expectedKey !== undefined && own !== expectedKey)
    throw new BundleError(`the bundle is signed with another key, ${own}`);
  if (own === null) return;
  const { subtle } = globalThis.crypto;
  const publicKey = await subtle.importKey('raw', bytesOfKey(own), 'Ed25519', false, ['verify']);
  const isGenuine = await subtle.verify('Ed25519', publicKey, bytes.slice(end), bytes.slice(0, end));
  if (!isGenuine) throw new BundleError("the bundle's signature is not valid");
}

function bytesOfKey(key: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]{43}$/.test(key)) throw new BundleError('a key must have 32 bytes in base64url');
  return Uint8Array.from(atob(key.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
}

async function sha256Of(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', bytes.slice()));
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
