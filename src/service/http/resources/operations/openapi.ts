// GET /openapi.json: the OpenAPI document, made from the list of routes.

import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../../contract/openapi.ts';
import type { DescribedRoute, Operation } from '../../contract/operation.ts';

const operation: Operation = {
  id: 'getOpenApi',
  summary: 'This document',
  security: null,
  replies: {
    200: {
      description: 'An OpenAPI 3.1 document',
      schema: { type: 'object', required: ['openapi', 'info', 'paths'], additionalProperties: true },
      example: { openapi: '3.1.0', info: { title: 'Writ', version: '1.0.0' }, paths: {} },
    },
  },
  problems: ['internal_error'],
};

export const getOpenApi: DescribedRoute = { method: 'GET', url: '/openapi.json', operation };

export async function openApiRoute(
  app: FastifyInstance,
  { routes }: { readonly routes: readonly DescribedRoute[] },
): Promise<void> {
  // Made once, at the first request; as bytes, which all replies share however slowly they are read.
  let bytes: Buffer | null = null;
  app.get(getOpenApi.url, async (_request, reply) => {
    bytes ??= Buffer.from(JSON.stringify(openApiDocument(routes)));
    reply.type('application/json; charset=utf-8');
    return bytes;
  });
}
