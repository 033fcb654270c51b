// Keeps compiled functions and prepared lists from one policy set to the next, so that a reload compiles no more than
// what has changed. INVARIANT: for each action and each list of the newest set there is one entry at most, and an
// entry is used only where its text and the content of everything bound to it are the same. Templates have no content
// but their key; they are dropped when sets no longer use them.

import type { List } from '../model/policy.ts';
import { canonical } from '../program/canonical.ts';
import type { Program } from '../program/program.ts';
import type { Emitted } from './emit.ts';
import { foldedEntries, type PreparedList, prepareList } from './membership.ts';
import type { ReadyTemplate } from './shared.ts';
import type { Lists } from './writer.ts';

export interface FunctionCache {
  /** Begins to serve a program: what it does not declare is dropped, and programs before it only read from now on. */
  begin(program: Program): CacheSession;
  /** How many functions and lists are kept. */
  readonly size: number;
}

/** What one linked program sees of the cache. */
export interface CacheSession {
  readonly lists: Lists;
  /** The value made earlier for this part of an action from equal code, or a new one. */
  reuse<T>(part: CachedPart, emitted: Emitted, make: (emitted: Emitted) => T): T;
  /** The template with this key, made at its first use. */
  template(key: string, make: () => ReadyTemplate): ReadyTemplate;
  /** An equal text or small set of texts that has been met before, else this constant itself. */
  same(constant: unknown): unknown;
}

interface CachedPart {
  readonly action: string;
  readonly part: 'rules' | 'payload' | 'subjects';
}

interface Entry {
  readonly action: string;
  readonly text: string;
  readonly keys: string;
  readonly value: unknown;
}

interface TemplateEntry {
  readonly ready: ReadyTemplate;
  lastUsed: number;
}

/** A template that no set has used for so many sets is dropped. */
const setsUnusedMax = 3;

interface ListEntry {
  readonly list: List;
  readonly version: number;
  prepared?: PreparedList;
  folded?: readonly string[];
}

/** An empty cache, to be handed from one `link` to the next. */
export function createFunctionCache(): FunctionCache {
  const entries = new Map<string, Entry>();
  const lists = new Map<string, ListEntry>();
  const templates = new Map<string, TemplateEntry>();
  let newest = 0;
  let versions = 0;

  const nextVersion = (): number => {
    versions += 1;
    return versions;
  };

  return {
    get size() {
      return entries.size + lists.size + templates.size;
    },
    begin: (program) => {
      newest += 1;
      const session = newest;
      for (const [key, entry] of entries) if (!program.actions.has(entry.action)) entries.delete(key);
      for (const name of lists.keys()) if (!program.lists.has(name)) lists.delete(name);
      for (const [key, { lastUsed }] of templates) {
        if (lastUsed < session - setsUnusedMax) templates.delete(key);
      }
      const own = sessionLists(lists, nextVersion, () => session === newest);
      return {
        lists: own,
        reuse: <T>({ action, part }: CachedPart, emitted: Emitted, make: (emitted: Emitted) => T): T => {
          const key = `${part} ${action}`;
          const keys = canonical(emitted.bindings.keys);
          const known = entries.get(key);
          // Equal text with equal keys was made by the same `make`, which the part stands for.
          if (known?.text === emitted.text && known.keys === keys) return known.value as T;
          const value = make(emitted);
          if (session === newest) entries.set(key, { action, text: emitted.text, keys, value });
          return value;
        },
        same: sameConstants(),
        template: (key, make) => {
          const known = templates.get(key);
          if (known !== undefined) {
            known.lastUsed = Math.max(known.lastUsed, session);
            return known.ready;
          }
          const ready = make();
          templates.set(key, { ready, lastUsed: session });
          return ready;
        },
      };
    },
  };
}

function sessionLists(
  shared: Map<string, ListEntry>,
  nextVersion: () => number,
  isNewest: () => boolean,
): Lists {
  const own = new Map<string, ListEntry>();
  const entryOf = (list: List): ListEntry => {
    const mine = own.get(list.name);
    if (mine !== undefined) return mine;
    const known = shared.get(list.name);
    const entry =
      known !== undefined && isSameList(known.list, list) ? known : { list, version: nextVersion() };
    own.set(list.name, entry);
    if (isNewest()) shared.set(list.name, entry);
    return entry;
  };
  return {
    version: (list) => `${list.name} ${entryOf(list).version}`,
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

/** Larger sets are seldom equal, and dear to compare. */
const sameSetMax = 8;

/** Rules name the same texts again and again; each is kept once. */
function sameConstants(): CacheSession['same'] {
  const texts = new Map<string, string>();
  const sets = new Map<string, ReadonlySet<string>>();
  return (constant) => {
    if (typeof constant === 'string') return known(texts, constant, constant);
    if (!(constant instanceof Set) || constant.size > sameSetMax) return constant;
    return known(sets, JSON.stringify([...constant]), constant);
  };
}

function known<T>(all: Map<string, T>, key: string, value: T): T {
  const before = all.get(key);
  if (before === undefined) all.set(key, value);
  return before ?? value;
}

function isSameList(a: List, b: List): boolean {
  if (a === b) return true;
  if (a.ignoringCase !== b.ignoringCase || a.entries.length !== b.entries.length) return false;
  if (canonical(a.type) !== canonical(b.type)) return false;
  return a.entries.every((entry, at) => {
    const other = b.entries[at];
    return entry === other || canonical(entry) === canonical(other);
  });
}
