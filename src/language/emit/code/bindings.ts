// Values that generated code uses but that its text cannot contain: functions of the runtime, sets, patterns,
// exact decimals. Each value has a key that names its content, so equal text with equal keys is equal code.

import { identifier, type Js } from './js.ts';

export interface Bindings {
  /**
   * Returns the identifier under which the code finds the value with this key. The value is made once for
   * each key.
   */
  bind(key: string, make: () => unknown): Js;
  readonly keys: readonly string[];
  readonly values: readonly unknown[];
}

/** Creates empty bindings. Their identifiers are `c0`, `c1`, ... in order of first use. */
export function createBindings(): Bindings {
  const bound = new Map<string, Js>();
  const values: unknown[] = [];
  const keys: string[] = [];
  return {
    keys,
    values,
    bind: (key, make) => {
      const name = bound.get(key) ?? identifier('c', keys.length);
      if (!bound.has(key)) {
        bound.set(key, name);
        keys.push(key);
        values.push(make());
      }
      return name;
    },
  };
}
