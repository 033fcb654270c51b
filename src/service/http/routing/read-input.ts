// Reads the input of a call: a body that fits its schema, and the query parameters that the route names.
// INVARIANT: what a route does not name never reaches it.

import type { FastifyRequest } from 'fastify';
import { type JsonLimits, readJson } from '../../../language/json/read.ts';
import { jsonType } from '../contract/content-type.ts';
import type { JsonSchema, Parameter } from '../contract/operation.ts';
import { ProblemError } from '../contract/problem.ts';
import { detailOfBody, placeOfFault } from './schema-faults.ts';

export function readBody(request: FastifyRequest, schema: JsonSchema, bodyMax: JsonLimits): unknown {
  if (!jsonType.test(request.headers['content-type'] ?? '')) {
    throw new ProblemError('unsupported_content_type', 'send `Content-Type: application/json`');
  }
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const json = readJson(bytes, bodyMax);
  if (!json.ok) throw new ProblemError('invalid_json', json.issue.detail, { errors: [json.issue] });
  const validate = request.compileValidationSchema(schema);
  if (validate(json.value)) return json.value;
  const errors = (validate.errors ?? []).slice(0, placesMax).map(placeOfFault);
  throw new ProblemError('invalid_body', detailOfBody(errors), { errors });
}

const placesMax = 10;

/** In UTF-8: no longer text can be looked up in every store. */
const parameterBytesMax = 2_046;

/** Throws a ProblemError for a text that not every store can look for. */
function checkText(name: string, value: string, bytesMax: number): void {
  if (value.includes('\0')) throw new ProblemError('invalid_query', `\`${name}\` must not have a zero byte`);
  if (Buffer.byteLength(value) > bytesMax)
    throw new ProblemError('invalid_query', `\`${name}\` must have at most ${bytesMax} bytes`);
}

/**
 * The query parameters that the route names. Throws a ProblemError when a parameter is unknown, repeated,
 * too long, or has a value that is not listed.
 */
export function readQuery(
  request: FastifyRequest,
  parameters: readonly Parameter[],
): Readonly<Record<string, string>> {
  const known = new Map(
    parameters.filter(({ in: place }) => place === 'query').map((one) => [one.name, one]),
  );
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.query as Record<string, unknown>)) {
    const parameter = known.get(name);
    if (parameter === undefined) {
      const names = [...known.keys()].map((one) => `\`${one}\``).join(', ');
      const help = names === '' ? 'this address takes none' : `this address takes ${names}`;
      throw new ProblemError('invalid_query', `the parameter \`${name.slice(0, 100)}\` is unknown: ${help}`);
    }
    if (typeof value !== 'string')
      throw new ProblemError('invalid_query', `\`${name}\` is there more than once`);
    checkText(name, value, parameter.bytesMax ?? parameterBytesMax);
    const { enum: values } = parameter.schema as { enum?: readonly string[] };
    if (values !== undefined && !values.includes(value)) {
      throw new ProblemError('invalid_query', `\`${name}\` must be one of ${values.join(', ')}`);
    }
    read[name] = value;
  }
  return read;
}
