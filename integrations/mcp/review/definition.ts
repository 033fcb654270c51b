// Compares definitions of tools: texts, which only inform a model, and the shape, which determines how a tool
// is called. A server's texts may change at any moment, and a model believes them, so they are compared apart
// from the shape.

import { createHash } from 'node:crypto';
import { type CanonicalValue, canonicalJson } from '../../../src/service/store/contract/canonical-json.ts';
import { isObject, type Json, type JsonObject } from '../protocol/messages.ts';

/** `texts`: only texts for a model or a person differ. `shape`: calls of the tool differ. */
export type Drift = 'none' | 'texts' | 'shape';

export function driftOf(reviewed: JsonObject, live: JsonObject): Drift {
  if (textOf(reviewed) === textOf(live)) return 'none';
  return textOf(shapeOf(reviewed)) === textOf(shapeOf(live)) ? 'texts' : 'shape';
}

/** A digest of everything that a server tells about a tool. */
export function definitionDigest(definition: JsonObject): string {
  return `sha256-${createHash('sha256').update(textOf(definition)).digest('base64url')}`;
}

function textOf(value: JsonObject): string {
  return canonicalJson(JSON.parse(JSON.stringify(value)) as CanonicalValue);
}

const textsOfTool = new Set(['title', 'description', 'icons', '_meta']);
const textsOfSchema = new Set(['title', 'description', 'examples', '$comment']);
/** Members of a schema whose own member names are chosen by the schema's author. */
const mapsOfSchemas = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);
const schemas = new Set([
  'items',
  'additionalItems',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'prefixItems',
  'contains',
  'propertyNames',
  'anyOf',
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
]);

function shapeOf(definition: JsonObject): JsonObject {
  return mapped(definition, (name, value) => {
    if (textsOfTool.has(name)) return undefined;
    if (name === 'inputSchema' || name === 'outputSchema') return schemaShape(value);
    if (name === 'annotations' && isObject(value)) {
      return mapped(value, (hint, said) => (hint === 'title' ? undefined : said));
    }
    return value;
  });
}

function schemaShape(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(schemaShape);
  if (!isObject(schema)) return schema;
  return mapped(schema, (name, value) => {
    // A member counts as a text only if its value is one; any other value may have a meaning.
    if (textsOfSchema.has(name) && (typeof value === 'string' || name === 'examples')) return undefined;
    if (mapsOfSchemas.has(name) && isObject(value)) return mapped(value, (_one, inner) => schemaShape(inner));
    return schemas.has(name) ? schemaShape(value) : value;
  });
}

function mapped(object: JsonObject, change: (name: string, value: Json) => Json | undefined): JsonObject {
  const members = Object.entries(object).flatMap(([name, value]) => {
    const changed = change(name, value);
    return changed === undefined ? [] : [[name, changed] as const];
  });
  return Object.fromEntries(members);
}
