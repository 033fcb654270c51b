// Values that generated code uses and text cannot hold: functions of the runtime, sets, patterns, exact decimals. Each
// has a key that names its content, so that equal text with equal keys is equal code.

import { identifier, type Js } from './js.ts';

export interface Bindings {
  /** The identifier under which the code finds the value that this key names; made once a key. */
  bind(key: string, make: () => unknown): Js;
  readonly keys: readonly string[];
  readonly values: readonly unknown[];
}

/** Fresh bindings, their identifiers `c0`, `c1`, ... in order of first use. */
export function createBindings(): Bindings {
  const known = new Map<string, Js>();
  const values: unknown[] = [];
  const keys: string[] = [];
  return {
    keys,
    values,
    bind: (key, make) => {
      const name = known.get(key) ?? identifier('c', keys.length);
      if (!known.has(key)) {
        known.set(key, name);
        keys.push(key);
        values.push(make());
      }
      return name;
    },
  };
}
