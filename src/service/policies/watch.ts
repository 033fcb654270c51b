// Calls a listener whenever something at or under a directory may have changed. The parent is watched too,
// one level deep, because replacing the whole directory, or flipping a link to it, is an event of the parent
// only. INVARIANT: an event is a hint, never the truth: the listener reads the directory and compares.

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
  const parentWatch = watchFiles(dirname(path), {
    ...options,
    depth: 0,
    followSymlinks: false,
    ignored: (candidate) => resolve(candidate) !== dirname(path) && resolve(candidate) !== path,
  });
  const ready = [inside, parentWatch].map((watcher) => subscribe(watcher, listener));
  return {
    ready: Promise.all(ready).then(() => undefined),
    close: async () => {
      await Promise.all([inside.close(), parentWatch.close()]);
    },
  };
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
