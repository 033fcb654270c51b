// Follows a policy directory and calls a listener for each state in which the directory comes to rest. Events
// say that something may have happened. A regular check finds what no watcher reports (network file systems,
// chains of links). A state is read only when it has settled. INVARIANT: one check at a time, so what is
// reported later was there later.

import { realpath, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { FileStabilityTracker, shortWaitMs } from './file-stability.ts';
import { createReadCache } from './read-cache.ts';
import { type DirectoryMark, type ReadSources, readPolicies, scanDirectory } from './read-policies.ts';
import { bytesOfText } from './text-bytes.ts';
import { type Watch, watch } from './watch.ts';

/** A state of the directory in which nothing changed while it was read. */
export interface Snapshot {
  readonly read: ReadSources;
  readonly mark: DirectoryMark;
}

export interface FollowListener {
  /** Work that does not wait for anything begins or ends. */
  onWork(isBusy: boolean): void;
  /**
   * The directory rests, for the first time or after a change, or a check was asked for. Returns the snapshot
   * that the listener used in the end.
   */
  onRest(snapshot: Snapshot, isAsked: boolean): Promise<Snapshot>;
  /** A regular check found that nothing in the directory has changed. */
  onNothingNew(): Promise<void>;
  /** Every check that was asked for before this check began is done. */
  onAnswer(tickets: readonly number[]): void;
  /** The directory has kept changing for longer than `unsettledWarningMs`. */
  onUnsettled(): void;
  /** Watching is impaired; the regular check goes on. */
  onImpaired(error: unknown): void;
}

const lineFeed = 0x0a;
/** Milliseconds between two checks when there is no event. */
const pollMs = 1_000;
/** Looks without an event take at most this share of the time; if they would take more, they become rarer. */
const pollShare = 0.05;
/** Milliseconds after which a directory that keeps changing is reported. */
export const unsettledWarningMs = 10_000;

/** A class because it lives as long as the service and holds what was seen last. */
export class Follower {
  readonly #directory: string;
  readonly #listener: FollowListener;
  readonly #settling = new FileStabilityTracker();
  readonly #cache = createReadCache();
  #listFiles: readonly string[];
  /** Mark of the state that was reported last; null when the next state must be reported, whatever it is. */
  #reportedMark: string | null = null;
  #watch: Watch | null = null;
  #watchedRoot: string | null = null;
  #tickets: number[] = [];
  #wake: (() => void) | null = null;
  /** Whether an event, a poll that is due or a request came since the last check began. */
  #isDue = true;

  constructor(directory: string, listFiles: readonly string[], listener: FollowListener) {
    this.#directory = directory;
    this.#listFiles = listFiles;
    this.#listener = listener;
  }

  /** Follows for ever. Rejects only when a listener rejects. */
  async run(): Promise<never> {
    for (;;) {
      const started = performance.now();
      this.#isDue = false;
      await this.#checkDirectory();
      // The check comes before the watch, because watching a large directory takes time to set up.
      await this.#rewatch();
      const tookMs = performance.now() - started;
      await this.#sleep(Math.max(pollMs, tookMs / pollShare));
    }
  }

  /** Asks for a check that is reported whatever it finds; the ticket is answered when the check is done. */
  ask(ticket: number): void {
    this.#tickets.push(ticket);
    this.#rouse();
  }

  /**
   * Sets the list files that belong to the directory. States that are read afterwards have rested together
   * with these files.
   */
  follow(listFiles: readonly string[]): void {
    this.#listFiles = listFiles;
  }

  noteActive({ mark }: Snapshot): void {
    this.#settling.noteActive(mark.places);
  }

  /** Waits until the directory rests, and reads it. */
  async rest(): Promise<Snapshot> {
    const since = performance.now();
    let isReported = false;
    for (;;) {
      let remainingMs = this.#settling.quietMs(performance.now());
      if (remainingMs <= 0) {
        this.#listener.onWork(true);
        const outcome = await this.#tryToRead();
        if (typeof outcome !== 'number') return outcome;
        remainingMs = outcome;
        this.#listener.onWork(false);
      }
      if (!isReported && performance.now() - since > unsettledWarningMs) {
        isReported = true;
        this.#listener.onUnsettled();
        this.#answer();
      }
      await pause(Math.max(remainingMs, 10));
    }
  }

  async #checkDirectory(): Promise<void> {
    this.#listener.onWork(true);
    if (this.#tickets.length === 0 && !(await this.#hasMoved())) {
      await this.#listener.onNothingNew();
      return this.#listener.onWork(false);
    }
    if (this.#tickets.length > 0) this.#cache.distrust();
    const snapshot = await this.rest();
    const tickets = this.#tickets;
    this.#tickets = [];
    const { read, mark: taken } = await this.#listener.onRest(snapshot, tickets.length > 0);
    // An unreadable file may become readable without a trace, so the state is reported again.
    this.#reportedMark = read.diagnostics.length === 0 ? taken.mark : null;
    if (tickets.length > 0) this.#listener.onAnswer(tickets);
    this.#listener.onWork(false);
  }

  /** Answers callers that wait, because no better answer is in sight. */
  #answer(): void {
    if (this.#tickets.length > 0) this.#listener.onAnswer(this.#tickets);
    this.#tickets = [];
  }

  async #hasMoved(): Promise<boolean> {
    return (await scanDirectory(this.#directory, this.#listFiles)).mark !== this.#reportedMark;
  }

  /**
   * Returns a state in which nothing changed during the reading and every file has rested, or else the
   * milliseconds to wait.
   */
  async #tryToRead(): Promise<Snapshot | number> {
    const before = await scanDirectory(this.#directory, this.#listFiles);
    this.#settling.noteScan(before.places, performance.now());
    const remainingMs = this.#settling.remainingMs(performance.now());
    if (remainingMs > 0) return remainingMs;
    const read = await readPolicies(this.#directory, this.#cache);
    // List files are read before the second check, so that the check covers them.
    const lists = this.#listFiles.map((path) => ({ path, ...read.sources.readListFile(path) }));
    const after = await scanDirectory(this.#directory, this.#listFiles);
    if (after.mark !== before.mark) return shortWaitMs;
    const unended = [...read.sources.files, ...lists].filter(
      (one) => 'text' in one && bytesOfText(one).at(-1) !== lineFeed,
    );
    const stillMissingMs = this.#settling.remainingForMs(
      unended.map(({ path }) => path),
      performance.now(),
    );
    return stillMissingMs > 0 ? stillMissingMs : { read, mark: after };
  }

  /** Watches again when the directory has been replaced: the old watch follows the old directory. */
  async #rewatch(): Promise<void> {
    const root = await rootMark(this.#directory);
    if (this.#watch !== null && root === this.#watchedRoot) return;
    await this.#watch?.close();
    this.#watchedRoot = root;
    this.#watch = watch(this.#directory, {
      onEvent: () => {
        this.#settling.noteEvent(performance.now());
        this.#rouse();
      },
      onError: (error) => this.#listener.onImpaired(error),
    });
    await this.#watch.ready;
    // Changes may have happened before the watch was ready.
    this.#isDue = true;
  }

  #rouse(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  async #sleep(milliseconds: number): Promise<void> {
    if (this.#isDue) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
  }
}

async function rootMark(directory: string): Promise<string> {
  try {
    const stats = await stat(directory);
    return `${await realpath(directory)} ${stats.dev}:${stats.ino}`;
  } catch {
    return '';
  }
}
