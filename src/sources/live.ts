// From a policy directory to the set in force, kept up to date while the service runs. A change is read whole,
// compiled, and takes over by one assignment between two requests.
// INVARIANT: a set with an error never takes over; the last good one stays in force and the state says what is wrong.

import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Diagnostic, sortDiagnostics } from '../diagnostic/diagnostic.ts';
import { diagnosticToJson, type JsonDiagnostic, renderDiagnostics } from '../diagnostic/render.ts';
import { createFunctionCache, type FunctionCache } from '../emit/cache.ts';
import type { Linked } from '../emit/link.ts';
import type { Decision } from '../model/decision.ts';
import type { PolicySet } from '../model/policy.ts';
import type { Facts } from '../model/request.ts';
import type { TracedRule } from '../model/trace.ts';
import { compile } from '../pipeline.ts';
import { commitOf } from './commit.ts';
import { digest } from './digest.ts';
import { fingerprint, type ReadSources, readPolicies } from './read.ts';
import { type Watch, watch } from './watch.ts';

/** A policy set ready to decide. Take it once per request: all of it belongs to one state of the directory. */
export interface InForce {
  readonly decide: (facts: Facts) => Decision;
  readonly trace: (facts: Facts) => readonly TracedRule[];
  readonly set: PolicySet;
  /** SHA-256 in hexadecimal. */
  readonly digest: string;
  /** The git commit of the directory; null outside a repository. */
  readonly commit: string | null;
  /** RFC 3339, UTC. */
  readonly loadedAt: string;
}

export interface PolicyState {
  /** `stale`: what stands in the directory now is not what is in force. */
  readonly status: 'current' | 'stale';
  readonly directory: string;
  readonly digest: string;
  readonly commit: string | null;
  readonly loadedAt: string;
  readonly actions: number;
  readonly rules: number;
  readonly failure: PolicyFailure | null;
}

export interface PolicyFailure {
  /** When it was found; RFC 3339, UTC. */
  readonly at: string;
  /** As `writ check` would print it, without colours. */
  readonly text: string;
  readonly diagnostics: readonly JsonDiagnostic[];
}

export interface PolicyHost {
  current(): InForce;
  state(): PolicyState;
  /** Reads the directory again now; resolves when what stood there at the call is in force or has failed. */
  reload(): Promise<void>;
  /** Called after each change of the set in force or of the failure. */
  onChange(listener: (state: PolicyState) => void): void;
  close(): Promise<void>;
}

/** The part of a structured logger that is used here. */
export interface PolicyLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface PolicyOptions {
  readonly directory: string;
  readonly log?: PolicyLog;
}

/** The policies at start are broken: there is nothing that could decide. A class because it is thrown. */
export class BrokenPolicies extends Error {
  readonly text: string;
  readonly diagnostics: readonly JsonDiagnostic[];

  constructor(directory: string, failure: PolicyFailure) {
    super(`the policies in ${directory} cannot be used`);
    this.name = 'BrokenPolicies';
    this.text = failure.text;
    this.diagnostics = failure.diagnostics;
  }
}

/** Reads, compiles and watches a directory. Rejects with BrokenPolicies when the set there has an error. */
export async function openPolicies(options: PolicyOptions): Promise<PolicyHost> {
  const live = new LivePolicies(options);
  try {
    await live.start();
  } catch (error) {
    await live.close();
    throw error;
  }
  return live;
}

/** Events are gathered until none has come for this long, */
const quietMs = 50;
/** but not longer than this. */
const gatherMaxMs = 500;
/** A look at the marks of all files, for events that no watcher reports (network file systems, chains of links). */
const pollMs = 1_000;
/** The look takes at most this part of the time. */
const pollShare = 0.05;

/** A class because it holds what changes while the service runs: the set in force, and what is wrong with the next. */
class LivePolicies implements PolicyHost {
  readonly #directory: string;
  readonly #log: PolicyLog | null;
  readonly #cache: FunctionCache = createFunctionCache();
  readonly #listeners: ((state: PolicyState) => void)[] = [];
  #inForce: InForce | null = null;
  /** Of the content that is in force, and the list files that belong to it. */
  #loaded: { readonly hash: string; readonly listFiles: readonly string[] } = { hash: '', listFiles: [] };
  #failure: PolicyFailure | null = null;
  /** Content hash and marks of the last state that was looked at, and the list files that it names. */
  #seen = { hash: '', mark: '' };
  #listFiles: readonly string[] = [];
  #watch: Watch | null = null;
  #watchedRoot: string | null = null;
  #gatherTimer: NodeJS.Timeout | null = null;
  #gatherSince = 0;
  #pollTimer: NodeJS.Timeout | null = null;
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor({ directory, log }: PolicyOptions) {
    this.#directory = resolve(directory);
    this.#log = log ?? null;
  }

  async start(): Promise<void> {
    await this.#rewatch();
    await this.reload();
    if (this.#inForce === null) throw new BrokenPolicies(this.#directory, this.#failure!);
    this.#schedulePoll(pollMs);
  }

  current(): InForce {
    return this.#inForce!;
  }

  state(): PolicyState {
    const { set, digest, commit, loadedAt } = this.current();
    return {
      status: this.#failure === null ? 'current' : 'stale',
      directory: this.#directory,
      digest,
      commit,
      loadedAt,
      actions: set.actions.size,
      rules: set.policies.reduce((count, policy) => count + policy.rules.length, 0),
      failure: this.#failure,
    };
  }

  onChange(listener: (state: PolicyState) => void): void {
    this.#listeners.push(listener);
  }

  /** One look at a time: two that overlap could put the older of two states in force last. */
  reload(): Promise<void> {
    this.#work = this.#work.then(() => this.#look());
    return this.#work;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#gatherTimer ?? undefined);
    clearTimeout(this.#pollTimer ?? undefined);
    await this.#work.catch(() => undefined);
    await this.#watch?.close();
    this.#watch = null;
  }

  async #look(): Promise<void> {
    if (this.#isClosed) return;
    try {
      const { read, mark } = await readSettled(this.#directory, this.#listFiles);
      const hash = read.contentHash(this.#listFiles);
      const isNew = hash !== this.#seen.hash;
      this.#seen = { hash, mark };
      if (isNew) await this.#take(read);
      else await this.#refreshCommit();
      // The list files may now be others.
      this.#seen = { hash: read.contentHash(this.#listFiles), mark };
      await this.#rewatch();
    } catch (error) {
      // A mistake of ours must neither stop a service that works nor replace what works.
      if (this.#inForce === null) throw error;
      this.#fail([], { text: `internal error while loading policies: ${String(error)}\n`, diagnostics: [] });
      this.#log?.error({ err: error }, 'loading policies failed unexpectedly');
    }
  }

  async #take(read: ReadSources): Promise<void> {
    if (this.#inForce !== null && read.contentHash(this.#loaded.listFiles) === this.#loaded.hash) {
      return this.#recover();
    }
    const compiled = compile(read.sources, this.#cache);
    this.#listFiles = compiled.listFiles;
    const diagnostics = sortDiagnostics([...read.diagnostics, ...compiled.diagnostics]);
    if (read.diagnostics.length > 0 || compiled.engine === null || compiled.set === null) {
      return this.#fail(diagnostics, describe(diagnostics, read));
    }
    const next = await inForce(compiled.engine, compiled.set, this.#directory);
    this.#inForce = next;
    this.#loaded = { hash: read.contentHash(compiled.listFiles), listFiles: compiled.listFiles };
    this.#failure = null;
    this.#log?.info({ digest: next.digest, commit: next.commit }, 'policies in force');
    this.#announce();
  }

  /** The directory is again what is in force. */
  #recover(): void {
    this.#listFiles = this.#loaded.listFiles;
    if (this.#failure === null) return;
    this.#failure = null;
    this.#log?.info({ digest: this.#inForce?.digest }, 'policies are as they were: mended');
    this.#announce();
  }

  /** Committing what is in force already changes no file, but records should name the commit. */
  async #refreshCommit(): Promise<void> {
    const commit = await commitOf(this.#directory);
    if (this.#inForce === null || this.#failure !== null || commit === this.#inForce.commit) return;
    this.#inForce = { ...this.#inForce, commit };
    this.#announce();
  }

  async #hasMoved(): Promise<boolean> {
    if ((await fingerprint(this.#directory, this.#listFiles)) !== this.#seen.mark) return true;
    return this.#failure === null && (await commitOf(this.#directory)) !== this.#inForce?.commit;
  }

  #fail(diagnostics: readonly Diagnostic[], what: Omit<PolicyFailure, 'at'>): void {
    this.#failure = { at: new Date().toISOString(), ...what };
    const codes = [...new Set(diagnostics.map(({ code }) => code))];
    this.#log?.error({ codes, detail: what.text }, 'policies are broken: the last good set stays in force');
    if (this.#inForce !== null) this.#announce();
  }

  #announce(): void {
    const state = this.state();
    for (const listener of this.#listeners) listener(state);
  }

  /** Watches again when the directory is another one than before: the old watch follows the old one. */
  async #rewatch(): Promise<void> {
    const root = await rootMark(this.#directory);
    if (this.#isClosed || (this.#watch !== null && root === this.#watchedRoot)) return;
    const isChange = this.#watch !== null;
    await this.#watch?.close();
    this.#watchedRoot = root;
    this.#watch = watch(this.#directory, {
      onEvent: () => this.#gather(),
      onError: (error) => this.#log?.warn({ err: error }, 'watching policies is impaired, polling goes on'),
    });
    await this.#watch.ready;
    // What happened while nobody watched.
    if (isChange) this.#gather();
  }

  #gather(): void {
    if (this.#isClosed) return;
    const now = performance.now();
    if (this.#gatherTimer === null) this.#gatherSince = now;
    clearTimeout(this.#gatherTimer ?? undefined);
    const waitMs = Math.min(quietMs, Math.max(0, this.#gatherSince + gatherMaxMs - now));
    this.#gatherTimer = setTimeout(() => {
      this.#gatherTimer = null;
      void this.reload();
    }, waitMs);
  }

  #schedulePoll(waitMs: number): void {
    if (this.#isClosed) return;
    this.#pollTimer = setTimeout(async () => {
      const start = performance.now();
      if (await this.#hasMoved()) this.#gather();
      this.#schedulePoll(Math.max(pollMs, (performance.now() - start) / pollShare));
    }, waitMs);
    this.#pollTimer.unref();
  }
}

/** A snapshot during whose reading nothing moved, or after a while the best there is; a later event brings the rest. */
async function readSettled(
  directory: string,
  listFiles: readonly string[],
): Promise<{ read: ReadSources; mark: string }> {
  const deadline = performance.now() + gatherMaxMs;
  for (;;) {
    const before = await fingerprint(directory, listFiles);
    const read = await readPolicies(directory);
    // Read before the second mark is taken, so that it covers them.
    for (const path of listFiles) read.sources.readListFile(path);
    const mark = await fingerprint(directory, listFiles);
    if (mark === before || performance.now() > deadline) return { read, mark };
  }
}

async function inForce(engine: Linked, set: PolicySet, directory: string): Promise<InForce> {
  return {
    decide: (facts) => engine.decide(facts),
    trace: (facts) => engine.trace(facts),
    set,
    digest: digest(set),
    commit: await commitOf(directory),
    loadedAt: new Date().toISOString(),
  };
}

function describe(diagnostics: readonly Diagnostic[], read: ReadSources): Omit<PolicyFailure, 'at'> {
  return {
    text: renderDiagnostics(diagnostics, read.sourceOf, { color: false }),
    diagnostics: diagnostics.map((diagnostic) => diagnosticToJson(diagnostic, read.sourceOf)),
  };
}

async function rootMark(directory: string): Promise<string> {
  try {
    const stats = await stat(directory);
    return `${await realpath(directory)} ${stats.dev}:${stats.ino}`;
  } catch {
    return '';
  }
}
