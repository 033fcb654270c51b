// The strings of an array as a set, as written or case-folded. INVARIANT: an array of values is never changed
// once its keys have been read. So the set is made once, however many formulas read the same list.

import type { Value } from '../../language/model/value.ts';
import { memo } from '../../language/value/memo.ts';
import { fold } from '../../language/value/text.ts';

export type Keys = ReadonlySet<Value>;

const plain = new WeakMap<readonly Value[], Keys>();
const folded = new WeakMap<readonly Value[], Keys>();

export function plainKeys(values: readonly Value[]): Keys {
  return memo(plain, values, () => new Set(values));
}

/** The folded texts of an array, all of whose values have to be texts. */
export function foldedKeys(values: readonly Value[]): Keys {
  return memo(folded, values, () => new Set(values.map((value) => fold(value as string))));
}
