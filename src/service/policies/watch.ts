// Calls a listener whenever something at or under a directory may have changed. The parent is watched too,
// because replacing the whole directory, or flipping a link to it, is an event of the parent only. What else
// happens in the parent, where the records may be, costs nearly nothing. INVARIANT: an event is a hint, never the
// truth: the listener reads the directory and compares.

import { watch as watchEntries } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { type FSWatcher, watch as watchFiles } from 'chokidar';

export interface Watch {
  /** Resolves once changes are seen, or after a second at the latest; never rejects. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

export interface WatchListener {
  onEvent(): void;
  /** Watching is impaired (for example by too many watches); the caller's own polling goes on. */
  onError(error: unknown): void;
}

export function watch(directory: string, listener: WatchListener): Watch {
  const path = resolve(directory);
  const options = { ignoreInitial: true, atomic: false, persistent: true } as const;
  const inside = watchFiles(path, { ...options, ignored: isIgnored });
  const closeParent = watchParent(path, listener);
  return {
    ready: subscribe(inside, listener),
    async close() {
      closeParent();
      await inside.close();
    },
  };
}

function watchParent(path: string, listener: WatchListener): () => void {
  try {
    const parent = watchEntries(dirname(path), (_event, name) => {
      // Some systems do not tell what has changed.
      if (name === null || name === basename(path)) listener.onEvent();
    });
    parent.on('error', (error) => listener.onError(error));
    return () => parent.close();
  } catch (error) {
    listener.onError(error);
    return () => undefined;
  }
}

/** A place that cannot be watched never becomes ready, so waiting ends after this many milliseconds. */
const readyWithinMs = 1_000;

function subscribe(watcher: FSWatcher, listener: WatchListener): Promise<void> {
  watcher.on('all', () => listener.onEvent());
  watcher.on('error', (error) => listener.onError(error));
  return new Promise((resolveReady) => {
    const timer = setTimeout(resolveReady, readyWithinMs);
    watcher.on('ready', () => {
      clearTimeout(timer);
      resolveReady();
    });
  });
}

/**
 * Links that begin with a dot, such as the `..data` of a ConfigMap, do matter, so only these two names are
 * ignored.
 */
function isIgnored(path: string): boolean {
  const name = basename(path);
  return name === 'node_modules' || name === '.git';
}
