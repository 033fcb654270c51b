// Reads values as SCIM clients send them: names of attributes in whatever case, booleans also as text, as
// Entra ID sends them.

import { invalidValue, ScimError } from './scim-error.ts';

export type ScimObject = Readonly<Record<string, unknown>>;

const textLengthMax = 1_000;

export function objectOf(value: unknown, what: string): ScimObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as ScimObject;
  throw new ScimError(400, `${what} must be an object`, 'invalidSyntax');
}

/** The member of this name, in whatever case it is written; undefined when there is none. */
export function memberOf(value: ScimObject, name: string): unknown {
  const lowerName = name.toLowerCase();
  return Object.entries(value).find(([key]) => key.toLowerCase() === lowerName)?.[1];
}

/** The text; null when it is empty or absent. Throws a ScimError for any other value. */
export function scimText(value: unknown, name: string): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || value.length > textLengthMax || !value.isWellFormed()) {
    throw invalidValue(`\`${name}\` must be a string of at most ${textLengthMax} characters`);
  }
  return value;
}

export function requiredText(value: unknown, name: string): string {
  const text = scimText(value, name);
  if (text === null) throw invalidValue(`\`${name}\` is missing`);
  return text;
}

export function booleanOf(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value;
  const text = String(value).toLowerCase();
  if (text !== 'true' && text !== 'false') throw invalidValue(`\`${name}\` must be true or false`);
  return text === 'true';
}

/** The values of a list; a single value is a list of one, an absent value an empty list. */
export function scimList(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
