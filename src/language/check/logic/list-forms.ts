// Lists of free text as they are looked up beside a path, URL, host or e-mail address: each entry in the canonical form
// that it has there. What is looked up in has a name of its own, so that one list may serve several kinds.

import type { List } from '../../model/policy.ts';
import { anyText } from '../../model/type.ts';
import { type CanonicalKind, canonicalForms, canonicalText } from '../../value/canonical-text.ts';
import type { Environment } from '../incremental/environment.ts';
import { sameOrNew } from './same.ts';

const separator = ' as ';

/** `NAME as KIND`, as which `listForm` is asked. */
export function formKey(list: string, kind: CanonicalKind): string {
  return `${list}${separator}${kind}`;
}

/** The declared list that a name stands for, in whatever form. */
export function declaredList(name: string): string {
  return name.split(separator)[0] ?? name;
}

/**
 * The name of the list whose entries are those of another in the form of a kind, which is added to `env.lists`; that of
 * the list itself where its entries are in that form already.
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
