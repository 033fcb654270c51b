// Building blocks for the schemas of the management API.

import { riskMax } from '../../../language/model/policy.ts';
import { chatServices } from '../../store/contract/chat-account.ts';
import type { JsonSchema, OperationReply, Parameter } from './operation.ts';

/** The schema of an object with these members and no others; members of `optional` may be missing. */
export function objectSchema(
  required: Readonly<Record<string, JsonSchema>>,
  optional: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  return {
    type: 'object',
    required: Object.keys(required),
    additionalProperties: false,
    properties: { ...required, ...optional },
  };
}

export function text(lengthMax: number): JsonSchema {
  return { type: 'string', maxLength: lengthMax };
}

export const textList: JsonSchema = { type: 'array', items: text(100), maxItems: 100 };

/** A time in UTC (RFC 3339). */
export const time: JsonSchema = { type: 'string', format: 'date-time' };

export const timeOrNull: JsonSchema = { type: ['string', 'null'], format: 'date-time' };

export const textOrNull: JsonSchema = { type: ['string', 'null'] };

export const chatRisk: JsonSchema = {
  type: ['integer', 'null'],
  minimum: 0,
  maximum: riskMax,
  description: 'The highest risk of a request that the group may decide by chat; null for never by chat.',
};

/** The chat account by which a person acted. */
export const chatAccountOrNull = {
  ...objectSchema({
    service: { type: 'string', enum: chatServices },
    workspace: {
      type: 'string',
      description: 'The id of the Slack workspace or of the Microsoft Entra tenant.',
    },
    user: { type: 'string', description: 'The id of the user there.' },
  }),
  type: ['object', 'null'],
  description: 'The chat account through which the person acted; null if they acted in Writ.',
} as const;

export function listReply(description: string, item: JsonSchema, example: unknown): OperationReply {
  const schema = objectSchema({ items: { type: 'array', items: item } });
  return { description, schema, example: { items: [example] } };
}

/** A reply without a body. */
export function noContent(description: string): OperationReply {
  return { description, contentType: null };
}

export function idParameter(description: string, example: string): Parameter {
  return {
    name: 'id',
    in: 'path',
    isRequired: true,
    description,
    schema: { type: 'string' },
    example,
  } as const;
}
