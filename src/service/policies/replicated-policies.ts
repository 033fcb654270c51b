// Keeps the active policies equal in all processes that serve one store. Each process reads its own
// directory; a set takes over in all of them at one place of the chain, once every serving process has read
// it. A process that is starting, or has read another set, decides by the active set from the store.
// INVARIANT: `current` is the set that the store last named as active. When the store has another active set
// by then, it refuses the decision, and this process looks again.

import { setTimeout as sleep } from 'node:timers/promises';
import { createHostedFromFiles, filesOf } from './policy-files.ts';
import type { HostedPolicies, PolicyHost, PolicyLog, PolicyState } from './policy-host.ts';

/** What the processes tell each other through the store. */
export interface PolicyReplication {
  now(): Promise<ReplicationState>;
  tell(word: ReplicaVote): Promise<void>;
  activate(
    set: { readonly digest: string; readonly filesJson: string },
    activation: { readonly epoch: number; readonly atMs: number },
  ): Promise<boolean>;
  find(digest: string): Promise<{ readonly filesJson: string } | null>;
  onOtherPolicies(listener: () => Promise<boolean>): void;
}

interface ReplicationState {
  readonly epoch: number;
  readonly active: string | null;
  readonly replicas: readonly { readonly wants: string | null }[];
}

interface ReplicaVote {
  /** Digest of the set that this process has read from its own directory. */
  readonly wants: string;
  readonly isReady: boolean;
}

export interface ReplicatedPolicyOptions {
  readonly host: PolicyHost;
  readonly agreement: PolicyReplication;
  readonly clock: () => number;
  readonly log: PolicyLog;
  readonly compileTimeoutMs?: number;
  readonly everyMs?: number;
}

const everyMsDefault = 250;
/** How many times the first look is tried before the start fails. */
const startTriesMax = 20;

/**
 * Resolves once the active set is known. By then this process decides by that set, or the log says why it
 * cannot.
 */
export async function openReplicatedPolicies(options: ReplicatedPolicyOptions): Promise<PolicyHost> {
  const agreed = new ReplicatedPolicies(options);
  await agreed.start();
  return agreed;
}

/** A class because it holds what changes while the service runs. */
class ReplicatedPolicies implements PolicyHost {
  readonly #options: ReplicatedPolicyOptions;
  readonly #listeners: ((state: PolicyState) => void)[] = [];
  #active: HostedPolicies | null = null;
  /** Digest of the set that the store names as active; null before the first look. */
  #wanted: string | null = null;
  reported = '';
  #looking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** The error that stopped the last look; null when the look succeeded. */
  #trouble: string | null = null;

  constructor(options: ReplicatedPolicyOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { agreement, host, everyMs = everyMsDefault } = this.#options;
    agreement.onOtherPolicies(async () => {
      // A look that is under way may have begun too early.
      await this.#looking;
      await this.poll();
      return this.isReady();
    });
    host.onChange(() => {
      void this.poll();
      this.#announce();
    });
    await this.poll();
    // Other processes may block the database for a moment, or the database may be failing over.
    for (
      let tries = 1;
      this.#trouble !== null && this.#wanted === null && tries < startTriesMax;
      tries += 1
    ) {
      await sleep(everyMs);
      await this.poll();
    }
    // Nothing may be decided before a set is active.
    if (this.#wanted === null) throw new Error(`no policy set could be made active: ${this.#trouble}`);
    this.#timer = setInterval(() => void this.poll(), everyMs).unref();
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
    await this.poll();
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#looking;
    await this.#options.host.close();
  }

  /** Looks at the store, one look at a time; never rejects. */
  poll(): Promise<void> {
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
    this.#options.log.info({ digest }, 'the replicas use this policy set from now on');
    this.#announce();
  }

  async #fromStore(digest: string): Promise<HostedPolicies> {
    const { agreement, compileTimeoutMs } = this.#options;
    const agreed = await agreement.find(digest);
    if (agreed === null) throw new Error(`the active policy set ${digest} is not in the store`);
    const hosted = await createHostedFromFiles(agreed.filesJson, compileTimeoutMs);
    if (hosted.digest === digest) return hosted;
    throw new Error(`the active policy set ${digest} comes out as ${hosted.digest} here`);
  }

  async #tell(wants: string): Promise<void> {
    const word = { wants, isReady: this.isReady() };
    const text = JSON.stringify(word);
    if (text === this.reported) return;
    await this.#options.agreement.tell(word);
    this.reported = text;
  }

  /** Logs each trouble once, for as long as it lasts. */
  #noteTrouble(error: unknown): void {
    const trouble = error === null ? null : String(error);
    if (trouble !== null && trouble !== this.#trouble)
      this.#options.log.warn({ err: error }, 'could not read the active policy set; retrying');
    this.#trouble = trouble;
  }

  #announce(): void {
    const state = this.state();
    for (const listener of this.#listeners) listener(state);
  }
}
