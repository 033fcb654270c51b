// The active policies where several processes serve one store: each reads a directory of its own, and a set takes over in all of
// them at one place of the chain, once all that serve have read it. Who starts meanwhile, or has read something else, decides
// by the active set, out of the store. INVARIANT: `current` is the set that the store said was active; where that has changed
// the store refuses what was decided, and this looks again.

import { setTimeout as sleep } from 'node:timers/promises';
import { createHostedFromFiles, filesOf } from './policy-files.ts';
import type { HostedPolicies, PolicyHost, PolicyLog, PolicyState } from './policy-host.ts';

/** What the processes say to each other by the store. */
export interface Agreement {
  now(): Promise<AgreementNow>;
  tell(word: Word): Promise<void>;
  activate(
    set: { readonly digest: string; readonly filesJson: string },
    activation: { readonly epoch: number; readonly atMs: number },
  ): Promise<boolean>;
  find(digest: string): Promise<{ readonly filesJson: string } | null>;
  onOtherPolicies(listener: () => Promise<boolean>): void;
}

interface AgreementNow {
  readonly epoch: number;
  readonly active: string | null;
  readonly replicas: readonly { readonly wants: string | null }[];
}

interface Word {
  /** Digest of what this process has read. */
  readonly wants: string;
  readonly isReady: boolean;
}

export interface AgreeOptions {
  readonly host: PolicyHost;
  readonly agreement: Agreement;
  readonly clock: () => number;
  readonly log: PolicyLog;
  readonly compileTimeoutMs?: number;
  readonly everyMs?: number;
}

const everyMsDefault = 250;
/** Of the first look. */
const startTriesMax = 20;

/** Resolves once the active set is known, and this process can decide by it or has said why not in the log. */
export async function agreeOnPolicies(options: AgreeOptions): Promise<PolicyHost> {
  const agreed = new AgreedPolicies(options);
  await agreed.start();
  return agreed;
}

/** A class because it holds what changes while the service runs. */
class AgreedPolicies implements PolicyHost {
  readonly #options: AgreeOptions;
  readonly #listeners: ((state: PolicyState) => void)[] = [];
  #active: HostedPolicies | null = null;
  /** What the store says; null before the first look. */
  #wanted: string | null = null;
  #told = '';
  #looking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** What kept the last look from its end; null where nothing did. */
  #trouble: string | null = null;

  constructor(options: AgreeOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { agreement, host, everyMs = everyMsDefault } = this.#options;
    agreement.onOtherPolicies(async () => {
      // A look that is under way may have been too early.
      await this.#looking;
      await this.#look();
      return this.isReady();
    });
    host.onChange(() => {
      void this.#look();
      this.#announce();
    });
    await this.#look();
    // Others may hold the database up, or fail over, just now.
    for (
      let tries = 1;
      this.#trouble !== null && this.#wanted === null && tries < startTriesMax;
      tries += 1
    ) {
      await sleep(everyMs);
      await this.#look();
    }
    // Nothing is decided before a set is active.
    if (this.#wanted === null) throw new Error(`no policy set could be made active: ${this.#trouble}`);
    this.#timer = setInterval(() => void this.#look(), everyMs).unref();
  }

  current(): HostedPolicies {
    return this.#active ?? this.#options.host.current();
  }

  /** Whether this process decides by the active set. */
  isReady(): boolean {
    return this.#active !== null && this.#active.digest === this.#wanted;
  }

  state(): PolicyState {
    const { digest, commit, loadedAt, about } = this.current();
    const read = this.#options.host.state();
    const { actions, rules } = about();
    const isRead = read.digest === digest;
    const status = isRead ? read.status : 'stale';
    return { ...read, status, digest, commit, loadedAt, actions: actions.length, rules };
  }

  onChange(listener: (state: PolicyState) => void): void {
    this.#listeners.push(listener);
  }

  async reload(): Promise<void> {
    await this.#options.host.reload();
    await this.#looking;
    await this.#look();
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#looking;
    await this.#options.host.close();
  }

  /** One at a time; never rejects. */
  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce()
      .then(() => this.#noteTrouble(null))
      .catch((error: unknown) => this.#noteTrouble(error))
      .finally(() => {
        this.#looking = null;
      });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    const { agreement, host } = this.#options;
    const read = host.current();
    await this.#tell(read.digest);
    let now = await agreement.now();
    const isWanted = now.active === null || now.replicas.every(({ wants }) => wants === read.digest);
    if (now.active !== read.digest && isWanted) {
      const set = { digest: read.digest, filesJson: filesOf(read.texts) };
      await agreement.activate(set, { epoch: now.epoch, atMs: Math.trunc(this.#options.clock()) });
      now = await agreement.now();
    }
    this.#wanted = now.active;
    if (now.active !== null && this.#active?.digest !== now.active) await this.#take(now.active, read);
    else if (read.digest === now.active && this.#active !== read) this.#active = read;
    await this.#tell(read.digest);
  }

  async #take(digest: string, read: HostedPolicies): Promise<void> {
    this.#active = read.digest === digest ? read : await this.#fromStore(digest);
    this.#options.log.info({ digest }, 'the replicas decide by this policy set from now on');
    this.#announce();
  }

  async #fromStore(digest: string): Promise<HostedPolicies> {
    const { agreement, compileTimeoutMs } = this.#options;
    const found = await agreement.find(digest);
    if (found === null) throw new Error(`the active policy set ${digest} is not in the store`);
    const hosted = await createHostedFromFiles(found.filesJson, compileTimeoutMs);
    if (hosted.digest === digest) return hosted;
    throw new Error(`the active policy set ${digest} comes out as ${hosted.digest} here`);
  }

  async #tell(wants: string): Promise<void> {
    const word = { wants, isReady: this.isReady() };
    const text = JSON.stringify(word);
    if (text === this.#told) return;
    await this.#options.agreement.tell(word);
    this.#told = text;
  }

  /** Once for as long as it lasts. */
  #noteTrouble(error: unknown): void {
    const trouble = error === null ? null : String(error);
    if (trouble !== null && trouble !== this.#trouble)
      this.#options.log.warn({ err: error }, 'the active policy set was not looked up; trying again');
    this.#trouble = trouble;
  }

  #announce(): void {
    const state = this.state();
    for (const listener of this.#listeners) listener(state);
  }
}
