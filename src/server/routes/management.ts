// The management API: all that people do, a file a resource.

import type { FastifyInstance } from 'fastify';
import { type AccessRouteOptions, accessRoutes } from './access.ts';
import { peopleRoutes } from './people.ts';
import { type SessionRouteOptions, sessionRoutes } from './session.ts';

export type ManagementDeps = AccessRouteOptions & SessionRouteOptions;

export async function managementRoutes(app: FastifyInstance, deps: ManagementDeps): Promise<void> {
  await sessionRoutes(app, deps);
  await accessRoutes(app, deps);
  await peopleRoutes(app, deps);
}
