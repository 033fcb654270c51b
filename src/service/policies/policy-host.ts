// Turns a policy directory into the active policies and keeps them up to date while the service runs. A
// thread of its own reads and compiles. A finished set takes over by one assignment between two requests.
// INVARIANT: a set that has an error, or is not whole, never takes over; the last good set stays active and
// the state says what is wrong.

import { totalmem } from 'node:os';
import { resolve } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import { createFunctionCache, type FunctionCache } from '../../language/emit/cache.ts';
import { type LinkedFunctions, link } from '../../language/emit/link.ts';
import type { ActivePolicies } from '../../language/model/active-policies.ts';
import { type ChatLimits, chatLimitsOf } from '../../language/model/approvers.ts';
import { withLastingMeters } from '../../language/model/lasting-meters.ts';
import type { RuleRequirement } from '../../language/model/rule-requirement.ts';
import { unpack } from '../../language/program/packed/unpack.ts';
import { finishFileChange } from './change-files.ts';
import type { SetContent } from './compiled/bundle.ts';
import { Compiler, type CompilerEvent, type CompilerExit } from './compiler.ts';
import type { CompiledSet, CompileFailure } from './compiler-messages.ts';
import type { ThreadLimits } from './limited-thread.ts';
import type { SetSummary } from './set-summary.ts';
import type { SetTexts } from './texts.ts';

/**
 * The active policies with what people ask about them. Taken once per request, so that all of it belongs to
 * one state of the directory.
 */
export interface HostedPolicies extends ActivePolicies {
  readonly about: () => SetSummary;
  /** The texts that the set was made from. */
  readonly texts: SetTexts;
  /** When the set became active; RFC 3339, UTC. */
  readonly loadedAt: string;
}

export interface PolicyState {
  /** `stale`: the policies now at the place are not the active ones. */
  readonly status: 'current' | 'stale';
  /** Where the policies come from: a directory, or a bundle in a file or at an address. */
  readonly location: string;
  /** The directory in which people may change the policies; null when the policies come from a bundle. */
  readonly directory: string | null;
  readonly digest: string;
  readonly commit: string | null;
  readonly loadedAt: string;
  readonly actions: number;
  readonly rules: number;
  readonly failure: PolicyFailure | null;
}

export interface PolicyFailure extends CompileFailure {
  /** When the failure was found; RFC 3339, UTC. */
  readonly at: string;
}

export interface PolicyHost {
  current(): HostedPolicies;
  state(): PolicyState;
  /** Whether requests can be decided by the active set. */
  isReady(): boolean;
  /**
   * Reads the directory again now. Resolves when the state at the time of the call is active or has failed.
   */
  reload(): Promise<void>;
  /** Calls the listener after each change of the active policies or of the failure. */
  onChange(listener: (state: PolicyState) => void): void;
  close(): Promise<void>;
}

/** The part of a structured logger that a policy host uses. */
export interface PolicyLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface PolicyOptions extends Partial<ThreadLimits> {
  readonly directory: string;
  /**
   * A file of this host alone that keeps the active policies, so that the next start is faster; by default
   * none.
   */
  readonly keptIn?: string;
  readonly log?: PolicyLog;
  /** The service's clock; `Date.now` by default. */
  readonly now?: () => number;
  /** Ends a start that is under way. */
  readonly signal?: AbortSignal;
  /** Another file for the compiler's thread to start with; tests use it to make the thread fail. */
  readonly compilerScript?: URL;
}

/** Thrown when no set is active and the one at the place cannot be used. */
export class BrokenPolicies extends Error {
  readonly failure: PolicyFailure;

  constructor(directory: string, failure: PolicyFailure) {
    const why = failure.cause === 'policies' ? '' : `: ${failure.summary}`;
    super(`the policies in ${directory} cannot be used${why}`);
    this.name = 'BrokenPolicies';
    this.failure = failure;
  }

  /** What `writ check` would print; empty when no policy is at fault. */
  get text(): string {
    return this.failure.cause === 'policies' ? this.failure.text : '';
  }

  get diagnostics(): PolicyFailure['diagnostics'] {
    return this.failure.diagnostics;
  }
}

/** Reads, compiles and watches a directory. Rejects with BrokenPolicies when the set there cannot be used. */
export async function openPolicies(options: PolicyOptions): Promise<PolicyHost> {
  const live = new LivePolicies(options);
  const stop = (): void => void live.close();
  options.signal?.addEventListener('abort', stop, { once: true });
  try {
    await live.start();
    options.signal?.throwIfAborted();
  } catch (error) {
    await live.close();
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', stop);
  }
  return live;
}

const compileTimeoutMsDefault = 60_000;
/**
 * The compiler may use half of the machine's memory, up to this limit: a hundred thousand policies take about
 * 4 GB.
 */
const memoryMegabytesMax = 8_192;

function memoryMegabytesDefault(): number {
  // In a container, the container's memory counts.
  const constrained = process.constrainedMemory();
  const bytes = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.min(memoryMegabytesMax, Math.floor(bytes / 2 / 1024 ** 2));
}

/** Milliseconds before a thread that stopped unexpectedly is started again; doubled each further time. */
const restartMs = 1_000;
/** The longest wait before a restart, in milliseconds. */
const restartMaxMs = 60_000;

/** A class because the active policies and the trouble with the next set change while the service runs. */
class LivePolicies implements PolicyHost {
  readonly #directory: string;
  readonly #options: PolicyOptions;
  readonly #log: PolicyLog | null;
  readonly #cache: FunctionCache = createFunctionCache();
  readonly #listeners: ((state: PolicyState) => void)[] = [];
  #active: (HostedPolicies & { readonly counts: Counts }) | null = null;
  /** Content that the active policies were made from. */
  #content: SetContent | null = null;
  #failure: PolicyFailure | null = null;
  #compiler: Compiler | null = null;
  #avoided: SetContent | null = null;
  #restartTimer: NodeJS.Timeout | null = null;
  #restartMs = restartMs;
  /** Called when the start has led to a set or to a failure. */
  #onStarted: () => void = () => undefined;
  /** Handles messages of the thread in their order, one at a time. */
  #work: Promise<void> = Promise.resolve();
  /** The latest set from the thread: earlier sets that are still waiting are left out. */
  #newest: CompiledSet | null = null;
  #isClosed = false;

  constructor(options: PolicyOptions) {
    this.#options = options;
    this.#directory = resolve(options.directory);
    this.#log = options.log ?? null;
  }

  async start(): Promise<void> {
    await this.#finishChange();
    // The start may have been ended meanwhile.
    if (this.#isClosed) return;
    await new Promise<void>((started) => {
      this.#onStarted = started;
      this.#startCompiler();
    });
    if (this.#active === null && this.#failure !== null)
      throw new BrokenPolicies(this.#directory, this.#failure);
  }

  /** Finishes a change of files that an earlier process began; what cannot be finished is no policy set. */
  async #finishChange(): Promise<void> {
    try {
      await finishFileChange(this.#directory);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      this.#log?.error({ detail }, 'could not finish a change of the policy files');
    }
  }

  current(): HostedPolicies {
    return this.#active!;
  }

  state(): PolicyState {
    const { counts, digest, commit, loadedAt } = this.#active!;
    const failure = this.#failure;
    const status = failure === null ? 'current' : 'stale';
    const directory = this.#directory;
    return { status, location: directory, directory, digest, commit, loadedAt, ...counts, failure };
  }

  isReady(): boolean {
    return this.#active !== null;
  }

  onChange(listener: (state: PolicyState) => void): void {
    this.#listeners.push(listener);
  }

  async reload(): Promise<void> {
    await this.#work;
    this.#startCompiler();
    await this.#compiler?.readDirectory();
    await this.#work;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restartTimer ?? undefined);
    await this.#compiler?.end();
    this.#compiler = null;
    this.#onStarted();
  }

  #startCompiler(): void {
    clearTimeout(this.#restartTimer ?? undefined);
    if (this.#isClosed || this.#compiler !== null) return;
    const { timeoutMs = compileTimeoutMsDefault, memoryMegabytes = memoryMegabytesDefault() } = this.#options;
    const script = this.#options.compilerScript ?? new URL('./compiler-thread.ts', import.meta.url);
    const { keptIn = null } = this.#options;
    const data = { directory: this.#directory, active: this.#content, avoided: this.#avoided, keptIn };
    this.#compiler = new Compiler(
      { data, script, timeoutMs, memoryMegabytes },
      {
        onEvent: (event) => {
          if (event.kind === 'compiled') this.#newest = event.set;
          this.#queue(() => this.#handle(event));
        },
        onExit: (exit) => {
          this.#compiler = null;
          this.#queue(() => this.#replaceCompiler(exit));
        },
      },
    );
  }

  #queue(work: () => Promise<void> | void): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#log?.error({ err: error }, 'a change of the policies was not applied');
    });
  }

  #handle(event: CompilerEvent): Promise<void> | void {
    switch (event.kind) {
      case 'compiled':
        return this.#take(event.set);
      case 'failed':
        return this.#fail(event.failure);
      case 'same':
        return this.#recover(event.commit);
      case 'impaired':
        this.#log?.warn({ detail: event.text }, 'cannot watch the policies; still polling the directory');
        return;
      case 'not-read':
        this.#log?.warn({ paths: event.paths }, 'files named like policy files are not read');
        return;
    }
  }

  /** Makes a set ready and active; until then requests are decided by the set before. */
  async #take(set: CompiledSet): Promise<void> {
    if (this.#newest !== set) return;
    let next: ReturnType<typeof activate>;
    try {
      const engine = link(unpack(set.program), this.#cache);
      for (const steps = engine.prepare(); !takeSteps(steps); await pause()) if (this.#isClosed) return;
      next = activate(set, engine, this.#time());
    } catch (error) {
      // A fault of Writ itself must neither stop a working service nor replace a working set.
      void this.#compiler?.end();
      this.#compiler = null;
      return this.#replaceCompiler({
        summary: 'could not link the compiled policies',
        compiling: set.content,
        error,
      });
    }
    this.#active = next;
    this.#content = set.content;
    this.#failure = null;
    this.#avoided = null;
    this.#restartMs = restartMs;
    this.#log?.info({ digest: next.digest, commit: next.commit }, 'policies active');
    this.#announce();
  }

  /** Notes that the directory holds the active set, again or under another commit. */
  #recover(commit: string | null): void {
    if (this.#active === null || (this.#failure === null && commit === this.#active.commit)) return;
    if (this.#failure !== null)
      this.#log?.info({ digest: this.#active.digest }, 'the directory contains the active policies again');
    this.#failure = null;
    if (commit !== this.#active.commit) this.#active = { ...this.#active, commit };
    this.#announce();
  }

  #fail(failure: CompileFailure): void {
    this.#failure = { at: this.#time(), ...failure };
    const { cause, codes, text } = failure;
    this.#log?.error(
      { cause, codes, detail: text },
      'the policies cannot be activated: the last valid set stays active',
    );
    this.#announce();
  }

  /**
   * Starts another thread that follows the directory and does not compile the content that ended this thread.
   */
  #replaceCompiler({ summary, compiling, error }: CompilerExit): void {
    this.#avoided = compiling ?? this.#avoided;
    this.#log?.error({ err: error }, summary);
    this.#fail({ cause: 'compiler', summary, text: `${summary}\n`, diagnostics: [], codes: [], texts: null });
    if (this.#isClosed || this.#active === null) return;
    const waitMs = compiling === null ? this.#restartMs : 0;
    if (compiling === null) this.#restartMs = Math.min(this.#restartMs * 2, restartMaxMs);
    this.#restartTimer = setTimeout(() => this.#startCompiler(), waitMs);
  }

  #time(): string {
    return new Date(this.#options.now?.() ?? Date.now()).toISOString();
  }

  #announce(): void {
    this.#onStarted();
    if (this.#active === null) return;
    const state = this.state();
    for (const listener of this.#listeners) listener(state);
  }
}

type Counts = Pick<PolicyState, 'actions' | 'rules'>;

/** Milliseconds of linking between two pauses: requests wait for this long, and one step. */
const sliceMs = 1;

/** Returns whether all steps are done. */
function takeSteps(steps: Iterator<void>): boolean {
  const end = performance.now() + sliceMs;
  while (performance.now() < end) if (steps.next().done === true) return true;
  return false;
}

function activate(
  set: CompiledSet,
  engine: LinkedFunctions,
  loadedAt: string,
): HostedPolicies & { readonly counts: Counts } {
  const { digest, commit, actions, rules, texts, titles } = set;
  let summary: SetSummary | null = null;
  let asks: ReadonlyMap<string, RuleRequirement> | null = null;
  let chatLimits: ChatLimits | null = null;
  const about = (): SetSummary => {
    summary ??= JSON.parse(new TextDecoder().decode(set.about)) as SetSummary;
    return summary;
  };
  const asksOf = (): ReadonlyMap<string, RuleRequirement> => {
    asks ??= new Map(about().asks.map((requirement) => [requirement.rule, requirement]));
    return asks;
  };
  const chatLimitsHere = (): ChatLimits => {
    chatLimits ??= chatLimitsOf(about().approvers);
    return chatLimits;
  };
  const metered = withLastingMeters(engine, asksOf);
  return {
    ...engine,
    texts,
    about,
    asks: asksOf,
    chatLimits: chatLimitsHere,
    get meters() {
      return metered.meters;
    },
    entriesRecorded: metered.entriesRecorded,
    titleOf: (action) => titles.get(action) ?? null,
    digest,
    commit,
    counts: { actions, rules },
    loadedAt,
  };
}
