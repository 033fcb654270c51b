// Describes for people what is wrong with a body that does not fit its schema, and where. INVARIANT: the only
// parts of a body in these words are the names of its fields, cut short.

import type { ProblemPlace } from '../contract/problem.ts';

/** What is wrong with a value, as the schema validator reports it. */
export interface SchemaFault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export function placeOfFault(fault: SchemaFault): ProblemPlace {
  const { keyword, instancePath, params = {} } = fault;
  const { additionalProperty: extra, missingProperty: missing } = params;
  if (keyword === 'additionalProperties' && typeof extra === 'string')
    return { pointer: `${instancePath}/${pointerPart(extra)}`, detail: 'there is no such field' };
  if (keyword === 'required' && typeof missing === 'string')
    return { pointer: `${instancePath}/${pointerPart(missing)}`, detail: 'it is missing' };
  return { pointer: instancePath, detail: detailOf(fault) };
}

/** Words for the first fault of a body, with its place. */
export function detailOfBody(places: readonly ProblemPlace[]): string {
  const [first] = places;
  if (first === undefined) return 'the body is not what this address takes';
  return first.pointer === '' ? `the body: ${first.detail}` : `\`${first.pointer}\`: ${first.detail}`;
}

function detailOf({ keyword, message, params = {} }: SchemaFault): string {
  const limit = String(params.limit);
  switch (keyword) {
    case 'type':
      return `it has to be ${typeWords(params.type)}`;
    case 'enum':
      return `it has to be one of ${listOf(params.allowedValues)}`;
    case 'minLength':
      return limit === '1' ? 'it is empty' : `it needs ${limit} characters at least`;
    case 'maxLength':
      return `it has more than ${limit} characters`;
    case 'minimum':
      return `it has to be ${limit} at least`;
    case 'maximum':
      return `it has to be ${limit} at most`;
    case 'minItems':
      return limit === '1' ? 'it has to name one at least' : `it has to name ${limit} at least`;
    case 'maxItems':
      return `it names more than ${limit}`;
    case 'pattern':
      return `it does not fit the pattern ${String(params.pattern)}`;
    default:
      return message ?? 'it is not what it should be';
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

function typeWords(type: unknown): string {
  const types = Array.isArray(type) ? type.map(String) : [String(type)];
  return types.map((one) => typeNames[one] ?? one).join(' or ');
}

function listOf(values: unknown): string {
  return Array.isArray(values) ? values.map((one) => `\`${String(one)}\``).join(', ') : 'some values';
}

const nameLengthMax = 100;

function pointerPart(name: string): string {
  return name.slice(0, nameLengthMax).replaceAll('~', '~0').replaceAll('/', '~1');
}
