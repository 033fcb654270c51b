// GET /openapi.json: the document that all routes make together.

import type { FastifyInstance } from 'fastify';
import type { OpenApiDocument } from '../contract/openapi.ts';
import type { Operation } from '../contract/operation.ts';

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

export async function openApiRoute(
  app: FastifyInstance,
  { document }: { readonly document: () => OpenApiDocument },
): Promise<void> {
  // Made once, at the first look: by then every route is there.
  let text: string | null = null;
  app.get('/openapi.json', { config: { operation } }, async (_request, reply) => {
    text ??= JSON.stringify(document());
    reply.type('application/json; charset=utf-8');
    return text;
  });
}
