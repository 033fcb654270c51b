// Computes the hash of a record fast: texts that JSON does not change are taken unchanged, and the names of
// the columns of a kind are put in order only once. INVARIANT: the hash equals that of `linkHash`, the
// definition, for every entry; a law holds them equal.

import { hash } from 'node:crypto';
import { canonicalJson } from '../contract/canonical-json.ts';
import { type ChainEntry, longText } from '../contract/chain.ts';

/**
 * A text of ASCII without quotation marks, backslashes and control characters, which JSON does not change.
 */
const plainText = /^[ !#-[\]-~]*$/;

export function createLinkHasher(): (previousHash: string, entry: ChainEntry) => string {
  const orderOf = createNameOrders();
  return (previousHash, entry) => {
    let text = previousHash;
    for (const { name, before } of orderOf(entry)) {
      const value = entry[name] ?? null;
      text +=
        typeof value === 'string' && plainText.test(value)
          ? `${before}"${value}"`
          : before + canonicalJson(value);
    }
    return hash('sha256', `${text}}${longText(entry)}`, 'hex');
  };
}

interface NamedLink {
  readonly name: string;
  /** The text in front of the value. */
  readonly before: string;
}

/**
 * Returns a function that gives the names of an entry in the order of its canonical JSON. The entries of a
 * kind share that order, so it is remembered.
 */
function createNameOrders(): (entry: ChainEntry) => readonly NamedLink[] {
  const orders = new Map<
    string,
    { readonly names: readonly string[]; readonly order: readonly NamedLink[] }
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
      .filter((name) => name !== 'record_json')
      .sort()
      .map((name, at) => ({ name, before: `${at === 0 ? '{' : ','}${JSON.stringify(name)}:` }));
    orders.set(entry.kind, { names, order });
    return order;
  };
}
