// Keeps the copy of the policies that a person edits: only its differences from the active policies. The copy
// lasts until this window is closed, and nobody else who signs in here sees it.

export interface Change {
  readonly path: string;
  readonly text: string;
}

export interface Draft {
  readonly changes: readonly Change[];
  /** The request as JSON text; null until something is written. */
  readonly request: string | null;
}

const emptyDraft: Draft = { changes: [], request: null };

const prefix = 'writ.playground.';

type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

/** Reads the person's draft and removes the drafts of others. */
export function readDraft(storage: Storage, person: string): Draft {
  try {
    const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '');
    for (const key of keys) {
      if (key.startsWith(prefix) && key !== prefix + person) storage.removeItem(key);
    }
    return draftOf(JSON.parse(storage.getItem(prefix + person) ?? 'null'));
  } catch {
    return emptyDraft;
  }
}

/** Returns whether the draft could be stored: storage may be full or forbidden. */
export function keepDraft(storage: Storage, person: string, draft: Draft): boolean {
  try {
    storage.setItem(prefix + person, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

function draftOf(value: unknown): Draft {
  if (typeof value !== 'object' || value === null) return emptyDraft;
  const { changes, request } = value as { readonly changes?: unknown; readonly request?: unknown };
  const validChanges = Array.isArray(changes) ? changes.filter(isChange) : [];
  return { changes: validChanges, request: typeof request === 'string' ? request : null };
}

function isChange(value: unknown): value is Change {
  const change = value as Partial<Change> | null;
  return typeof change?.path === 'string' && typeof change.text === 'string';
}

/** The changes with this text for a file; without the file when its text equals the active one. */
export function withText(
  changes: readonly Change[],
  { path, text }: Change,
  active: string | null,
): readonly Change[] {
  const others = changes.filter((one) => one.path !== path);
  if (text === active) return others;
  return [...others, { path, text }].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** What is wrong with the name of a new file; null when nothing is. */
export function nameFault(path: string, taken: readonly string[]): string | null {
  if (
    !/^[^\\\p{Cc}\p{Cf}]+$/u.test(path) ||
    path.split('/').some((name) => name === '' || name.startsWith('.'))
  )
    return 'is a path such as `payments/limits.policy`';
  if (!path.endsWith('.policy')) return 'ends with `.policy`';
  if (path.length > 300) return 'has at most 300 characters';
  return taken.includes(path) ? 'is there already' : null;
}
