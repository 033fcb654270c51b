// Keeps compiled functions and prepared lists from one policy set to the next, so that a reload compiles only
// what has changed. INVARIANT: each action part and each list of the newest set has at most one entry, and an
// entry is used only when everything that it was made from has the same content hash. Shared texts are
// identified by their key alone; they are dropped when sets no longer use them.

import type { List } from '../model/policy.ts';
import type { OpenAction, OpenProgram } from '../program/packed/unpack.ts';
import type { Lists } from './code/writer.ts';
import { type Run, runText } from './run.ts';
import { foldedEntries, type PreparedList, prepareList } from './runtime/membership.ts';

export interface FunctionCache {
  /**
   * Begins to serve a program. Entries for actions and lists that the program does not declare are dropped;
   * sessions of earlier programs only read the cache from then on.
   */
  begin(program: OpenProgram): CacheSession;
  /** The number of functions, lists and shared values that are kept. */
  readonly size: number;
}

/** One linked program's view of the cache. */
export interface CacheSession {
  /** Runs generated text and returns its result. */
  readonly run: Run;
  readonly lists: Lists;
  /**
   * Returns the value that was made earlier for this part of an action with equal content, or makes a new
   * value.
   */
  reuse<T>(part: CachedPart, make: () => T): T;
  /**
   * Returns the value with this key, and makes it at its first use. The key must name everything that the
   * value is made from.
   */
  shared<T>(key: string, make: () => T): T;
}

/** The part of an action from which a cached value is made. */
interface CachedPart {
  readonly action: OpenAction;
  readonly part: 'rules' | 'subjects';
}

interface Entry {
  readonly action: string;
  readonly content: string;
  readonly value: unknown;
}

interface SharedEntry {
  readonly value: unknown;
  lastUsed: number;
}

/** The number of consecutive sets without a use after which a shared entry is dropped. */
const setsUnusedMax = 3;

interface ListEntry {
  readonly hash: string;
  prepared?: PreparedList;
  folded?: readonly string[];
}

/** Creates an empty cache, which is passed from one `link` to the next. `run` runs all generated code. */
export function createFunctionCache(run: Run = runText): FunctionCache {
  const entries = new Map<string, Entry>();
  const lists = new Map<string, ListEntry>();
  const shared = new Map<string, SharedEntry>();
  let newest = 0;

  return {
    get size() {
      return entries.size + lists.size + shared.size;
    },
    begin: (program) => {
      newest += 1;
      const session = newest;
      for (const [key, { action }] of entries) if (!program.actions.has(action)) entries.delete(key);
      for (const name of lists.keys()) if (!program.lists.has(name)) lists.delete(name);
      for (const [key, { lastUsed }] of shared) if (lastUsed < session - setsUnusedMax) shared.delete(key);
      return {
        run,
        lists: sessionLists(lists, program, () => session === newest),
        reuse: <T>({ action, part }: CachedPart, make: () => T): T => {
          const key = `${part} ${action.action}`;
          const content = contentOf(action, program);
          const existing = entries.get(key);
          if (existing?.content === content) return existing.value as T;
          const value = make();
          if (session === newest) entries.set(key, { action: action.action, content, value });
          return value;
        },
        shared: <T>(key: string, make: () => T): T => {
          const existing = shared.get(key);
          if (existing !== undefined) {
            existing.lastUsed = Math.max(existing.lastUsed, session);
            return existing.value as T;
          }
          const value = make();
          shared.set(key, { value, lastUsed: session });
          return value;
        },
      };
    },
  };
}

/** The hashes of an action and of the lists, tables and hours that it reads. */
function contentOf({ hash, lists, tables, hours }: OpenAction, program: OpenProgram): string {
  const parts = [
    hash,
    ...lists.map((name) => program.listHash(name)),
    ...tables.map((name) => program.tableHash(name)),
    ...hours.map((name) => program.hoursHash(name)),
  ];
  return parts.join(' ');
}

function sessionLists(shared: Map<string, ListEntry>, program: OpenProgram, isNewest: () => boolean): Lists {
  const lists = new Map<string, ListEntry>();
  const entryOf = ({ name }: List): ListEntry => {
    const mine = lists.get(name);
    if (mine !== undefined) return mine;
    const hash = program.listHash(name);
    const existing = shared.get(name);
    const entry = existing?.hash === hash ? existing : { hash };
    lists.set(name, entry);
    if (isNewest()) shared.set(name, entry);
    return entry;
  };
  return {
    version: (list) => `${list.name} ${entryOf(list).hash}`,
    tableVersion: (name) => `${name} ${program.tableHash(name)}`,
    prepared: (list) => {
      const entry = entryOf(list);
      entry.prepared ??= prepareList(list);
      return entry.prepared;
    },
    folded: (list) => {
      const entry = entryOf(list);
      entry.folded ??= foldedEntries(list);
      return entry.folded;
    },
  };
}
