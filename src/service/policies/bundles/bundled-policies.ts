// Turns a bundle in a file or at an address into the active policies and keeps them up to date. The texts of
// the bundle are unpacked and followed like any policy directory. At a first start, the program of a signed
// bundle is active until its texts are compiled, and is replaced when the texts compile to something else.
// INVARIANT: a bundle never takes over from another when it is damaged, not signed by the key, older than the
// active one, or does not compile. The last good bundle stays active, also over a restart, and the state says
// why.

import { mkdir, open, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isoTime } from '../../../language/value/iso-time.ts';
import { type OpenedBundle, readBundle } from '../compiled/bundle.ts';
import type { FailureCause } from '../compiler-messages.ts';
import { writeFiles } from '../policy-files.ts';
import {
  BrokenPolicies,
  openPolicies,
  type PolicyFailure,
  type PolicyHost,
  type PolicyOptions,
  type PolicyState,
} from '../policy-host.ts';
import { writeCachedSet } from '../startup-cache.ts';
import {
  type BundleLimits,
  type BundleSource,
  bundleSource,
  type FetchedBundle,
  sha256Text,
} from './bundle-source.ts';

export interface BundleSettings extends BundleLimits {
  /** An absolute path, or an http or https address. */
  readonly source: string;
  /** The public key that must have signed the bundle, 32 bytes in base64url; null accepts any bundle. */
  readonly key: string | null;
  /** Whether a bundle that was made before the active one may take over. */
  readonly isOlderAllowed: boolean;
  /** Milliseconds between two looks for a new bundle. */
  readonly pollMs: number;
}

interface BundleOptions extends BundleSettings, Omit<PolicyOptions, 'directory'> {
  /** The folder for the unpacked texts and the kept bundle; only this host writes to it. */
  readonly folder: string;
}

/**
 * Reads, compiles and follows a bundle. Rejects with BrokenPolicies when neither this bundle nor the last
 * good one can be used.
 */
export async function openBundledPolicies(options: BundleOptions): Promise<PolicyHost> {
  const followed = new BundledPolicies(options, await openUnpackedBundles(options.folder));
  await followed.start();
  return followed;
}

/** A bundle that could be read, with its bytes. */
interface Candidate {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly bundle: OpenedBundle;
}

/** A class because the active bundle and the trouble with the next one change while the service runs. */
class BundledPolicies implements PolicyHost {
  readonly #options: BundleOptions;
  readonly #unpacked: UnpackedBundles;
  readonly #source: BundleSource;
  readonly #ending = new AbortController();
  readonly #listeners: ((state: PolicyState) => void)[] = [];
  #host: PolicyHost | null = null;
  #active: Candidate | null = null;
  /** Mark of the bundle that was seen last, whether used or refused. */
  #mark: string | null = null;
  /** Why the bundle that was seen last is not used. */
  #refused: PolicyFailure | null = null;
  /** Why no bundle could be fetched. */
  #unreachable: PolicyFailure | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** The look that is under way; one look at a time. */
  #looking: Promise<void> = Promise.resolve();

  constructor(options: BundleOptions, unpacked: UnpackedBundles) {
    this.#options = options;
    this.#unpacked = unpacked;
    this.#source = bundleSource(options.source, options);
    options.signal?.addEventListener('abort', () => this.#ending.abort(), { once: true });
  }

  async start(): Promise<void> {
    const storedBundle = await this.#readKept();
    const bundle = await this.#see();
    const fresh = bundle === null ? null : await this.#accept(bundle, storedBundle);
    if (storedBundle === null && fresh !== null && this.#options.key !== null)
      await keepContents(fresh.bundle, this.#options.keptIn);
    let broken: unknown = null;
    for (const candidate of [fresh, storedBundle].filter((one) => one !== null)) {
      if (this.#host !== null) break;
      broken = await this.#open(candidate).catch((error: unknown) => error);
      if (!(broken instanceof BrokenPolicies) && broken !== undefined) throw broken;
      if (broken !== undefined && candidate === fresh)
        this.#refused = this.#failed(
          `the bundle does not compile: ${(broken as BrokenPolicies).failure.text}`,
        );
    }
    const failure = this.#unreachable ?? this.#refused;
    if (this.#host === null) {
      if (broken instanceof BrokenPolicies) throw broken;
      throw new BrokenPolicies(this.#options.source, failure ?? this.#failed('there is no bundle'));
    }
    if (failure !== null) this.#tell(failure);
    this.#host.onChange(() => this.#announce());
    this.#wait();
  }

  current(): ReturnType<PolicyHost['current']> {
    return this.#host!.current();
  }

  state(): PolicyState {
    const state = this.#host!.state();
    const failure = this.#unreachable ?? this.#refused ?? this.#hidden(state.failure);
    const status = failure === null ? state.status : 'stale';
    return { ...state, status, location: this.#options.source, directory: null, failure };
  }

  /** Hides the folder of the unpacked texts: policies cannot be fixed there. */
  #hidden(failure: PolicyFailure | null): PolicyFailure | null {
    if (failure === null) return null;
    const displayed = (text: string) => text.replaceAll(this.#unpacked.directory, '.');
    const diagnostics = failure.diagnostics.map((one) => ({ ...one, message: displayed(one.message) }));
    return { ...failure, diagnostics, text: displayed(failure.text) };
  }

  isReady(): boolean {
    return this.#host?.isReady() === true;
  }

  async reload(): Promise<void> {
    await this.poll();
    await this.#host?.reload();
  }

  onChange(listener: (state: PolicyState) => void): void {
    this.#listeners.push(listener);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer ?? undefined);
    this.#ending.abort();
    await this.#looking;
    await this.#host?.close();
  }

  /**
   * Returns null when no usable bundle is kept: none at all, one with another key, one of another release, or
   * a damaged one.
   */
  async #readKept(): Promise<Candidate | null> {
    const bytes = await this.#unpacked.readStored();
    if (bytes === null) return null;
    try {
      return await this.#read(bytes);
    } catch (error) {
      this.#options.log?.warn({ err: error }, 'the stored bundle cannot be used');
      return null;
    }
  }

  async #read(bytes: Uint8Array): Promise<Candidate> {
    return {
      bytes,
      name: sha256Text(bytes),
      bundle: await readBundle(bytes, this.#options.key ?? undefined),
    };
  }

  async #open(candidate: Candidate): Promise<void> {
    const {
      source: _place,
      key: _key,
      isOlderAllowed: _older,
      pollMs: _poll,
      bytesMax: _bytes,
      rate: _rate,
      folder: _folder,
      ...options
    } = this.#options;
    await this.#unpacked.put(candidate.name, candidate.bundle);
    this.#host = await openPolicies({ ...options, directory: this.#unpacked.directory });
    this.#active = candidate;
    await this.#unpacked.keep(candidate.bytes);
  }

  #wait(): void {
    if (this.#ending.signal.aborted) return;
    this.#timer = setTimeout(() => void this.poll().then(() => this.#wait()), this.#options.pollMs);
    this.#timer.unref();
  }

  poll(): Promise<void> {
    this.#looking = this.#looking
      .then(() => this.#lookNow())
      .catch((error: unknown) => {
        if (this.#ending.signal.aborted) return;
        // The trouble lies with this machine, not with the bundle, so the bundle is tried again.
        this.#mark = null;
        this.#refuse(
          `the bundle cannot be activated: ${error instanceof Error ? error.message : String(error)}`,
        );
      });
    return this.#looking;
  }

  async #lookNow(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    const wasUnreachable = this.#unreachable !== null;
    const bundle = await this.#see();
    if (bundle === null) {
      if (wasUnreachable && this.#unreachable === null) this.#announce();
      return;
    }
    const candidate = await this.#accept(bundle, this.#active);
    if (candidate === null) return;
    await this.#unpacked.put(candidate.name, candidate.bundle);
    this.#refused = null;
    await this.#host?.reload();
    const isTaken = this.#host?.state().failure === null;
    if (isTaken) {
      this.#active = candidate;
      await this.#unpacked.keep(candidate.bytes);
    }
    this.#announce();
  }

  /** Returns null when there is no new bundle, or when none can be fetched. */
  async #see(): Promise<FetchedBundle | null> {
    try {
      const bundle = await this.#source(this.#mark, this.#ending.signal);
      this.#unreachable = null;
      return bundle;
    } catch (error) {
      if (this.#ending.signal.aborted) return null;
      const summary = error instanceof Error ? error.message : String(error);
      if (this.#unreachable?.summary !== summary) {
        this.#unreachable = this.#failed(summary);
        this.#tell(this.#unreachable);
      }
      return null;
    }
  }

  /** Returns null, and notes the reason, for a bundle that must not replace the one before. */
  async #accept({ bytes, mark }: FetchedBundle, before: Candidate | null): Promise<Candidate | null> {
    this.#mark = mark;
    try {
      const candidate = await this.#read(bytes);
      const [madeMs, beforeMs] = [candidate.bundle.madeMs, before?.bundle.madeMs ?? 0];
      if (madeMs < beforeMs && !this.#options.isOlderAllowed)
        throw new Error(
          `the bundle was made at ${isoTime(madeMs)}, before the active one, at ${isoTime(beforeMs)}: \`bundle.allow_older\` allows that`,
        );
      return candidate;
    } catch (error) {
      this.#refuse(error instanceof Error ? error.message : String(error));
      return null;
    }
  }

  #refuse(summary: string): void {
    if (this.#refused?.summary === summary) return;
    this.#refused = this.#failed(summary);
    this.#tell(this.#refused);
  }

  #tell({ summary, cause }: PolicyFailure): void {
    if (this.#host === null) return;
    this.#options.log?.error(
      { cause, detail: summary },
      'the bundle is not used: the last valid one stays active',
    );
    this.#announce();
  }

  #failed(summary: string): PolicyFailure {
    const cause: FailureCause = 'bundle';
    const at = isoTime(this.#options.now?.() ?? Date.now());
    return { at, cause, summary, text: `${summary}\n`, diagnostics: [], codes: [], texts: null };
  }

  #announce(): void {
    const state = this.state();
    for (const listener of this.#listeners) listener(state);
  }
}

/**
 * Keeps the program of a signed bundle as if an earlier start had kept it, so that a first start is ready
 * before the texts are compiled. Without a signature, nothing vouches that the program means what the texts
 * say.
 */
async function keepContents({ program, facts }: OpenedBundle, keptIn: string | undefined): Promise<void> {
  if (facts === undefined || keptIn === undefined) return;
  // If the program cannot be kept, the start compiles.
  await writeCachedSet(keptIn, { program, ...facts, titles: new Map(facts.titles) }).catch(() => false);
}

// Keeps bundles on this machine: the texts of the served bundle, in a directory that a policy host follows,
// and the last active bundle, for a start that cannot reach its source. INVARIANT: the link `current` leads
// to the whole texts of one bundle at every moment.

/** The bundles under one folder that no other process writes to. */
export interface UnpackedBundles {
  /** The link that a policy host follows as its directory. */
  readonly directory: string;
  /**
   * Replaces the unpacked texts by those of this bundle. `name`: 64 hexadecimal digits, the same for the same
   * bytes.
   */
  put(name: string, bundle: OpenedBundle): Promise<void>;
  /** Keeps the bytes of the active bundle. */
  keep(bytes: Uint8Array): Promise<void>;
  /** The bytes that were kept last; null when there are none. */
  readStored(): Promise<Uint8Array | null>;
}

async function openUnpackedBundles(folder: string): Promise<UnpackedBundles> {
  const [link, sets, keptFile] = [join(folder, 'current'), join(folder, 'sets'), join(folder, 'last.writ')];
  await mkdir(sets, { recursive: true, mode: 0o700 });
  return {
    directory: link,
    put: async (name, bundle) => {
      const target = join('sets', name);
      if ((await readlink(link).catch(() => null)) === target) return;
      await unpack(join(sets, name), bundle);
      const next = `${link}.new`;
      await rm(next, { force: true });
      await symlink(target, next);
      await rename(next, link);
      for (const other of await readdir(sets))
        if (other !== name) await rm(join(sets, other), { recursive: true, force: true });
    },
    keep: async (bytes) => {
      const file = await open(`${keptFile}.new`, 'w', 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${keptFile}.new`, keptFile);
    },
    readStored: () => readFile(keptFile).catch(() => null),
  };
}

async function unpack(directory: string, { texts, commit }: OpenedBundle): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { mode: 0o700 });
  await writeFiles(directory, texts);
  if (commit === null) return;
  // A policy host reads the commit from `.git`, as it does in every policy directory.
  await mkdir(join(directory, '.git'), { recursive: true });
  await writeFile(join(directory, '.git', 'HEAD'), `${commit}\n`);
}
