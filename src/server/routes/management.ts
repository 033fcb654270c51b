// The management API: all that people do, a file a resource.

import type { FastifyInstance } from 'fastify';
import { type AccessRouteOptions, accessRoutes } from './access.ts';
import { type AgentRouteOptions, agentRoutes } from './agents.ts';
import { type ApprovalRouteOptions, approvalRoutes } from './approvals.ts';
import { type AuditRouteOptions, auditRoutes } from './audit.ts';
import { peopleRoutes } from './people.ts';
import { type PolicyRouteOptions, policyRoutes } from './policies.ts';
import { type SessionRouteOptions, sessionRoutes } from './session.ts';
import { type StepUpRouteOptions, stepUpRoutes } from './step-up.ts';
import { type SwitchRouteOptions, switchRoutes } from './switches.ts';
import { type WebhookRouteOptions, webhookRoutes } from './webhooks.ts';

export type ManagementDeps = AccessRouteOptions &
  SessionRouteOptions &
  AgentRouteOptions &
  PolicyRouteOptions &
  AuditRouteOptions &
  WebhookRouteOptions &
  SwitchRouteOptions &
  ApprovalRouteOptions &
  StepUpRouteOptions;

export async function managementRoutes(app: FastifyInstance, deps: ManagementDeps): Promise<void> {
  await sessionRoutes(app, deps);
  await accessRoutes(app, deps);
  await peopleRoutes(app, deps);
  await agentRoutes(app, deps);
  await policyRoutes(app, deps);
  await auditRoutes(app, deps);
  await webhookRoutes(app, deps);
  await switchRoutes(app, deps);
  await approvalRoutes(app, deps);
  await stepUpRoutes(app, deps);
}
