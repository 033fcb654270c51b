// The shapes of a tool's arguments and answer: JSON Schema for clients, with the TypeScript types that follow
// from it. INVARIANT: arguments reach a tool only if they fit its schema.

import { isJsonObject, type Json, type JsonObject } from '../../../language/model/json.ts';

declare const valueType: unique symbol;

export interface Schema<T> {
  readonly json: JsonObject;
  readonly isOptional?: true;
  /** The type of the values; no member at run time. */
  readonly [valueType]?: T;
}

export interface OptionalSchema<T> extends Schema<T> {
  readonly isOptional: true;
}

export type Fields = Readonly<Record<string, Schema<unknown>>>;

type ValueOf<S> = S extends Schema<infer T> ? T : never;
type OptionalNames<F extends Fields> = {
  [K in keyof F]: F[K] extends OptionalSchema<unknown> ? K : never;
}[keyof F];

export type FieldsOf<F extends Fields> = {
  readonly [K in Exclude<keyof F, OptionalNames<F>>]: ValueOf<F[K]>;
} & { readonly [K in OptionalNames<F>]?: ValueOf<F[K]> };

const described = (json: JsonObject, description: string): JsonObject => ({ ...json, description });

export const text = (description: string): Schema<string> => ({
  json: described({ type: 'string' }, description),
});

export const flag = (description: string): Schema<boolean> => ({
  json: described({ type: 'boolean' }, description),
});

export const count = (description: string): Schema<number> => ({
  json: described({ type: 'integer', minimum: 0 }, description),
});

/** An object whose members are not declared. */
export const anyObject = (description: string): Schema<JsonObject> => ({
  json: described({ type: 'object' }, description),
});

export const listOf = <T>(item: Schema<T>, description: string): Schema<readonly T[]> => ({
  json: described({ type: 'array', items: item.json }, description),
});

export const orNull = <T>({ json }: Schema<T>): Schema<T | null> => ({
  json: { ...json, type: [json.type as string, 'null'] },
});

export const optional = <T>({ json }: Schema<T>): OptionalSchema<T> => ({ json, isOptional: true });

/** The schema of an object with these fields and no others. */
export function objectJson(fields: Fields): JsonObject {
  const required = Object.keys(fields).filter((name) => fields[name]?.isOptional !== true);
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, { json }]) => [name, json])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** What is wrong with a value, in a sentence without its final period; null when it fits. */
export function schemaFault(json: JsonObject, value: Json, name: string): string | null {
  const types = [json.type].flat() as readonly string[];
  if (!types.some((type) => isOfType(type, value)))
    return `\`${name}\` must be ${types.map(named).join(' or ')}`;
  if (typeof value === 'number' && typeof json.minimum === 'number' && value < json.minimum)
    return `\`${name}\` must be at least ${json.minimum}`;
  if (Array.isArray(value)) {
    const faults = value.map((item, at) => schemaFault(json.items as JsonObject, item, `${name}[${at}]`));
    return faults.find((fault) => fault !== null) ?? null;
  }
  return isJsonObject(value) && isJsonObject(json.properties) ? membersFault(json, value, name) : null;
}

function membersFault(json: JsonObject, value: JsonObject, name: string): string | null {
  const properties = json.properties as Readonly<Record<string, JsonObject>>;
  const path = (member: string): string => (name === 'arguments' ? member : `${name}.${member}`);
  const stranger = Object.keys(value).find((member) => !Object.hasOwn(properties, member));
  if (stranger !== undefined)
    return `there is no argument \`${path(stranger)}\`: use ${Object.keys(properties).join(', ')}`;
  const missing = ((json.required ?? []) as readonly string[]).find(
    (member) => !Object.hasOwn(value, member),
  );
  if (missing !== undefined) return `\`${path(missing)}\` is missing`;
  const faults = Object.entries(value).map(([member, one]) =>
    schemaFault(properties[member]!, one, path(member)),
  );
  return faults.find((fault) => fault !== null) ?? null;
}

function isOfType(type: string, value: Json): boolean {
  switch (type) {
    case 'object':
      return isJsonObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

function named(type: string): string {
  const names: Readonly<Record<string, string>> = {
    object: 'an object',
    array: 'a list',
    integer: 'a whole number',
    string: 'text',
    boolean: 'true or false',
  };
  return names[type] ?? type;
}
