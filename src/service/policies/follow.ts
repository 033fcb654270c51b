// From a policy directory to a call for each state in which it comes to rest: events say that something may have
// happened, a regular look finds what no watcher reports (network file systems, chains of links), and a state is read
// only when it has settled. INVARIANT: one look at a time, so what is reported later was there later.

import { realpath, stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { type Look, look, type ReadSources, readPolicies } from './read.ts';
import { createReadCache } from './read-cache.ts';
import { quickMs, Settling } from './settle.ts';
import { bytesOfText } from './text-bytes.ts';
import { type Watch, watch } from './watch.ts';

/** A state of the directory in which nothing moved while it was read. */
export interface Snapshot {
  readonly read: ReadSources;
  readonly look: Look;
}

export interface FollowListener {
  /** Work that does not wait for anything begins or ends. */
  onWork(isBusy: boolean): void;
  /** The directory rests, for the first time or after a change, or a look was asked for. Returns what it took at last. */
  onRest(snapshot: Snapshot, isAsked: boolean): Promise<Snapshot>;
  /** A regular look, at a directory that has not moved. */
  onNothingNew(): Promise<void>;
  /** All that was asked for until the look began is done. */
  onAnswer(tickets: readonly number[]): void;
  /** It has been changing for so long that this should be known. */
  onUnrest(): void;
  /** Watching is impaired; the regular look goes on. */
  onImpaired(error: unknown): void;
}

const lineFeed = 0x0a;
/** How often a look is taken without an event. */
const pollMs = 1_000;
/** Looks without an event take at most this part of the time; where they would, they are rarer. */
const pollShare = 0.05;
/** After how long a directory that does not come to rest is reported. */
export const patienceMs = 10_000;

/** A class because it lives as long as the service and holds what was seen last. */
export class Follower {
  readonly #directory: string;
  readonly #listener: FollowListener;
  readonly #settling = new Settling();
  readonly #cache = createReadCache();
  #listFiles: readonly string[];
  /** Of the last state that was reported; null when it must be reported whatever it is. */
  #reportedMark: string | null = null;
  #watch: Watch | null = null;
  #watchedRoot: string | null = null;
  #tickets: number[] = [];
  #wake: (() => void) | null = null;
  /** An event, a poll that is due or a request came since the last look began. */
  #isDue = true;

  constructor(directory: string, listFiles: readonly string[], listener: FollowListener) {
    this.#directory = directory;
    this.#listFiles = listFiles;
    this.#listener = listener;
  }

  /** Follows for ever. Rejects only where a listener does. */
  async run(): Promise<never> {
    for (;;) {
      const started = performance.now();
      this.#isDue = false;
      await this.#look();
      // What is there comes first; the watch takes its time over a large directory.
      await this.#rewatch();
      const tookMs = performance.now() - started;
      await this.#sleep(Math.max(pollMs, tookMs / pollShare));
    }
  }

  /** A look that is reported whatever it finds, and answered with the ticket. */
  ask(ticket: number): void {
    this.#tickets.push(ticket);
    this.#rouse();
  }

  /** These files belong to the directory from now on; a state that is read from now on has rested with them. */
  follow(listFiles: readonly string[]): void {
    this.#listFiles = listFiles;
  }

  noteActive({ look }: Snapshot): void {
    this.#settling.noteActive(look.places);
  }

  /** Waits until the directory rests, and reads it. */
  async rest(): Promise<Snapshot> {
    const since = performance.now();
    let isPatient = true;
    for (;;) {
      let missingMs = this.#settling.quietMs(performance.now());
      if (missingMs <= 0) {
        this.#listener.onWork(true);
        const found = await this.#tryToRead();
        if (typeof found !== 'number') return found;
        missingMs = found;
        this.#listener.onWork(false);
      }
      if (isPatient && performance.now() - since > patienceMs) {
        isPatient = false;
        this.#listener.onUnrest();
        this.#answer();
      }
      await pause(Math.max(missingMs, 10));
    }
  }

  async #look(): Promise<void> {
    this.#listener.onWork(true);
    if (this.#tickets.length === 0 && !(await this.#hasMoved())) {
      await this.#listener.onNothingNew();
      return this.#listener.onWork(false);
    }
    if (this.#tickets.length > 0) this.#cache.distrust();
    const snapshot = await this.rest();
    const asked = this.#tickets;
    this.#tickets = [];
    const { read, look: taken } = await this.#listener.onRest(snapshot, asked.length > 0);
    // A file that could not be read may become readable without a trace.
    this.#reportedMark = read.diagnostics.length === 0 ? taken.mark : null;
    if (asked.length > 0) this.#listener.onAnswer(asked);
    this.#listener.onWork(false);
  }

  /** There is nothing better to say to those who wait. */
  #answer(): void {
    if (this.#tickets.length > 0) this.#listener.onAnswer(this.#tickets);
    this.#tickets = [];
  }

  async #hasMoved(): Promise<boolean> {
    return (await look(this.#directory, this.#listFiles)).mark !== this.#reportedMark;
  }

  /** A state during whose reading nothing moved and of which all has rested, or for how long to wait. */
  async #tryToRead(): Promise<Snapshot | number> {
    const before = await look(this.#directory, this.#listFiles);
    this.#settling.noteLook(before.places, performance.now());
    const missingMs = this.#settling.missingMs(performance.now());
    if (missingMs > 0) return missingMs;
    const read = await readPolicies(this.#directory, this.#cache);
    // Read before the second look, so that it covers them.
    const lists = this.#listFiles.map((path) => ({ path, ...read.sources.readListFile(path) }));
    const after = await look(this.#directory, this.#listFiles);
    if (after.mark !== before.mark) return quickMs;
    const unended = [...read.sources.files, ...lists].filter(
      (one) => 'text' in one && bytesOfText(one).at(-1) !== lineFeed,
    );
    const stillMissingMs = this.#settling.missingForMs(
      unended.map(({ path }) => path),
      performance.now(),
    );
    return stillMissingMs > 0 ? stillMissingMs : { read, look: after };
  }

  /** Watches again when the directory is another one than before: the old watch follows the old one. */
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
    // What happened while nobody watched.
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
