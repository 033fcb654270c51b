// POST /plants: the sandbox, which stores plants and has nothing to do with authorization. Its errors have a
// shape of their own. INVARIANT: an id is exact over all 64 bits, because its digits are taken from the text
// of the body.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject } from '../../../../language/model/json.ts';
import type { PlantRow } from '../../../store/contract/records.ts';
import type { PlantStore } from '../../../store/contract/store.ts';
import { discardRest } from '../../connection/error-replies.ts';
import type {
  DescribedRoute,
  JsonSchema,
  Operation,
  OperationReply,
  ReplyHeader,
} from '../../contract/operation.ts';
import { ProblemError } from '../../contract/problem.ts';

export interface PlantRouteOptions {
  readonly plants: PlantStore;
  /** SHA-256 of the sandbox token, which follows `Bearer` in the header. */
  readonly tokenDigest: Uint8Array;
}

export async function plantRoute(
  app: FastifyInstance,
  { plants, tokenDigest: expected }: PlantRouteOptions,
): Promise<void> {
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'POST') {
      reply.header('allow', 'POST');
      throw new PlantError(405, 'only POST is allowed here');
    }
    const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (!timingSafeEqual(tokenDigest(given), expected)) {
      reply.header('www-authenticate', 'Bearer');
      throw new PlantError(401, 'send the sandbox token as `Authorization: Bearer <token>`');
    }
  });
  app.setErrorHandler<FastifyError>(replyWithError);

  app.post(addPlant.url, async (request) => {
    const plant = readPlant(request);
    if ((await plants.add(plant)) === 'used') throw new PlantError(400, 'another plant has this id');
    return plant.tag === null ? { name: plant.name } : { name: plant.name, tag: plant.tag };
  });
  // The hook refuses these methods; they are registered so that the refusal has this route's shape of errors.
  app.route({
    method: ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    url: '/plants',
    config: { isDocumented: false },
    handler: async () => {
      throw new Error('a request other than POST reached the handler');
    },
  });
}

/** A class, because Fastify takes a thrown error at any stage of a request. */
class PlantError extends Error {
  readonly status: 400 | 401 | 405;

  constructor(status: 400 | 401 | 405, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Replies with an error, whose `error` is the HTTP status: clients have nothing else to tell errors apart.
 */
async function replyWithError(
  error: FastifyError | PlantError | ProblemError,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  await discardRest(request, reply);
  const plantError = error instanceof PlantError ? error : framework(error);
  if (plantError !== null)
    return reply.code(plantError.status).send({ error: plantError.status, message: plantError.message });
  request.log.error({ err: error }, 'request failed');
  return reply.code(500).send({ error: 500, message: 'the plant could not be stored' });
}

/** An error from before the route was reached, in this route's shape; null for a fault of the service. */
function framework(error: FastifyError | ProblemError): PlantError | null {
  if (error instanceof ProblemError) return new PlantError(400, error.message);
  // Fastify's own errors with a status below 500 are about a body that it could not read.
  const isBodyFault = (error.statusCode ?? 500) < 500;
  return isBodyFault ? new PlantError(400, 'the body could not be read') : null;
}

const jsonType = /^application\/json\s*(?:;.*)?$/i;

function readPlant({ body, headers }: FastifyRequest): PlantRow {
  if (!jsonType.test(headers['content-type'] ?? '')) {
    throw new PlantError(400, 'send `Content-Type: application/json`');
  }
  const plant = parse(Buffer.isBuffer(body) ? body : Buffer.alloc(0));
  if (!isJsonObject(plant)) {
    throw new PlantError(400, 'the body must be an object');
  }
  const fields = new Map<string, unknown>(Object.entries(plant));
  const id = readId(fields.get('id'));
  const name = readText('name', fields.get('name'));
  return { id, name, tag: fields.has('tag') ? readText('tag', fields.get('tag')) : null };
}

/** A number as it was written; a double would round long ones. */
class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The JSON value of the body, with a NumberText in place of every number. */
function parse(body: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    // The third argument (the number's own text) is newer than the type of `parse`.
    const keepDigits = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
      typeof value === 'number' ? new NumberText(context?.source ?? '') : value;
    return JSON.parse(text, keepDigits);
  } catch {
    throw new PlantError(400, 'the body is not valid JSON');
  }
}

function readId(value: unknown): bigint {
  if (value === undefined) throw new PlantError(400, 'id is missing');
  if (!(value instanceof NumberText) || !/^-?\d{1,19}$/.test(value.text)) {
    throw new PlantError(400, 'id must be a whole number of 64 bits');
  }
  const id = BigInt(value.text);
  if (BigInt.asIntN(64, id) !== id) throw new PlantError(400, 'id must be a whole number of 64 bits');
  return id;
}

function readText(name: string, value: unknown): string {
  if (value === undefined) throw new PlantError(400, `${name} is missing`);
  if (typeof value !== 'string' || !value.isWellFormed())
    throw new PlantError(400, `${name} must be a string`);
  if (value.includes('\0')) throw new PlantError(400, `${name} must not contain a NUL character`);
  return value;
}

/** SHA-256 of a token: it has the same length for every token, so that comparing takes the same time. */
export function tokenDigest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

const plantProperties = { name: { type: 'string' }, tag: { type: 'string' } } as const;

const errorSchema: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['error', 'message'],
  properties: { error: { type: 'integer', format: 'int32' }, message: { type: 'string' } },
};

function errorReply(error: number, message: string, headers: readonly ReplyHeader[] = []): OperationReply {
  return { description: message, schema: errorSchema, example: { error, message }, headers };
}

const operation: Operation = {
  id: 'addPlant',
  summary: 'The sandbox: stores a plant',
  security: 'sandboxToken',
  body: {
    description: 'An id is an exact 64-bit integer and can be used only once.',
    schema: {
      type: 'object',
      required: ['id', 'name'],
      properties: { id: { type: 'integer', format: 'int64' }, ...plantProperties },
    },
    examples: { fern: { id: 101, name: 'Fern', tag: 'green' } },
  },
  replies: {
    200: {
      description: 'Stored',
      schema: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: plantProperties,
      },
      example: { name: 'Fern', tag: 'green' },
    },
    400: errorReply(400, 'the body must be an object'),
    401: errorReply(401, 'send the sandbox token as `Authorization: Bearer <token>`', ['WWW-Authenticate']),
    500: errorReply(500, 'the plant could not be stored'),
  },
  problems: [],
};

export const addPlant: DescribedRoute = { method: 'POST', url: '/plants', operation };
