// Lists of free text as they are looked up beside a path, URL, host or e-mail address: each entry in the
// canonical form of that kind. Each such form has its own name, so that one list can serve several kinds.

import type { List } from '../../model/policy.ts';
import { anyText } from '../../model/type.ts';
import { type CanonicalKind, canonicalForms, canonicalText } from '../../value/canonical-text.ts';
import type { Environment } from '../incremental/environment.ts';
import { sameOrNew } from './same.ts';

const separator = ' as ';

/** Returns `NAME as KIND`, the key for `listForm`. */
export function formKey(list: string, kind: CanonicalKind): string {
  return `${list}${separator}${kind}`;
}

/** Returns the name of the declared list behind the name of a list or of one of its forms. */
export function declaredList(name: string): string {
  return name.split(separator)[0] ?? name;
}

/**
 * Adds the list with its entries in the form of a kind to `env.lists` and returns its name. Returns the name
 * of the original list when its entries already have that form.
 */
export function listForm(key: string, env: Environment): string {
  const [name = '', kindText = ''] = key.split(separator);
  const kind = kindText as CanonicalKind;
  const list = env.lists.get(name);
  if (list?.type.kind !== 'text' || list.type.of === kind || !Object.hasOwn(canonicalForms, kind))
    return name;
  if (env.lists.has(key)) return key;
  const entries = list.entries.map((entry) => canonicalText(kind, entry as string) ?? entry);
  if (entries.every((entry, at) => entry === list.entries[at])) return name;
  const form: List = { ...list, name: key, type: anyText, entries: [...new Set(entries)] };
  const before = env.checkState.before.lists.get(key);
  env.lists.set(key, sameOrNew(before, form));
  return key;
}

/** Returns a copy of the list without spare room. */
export function trimmedList<T>(list: readonly T[]): readonly T[] {
  return list.slice();
}
