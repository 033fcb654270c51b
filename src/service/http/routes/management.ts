// The management API: all that people do, a file a resource.

import type { FastifyInstance } from 'fastify';
import { type AgentActivityOptions, agentActivityRoutes } from './agent-activity.ts';
import { type AgentRouteOptions, agentRoutes } from './agents.ts';
import { type AuditRouteOptions, auditRoutes } from './audit.ts';
import { explainRoutes } from './explain.ts';
import { type NewsRouteOptions, newsRoutes } from './news.ts';
import { type OverviewRouteOptions, overviewRoutes } from './overview.ts';
import { type AccessRouteOptions, accessRoutes } from './people/access.ts';
import { peopleRoutes } from './people/people.ts';
import { type SessionRouteOptions, sessionRoutes } from './people/session.ts';
import { type PlaygroundRouteOptions, playgroundRoutes } from './playground.ts';
import { type PolicyRouteOptions, policyRoutes } from './policies.ts';
import { type PolicyHitRouteOptions, policyHitRoutes } from './policy-hits.ts';
import { type ApprovalRouteOptions, approvalRoutes } from './requests/approvals.ts';
import { type RequestExportOptions, requestExportRoutes } from './requests/request-export.ts';
import { type StepUpRouteOptions, stepUpRoutes } from './requests/step-up.ts';
import { type SwitchRouteOptions, switchRoutes } from './switches.ts';
import { type WebhookRouteOptions, webhookRoutes } from './webhooks.ts';

export type ManagementDeps = AccessRouteOptions &
  SessionRouteOptions &
  AgentRouteOptions &
  AgentActivityOptions &
  PolicyRouteOptions &
  PlaygroundRouteOptions &
  PolicyHitRouteOptions &
  OverviewRouteOptions &
  NewsRouteOptions &
  AuditRouteOptions &
  WebhookRouteOptions &
  SwitchRouteOptions &
  ApprovalRouteOptions &
  RequestExportOptions &
  StepUpRouteOptions;

export async function managementRoutes(app: FastifyInstance, deps: ManagementDeps): Promise<void> {
  await sessionRoutes(app, deps);
  await accessRoutes(app, deps);
  await peopleRoutes(app, deps);
  await agentRoutes(app, deps);
  await agentActivityRoutes(app, deps);
  await policyRoutes(app, deps);
  await playgroundRoutes(app, deps);
  await explainRoutes(app, deps);
  await policyHitRoutes(app, deps);
  await overviewRoutes(app, deps);
  await newsRoutes(app, deps);
  await auditRoutes(app, deps);
  await webhookRoutes(app, deps);
  await switchRoutes(app, deps);
  await approvalRoutes(app, deps);
  await requestExportRoutes(app, deps);
  await stepUpRoutes(app, deps);
}
