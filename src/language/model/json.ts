/**
 * A JSON value as returned by the strict reader or read from a test file. A number stands for the decimal of
 * its shortest text, which has at most 17 significant digits.
 */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/**
 * Any key is ordinary data, `__proto__` included: members are read with `Object.hasOwn`, never through the
 * prototype.
 */
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
