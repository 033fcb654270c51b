/** A JSON value as the strict reader or a test file yields it; numbers have at most 15 significant digits. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** Any key is ordinary data, `__proto__` included: read with `Object.hasOwn`, never by prototype. */
export interface JsonObject {
  readonly [key: string]: Json;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
