// Runs tests again whenever a policy, test or list file has changed, one run at a time. An event only tells
// that something may have happened; changes are found by comparing the files' marks from before the run with
// the current ones.

import { realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { listDirectory, markOf } from '../service/policies/directory-listing.ts';
import { type Watch, watch } from '../service/policies/watch.ts';
import type { TestedPolicies, TestRun } from './run.ts';

export interface WatchOptions {
  /**
   * Does one run. `changed` names the files that caused it, relative to the current directory; empty for the
   * first run and for a requested one. `signal` aborts as soon as the result is of no use.
   */
  readonly run: (changed: readonly string[], signal: AbortSignal) => Promise<Pick<TestRun, 'tested'>>;
  /** Called after each run, once everything that the run depends on is watched. */
  readonly onIdle: () => void;
  /** Ends the watch. */
  readonly end: AbortSignal;
  /** Rings to start a run without a change. */
  readonly again: RunSignal;
}

/** A signal that may ring while nobody waits for it. */
export interface RunSignal {
  readonly ring: () => void;
  /** Resolves at the next ring, or at once if the bell rang since the last wait. */
  readonly wait: () => Promise<void>;
}

/**
 * Takes paths like `runTestFiles`. Resolves when the watch has ended and the current run, if any, is over.
 */
export async function watchTests(paths: readonly string[], options: WatchOptions): Promise<void> {
  const watched = new Map<string, Watch>();
  const events = createRunSignal();
  let lists: readonly string[] = [];
  let changed: readonly string[] = [];
  try {
    await watchAll(paths.map(folderOf), watched, events);
    while (!options.end.aborted) {
      const before = await marks([...watched.keys()], lists);
      const over = new AbortController();
      const change = nextChange({ before, watched, events, again: options.again, end: options.end });
      void change.then(() => over.abort());
      const { tested } = await options.run(changed, over.signal);
      lists = tested.flatMap(listPaths);
      for (const path of lists) if (!before.has(path)) before.set(path, await markAt(path));
      await watchAll([...tested.flatMap(rootsOf), ...lists.map((path) => dirname(path))], watched, events);
      if (!over.signal.aborted) options.onIdle();
      changed = await change;
    }
  } finally {
    await Promise.all([...watched.values()].map((one) => one.close()));
  }
}

export function createRunSignal(): RunSignal {
  let hasRung = false;
  let waiting: (() => void) | null = null;
  const answer = (): void => {
    if (!hasRung || waiting === null) return;
    hasRung = false;
    waiting();
    waiting = null;
  };
  return {
    ring: () => {
      hasRung = true;
      answer();
    },
    // Only the latest wait is answered: a wait that lost a race must not swallow a ring.
    wait: () =>
      new Promise((resolveWait) => {
        waiting = resolveWait;
        answer();
      }),
  };
}

/** Editors write a file in several steps, and a checkout writes many files. */
const settleMs = 80;
const endings = ['.policy', '.test.yaml'] as const;

interface ExpectedChange {
  readonly before: ReadonlyMap<string, string>;
  readonly watched: ReadonlyMap<string, Watch>;
  readonly events: RunSignal;
  readonly again: RunSignal;
  readonly end: AbortSignal;
}

/** The files that changed; empty at the end of the watch and for a requested run. */
async function nextChange({
  before,
  watched,
  events,
  again,
  end,
}: ExpectedChange): Promise<readonly string[]> {
  const ended = new Promise<'end'>((done) => {
    if (end.aborted) done('end');
    end.addEventListener('abort', () => done('end'), { once: true });
  });
  const requested = again.wait().then(() => 'again' as const);
  for (;;) {
    const event = events.wait().then(() => 'event' as const);
    const first = await Promise.race([ended, requested, event]);
    if (first !== 'event') return [];
    await pause(settleMs);
    const changed = differing(before, await marks([...watched.keys()], [...before.keys()]));
    if (changed.length > 0) return changed.map((path) => relative('', path));
  }
}

/** By absolute path, a mark that differs between states of the file. */
async function marks(folders: readonly string[], more: readonly string[]): Promise<Map<string, string>> {
  const walked = await Promise.all(
    folders.flatMap((folder) =>
      endings.map(async (ending) => ({ folder, ...(await listDirectory(folder, ending)) })),
    ),
  );
  const marked = walked.flatMap(({ folder, files }) =>
    files.map(({ path, mark }) => [join(folder, path), mark] as const),
  );
  const named = await Promise.all(more.map(async (path) => [path, await markAt(path)] as const));
  return new Map([...named, ...marked]);
}

/** Empty when the file does not exist. */
async function markAt(path: string): Promise<string> {
  const stats = await stat(path, { bigint: true }).catch(() => null);
  return stats === null ? '' : markOf(stats);
}

function differing(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): readonly string[] {
  const paths = new Set([...before.keys(), ...now.keys()]);
  return [...paths].filter((path) => (before.get(path) ?? '') !== (now.get(path) ?? '')).toSorted();
}

/** Watches each folder once, except folders inside a watched one. */
async function watchAll(
  folders: readonly string[],
  watched: Map<string, Watch>,
  events: RunSignal,
): Promise<void> {
  // Two names of one folder would report a change twice.
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => resolve(folder))));
  for (const folder of new Set(real.toSorted())) {
    if ([...watched.keys()].some((other) => folder === other || folder.startsWith(`${other}/`))) continue;
    const started = watch(folder, { onEvent: events.ring, onError: events.ring });
    watched.set(folder, started);
    await started.ready;
  }
}

function folderOf(path: string): string {
  return /\.test\.yaml$/.test(path) ? dirname(path) : path;
}

function rootsOf({ read }: TestedPolicies): readonly string[] {
  return read.root === null ? [] : [read.root];
}

function listPaths({ read, compiled }: TestedPolicies): readonly string[] {
  return read.root === null ? [] : compiled.listFiles.map((path) => join(read.root ?? '', path));
}
