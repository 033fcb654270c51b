// The canonical JSON of a record's columns, made fast: texts that JSON does not change are taken unchanged, and the
// names of the columns of a kind are put in order only once. INVARIANT: the text equals that of `canonicalJson`, the
// definition, for every entry; a law holds them equal.

import { canonicalJson } from './canonical-json.ts';
import type { ChainEntry } from './chain.ts';

/**
 * A text of ASCII without quotation marks, backslashes and control characters, which JSON does not change.
 */
const plainText = /^[ !#-[\]-~]*$/;

export interface EntryTextOptions {
  /** Whether the text has `record_json`, the one long column. */
  readonly hasRecordJson: boolean;
}

/** Returns a function that throws a RangeError for an entry that has no canonical JSON. */
export function createEntryText({ hasRecordJson }: EntryTextOptions): (entry: ChainEntry) => string {
  const orderOf = createNameOrders(hasRecordJson);
  return (entry) => {
    let text = '';
    for (const { name, before } of orderOf(entry)) {
      const value = entry[name] ?? null;
      text +=
        typeof value === 'string' && plainText.test(value)
          ? `${before}"${value}"`
          : before + canonicalJson(value);
    }
    return `${text}}`;
  };
}

interface NamedColumn {
  readonly name: string;
  /** The text in front of the value. */
  readonly before: string;
}

/**
 * Returns a function that gives the names of an entry in the order of its canonical JSON. The entries of a
 * kind share that order, so it is remembered.
 */
function createNameOrders(hasRecordJson: boolean): (entry: ChainEntry) => readonly NamedColumn[] {
  const orders = new Map<
    string,
    { readonly names: readonly string[]; readonly order: readonly NamedColumn[] }
  >();
  return (entry) => {
    const names = Object.keys(entry);
    const found = orders.get(entry.kind);
    const isSame =
      found !== undefined &&
      found.names.length === names.length &&
      found.names.every((name, at) => name === names[at]);
    if (isSame) return found.order;
    const order = names
      .filter((name) => hasRecordJson || name !== 'record_json')
      .sort()
      .map((name, at) => ({ name, before: `${at === 0 ? '{' : ','}${JSON.stringify(name)}:` }));
    orders.set(entry.kind, { names, order });
    return order;
  };
}
