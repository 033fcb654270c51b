// Payloads that fit a JSON schema, for the parts of the standard that the recorded tools use. The validator
// filters out values that a generator gets wrong.

import fc, { type Arbitrary } from 'fast-check';
import { isObject, type Json, type JsonObject, member } from '../../../integrations/mcp/protocol/messages.ts';

export function payloads(root: JsonObject): Arbitrary<Json> {
  return of(root, root, 0);
}

function of(schema: Json | undefined, root: JsonObject, depth: number): Arbitrary<Json> {
  if (!isObject(schema) || depth > 8) return fc.constant({});
  if (typeof schema.$ref === 'string')
    return of(member(root, ...schema.$ref.split('/').slice(1)), root, depth + 1);
  const union = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(union)) return fc.oneof(...union.map((one) => of(one, root, depth + 1)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type) => of({ ...schema, type }, root, depth)));
  return plain(schema, root, depth);
}

function plain(schema: JsonObject, root: JsonObject, depth: number): Arbitrary<Json> {
  const [low, high] = [Number(schema.minimum ?? -1000), Number(schema.maximum ?? 1000)];
  switch (schema.type) {
    case 'string':
      return text(schema);
    case 'integer':
      return fc.integer({ min: low, max: Math.min(high, 1e6) });
    case 'number':
      return fc.oneof(fc.integer({ min: low, max: high }), fc.constant((low + Math.min(high, 7)) / 2));
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(of(schema.items, root, depth + 1), {
        minLength: Number(schema.minItems ?? 0),
        maxLength: Number(schema.maxItems ?? 4),
      });
    default:
      return record(schema, root, depth);
  }
}

function text({ format, minLength = 0, maxLength = 30 }: JsonObject): Arbitrary<Json> {
  if (format === 'uuid') return fc.uuid();
  if (format === 'date') return fc.constantFrom('2026-01-31', '2024-02-29');
  if (format === 'date-time') return fc.constantFrom('2026-01-31T10:00:00Z', '2026-01-31T10:00:00.5+02:00');
  if (format === 'email') return fc.constantFrom('a@example.com', 'a.b+c@mail.example.org');
  if (format === 'uri') return fc.constantFrom('https://example.com/a?b=c', 'data:text/plain,x');
  return fc.string({ unit: 'grapheme', minLength: Number(minLength), maxLength: Number(maxLength) });
}

function record(schema: JsonObject, root: JsonObject, depth: number): Arbitrary<Json> {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const fields = Object.fromEntries(properties.map(([name, one]) => [name, of(one, root, depth + 1)]));
  return fc.record(fields, { requiredKeys: required.filter((name) => name in fields) }) as Arbitrary<Json>;
}
