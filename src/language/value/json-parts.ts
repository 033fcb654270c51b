// Finds what people have to know about a JSON value before they read it: digests in place of secrets, parts
// too long to be shown at once, and invisible characters. Paths are those of an agent's payload profile
// (`items[].price`).

import { hasInvisible } from './invisible.ts';

/** Texts with more characters, and lists and objects with more parts, are folded and marked as folded. */
export const textLengthShown = 1_000;
export const partsShown = 200;

type Entries = readonly (readonly [name: string, value: unknown])[];

/** Elements of a list by position, or fields of an object; null for any other value. */
export function entriesOf(value: unknown): Entries | null {
  if (Array.isArray(value)) return value.map((element, index) => [String(index), element] as const);
  return typeof value === 'object' && value !== null ? Object.entries(value) : null;
}

const digestForm = /^hmac-sha256:[0-9a-f]{64}$/;

/** The digest that replaces a secret; null for any other value. */
export function secretDigest(value: unknown): string | null {
  if (Array.isArray(value)) return null;
  const entries = entriesOf(value);
  const [name, digest] = entries?.length === 1 ? (entries[0] ?? []) : [];
  return name === 'secret' && typeof digest === 'string' && digestForm.test(digest) ? digest : null;
}

const plainName = /^[A-Za-z_]\w{0,99}$/;

/**
 * The path one step further in: a field by its name, quoted unless it is a plain name; all elements of a list
 * share one step.
 */
export function pathInto(path: string, parent: unknown, name: string): string {
  if (Array.isArray(parent)) return `${path}[]`;
  const step = plainName.test(name)
    ? name
    : JSON.stringify(name.length > 100 ? `${name.slice(0, 99)}…` : name);
  return path === '' ? step : `${path}.${step}`;
}

export interface JsonAbout {
  /** Number of texts, lists and objects that are folded at first. */
  readonly folded: number;
  /** Paths of texts with characters that are invisible or change the direction of reading. */
  readonly invisible: readonly string[];
  readonly secrets: number;
}

export function aboutJson(value: unknown): JsonAbout {
  let folded = 0;
  let secrets = 0;
  const invisible = new Set<string>();
  const walk = (one: unknown, path: string): void => {
    if (typeof one === 'string') {
      if (one.length > textLengthShown) folded += 1;
      if (hasInvisible(one)) invisible.add(path);
      return;
    }
    if (secretDigest(one) !== null) {
      secrets += 1;
      return;
    }
    const entries = entriesOf(one);
    if (entries === null) return;
    if (entries.length > partsShown) folded += 1;
    for (const [name, inner] of entries) {
      const into = pathInto(path, one, name);
      if (!Array.isArray(one) && hasInvisible(name)) invisible.add(into);
      walk(inner, into);
    }
  };
  walk(value, '');
  return { folded, secrets, invisible: [...invisible] };
}
