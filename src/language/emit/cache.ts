// Keeps compiled functions and prepared lists from one policy set to the next, so that a reload compiles no more than
// what has changed. INVARIANT: for each action and each list of the newest set there is one entry at most, and an
// entry is used only where the content hash of everything that it was made from is the same. Shared texts have no content
// but their key; they are dropped when sets no longer use them.

import type { List } from '../model/policy.ts';
import type { OpenAction, OpenProgram } from '../program/packed/unpack.ts';
import type { Lists } from './code/writer.ts';
import { type Run, runText } from './run.ts';
import { foldedEntries, type PreparedList, prepareList } from './runtime/membership.ts';

export interface FunctionCache {
  /** Begins to serve a program: what it does not declare is dropped, and programs before it only read from now on. */
  begin(program: OpenProgram): CacheSession;
  /** How many functions and lists are kept. */
  readonly size: number;
}

/** What one linked program sees of the cache. */
export interface CacheSession {
  /** Turns generated text into what it returns. */
  readonly run: Run;
  readonly lists: Lists;
  /** The value made earlier for this part of an action with equal content, or a new one. */
  reuse<T>(part: CachedPart, make: () => T): T;
  /** The value with this key, which says all that it is made from; made at its first use. */
  shared<T>(key: string, make: () => T): T;
}

/** The part of an action that a cached value is made from. */
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

/** Sets in a row without a use after which an entry is dropped. */
const setsUnusedMax = 3;

interface ListEntry {
  readonly hash: string;
  prepared?: PreparedList;
  folded?: readonly string[];
}

/** An empty cache, to be handed from one `link` to the next; `run` says how all of its code comes about. */
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
          const known = entries.get(key);
          if (known?.content === content) return known.value as T;
          const value = make();
          if (session === newest) entries.set(key, { action: action.action, content, value });
          return value;
        },
        shared: <T>(key: string, make: () => T): T => {
          const known = shared.get(key);
          if (known !== undefined) {
            known.lastUsed = Math.max(known.lastUsed, session);
            return known.value as T;
          }
          const value = make();
          shared.set(key, { value, lastUsed: session });
          return value;
        },
      };
    },
  };
}

/** Hashes of the action and of all that it reads. */
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
  const own = new Map<string, ListEntry>();
  const entryOf = ({ name }: List): ListEntry => {
    const mine = own.get(name);
    if (mine !== undefined) return mine;
    const hash = program.listHash(name);
    const known = shared.get(name);
    const entry = known?.hash === hash ? known : { hash };
    own.set(name, entry);
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
