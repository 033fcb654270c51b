// The management API: all that people do, and what agents ask about their requests. Each resource has a file,
// each route a constant.

import type { FastifyInstance } from 'fastify';
import { type CallerDeps, manage } from '../routing/manage.ts';
import type { DepsOf } from '../routing/route.ts';
import { agentActivityRoutes } from './agents/agent-activity.ts';
import { agentKeyRoutes } from './agents/agent-keys.ts';
import { agentRoutes } from './agents/agents.ts';
import { delegationRoutes } from './agents/delegations.ts';
import { identityRoutes } from './agents/identities.ts';
import { pointRoutes } from './agents/points.ts';
import { alertRoutes } from './alerts/alerts.ts';
import { auditRoutes } from './audit/audit.ts';
import { recordStreamRoutes } from './audit/record-stream.ts';
import { accessRequestRoutes } from './authzen/access-requests.ts';
import { evaluationRoutes } from './authzen/evaluations.ts';
import { overviewRoutes } from './dashboard/overview.ts';
import { eventRoutes } from './events/events.ts';
import { hookRoutes } from './hooks/hooks.ts';
import { switchRoutes } from './kill-switches/kill-switches.ts';
import { replicaRoutes } from './operations/replicas.ts';
import { accessRoutes } from './people/access.ts';
import { applicationRoutes } from './people/applications.ts';
import { chatLinkRoutes } from './people/chat-links.ts';
import { groupRoutes } from './people/groups.ts';
import { peopleRoutes } from './people/people.ts';
import { resetLinkRoutes } from './people/reset-links.ts';
import { secondFactorRoutes } from './people/second-factors.ts';
import { sessionRoutes } from './people/session.ts';
import { sessionListRoutes } from './people/sessions.ts';
import { standInRoutes } from './people/stand-ins.ts';
import { tokenRoutes } from './people/tokens.ts';
import { actionRoutes } from './policies/actions.ts';
import { explainRoutes } from './policies/explain-routes.ts';
import { playgroundRoutes } from './policies/playground.ts';
import { policyRoutes } from './policies/policies.ts';
import { policyDraftRoutes } from './policies/policy-drafts.ts';
import { policyHistoryRoutes } from './policies/policy-history.ts';
import { policyHitRoutes } from './policies/policy-hits.ts';
import { policySummaryRoutes } from './policies/policy-summary.ts';
import { proposalRoutes } from './policies/proposals/proposals.ts';
import { replayRoutes } from './policies/replay-routes.ts';
import { rollBackRoutes } from './policies/roll-back.ts';
import { receiptRoutes } from './receipts/receipts.ts';
import { amountRoutes } from './requests/amounts.ts';
import { approvalRoutes } from './requests/approvals.ts';
import { bulkVoteRoutes } from './requests/bulk-votes.ts';
import { inboxActionRoutes } from './requests/inbox-actions.ts';
import { outcomeRoutes } from './requests/outcomes.ts';
import { planRoutes } from './requests/plans.ts';
import { requestExportRoutes } from './requests/request-export.ts';
import { requestRoutes } from './requests/requests.ts';
import { reviewLockRoutes } from './requests/review-locks.ts';
import { standingApprovalRoutes } from './requests/standing-approvals.ts';
import { stepUpRoutes } from './requests/step-up.ts';
import { tableRoutes } from './tables/tables.ts';
import { logRoutes } from './transparency-log/transparency-log.ts';
import { webhookRoutes } from './webhooks/webhooks.ts';

/** All routes of the management API, in the order of the OpenAPI document. */
export const managementRoutes = [
  ...requestRoutes,
  ...amountRoutes,
  ...outcomeRoutes,
  ...planRoutes,
  ...actionRoutes,
  ...sessionRoutes,
  ...secondFactorRoutes,
  ...tokenRoutes,
  ...sessionListRoutes,
  ...chatLinkRoutes,
  ...accessRoutes,
  ...applicationRoutes,
  ...peopleRoutes,
  ...groupRoutes,
  ...standInRoutes,
  ...resetLinkRoutes,
  ...agentRoutes,
  ...agentKeyRoutes,
  ...identityRoutes,
  ...agentActivityRoutes,
  ...delegationRoutes,
  ...pointRoutes,
  ...policyRoutes,
  ...playgroundRoutes,
  ...policyDraftRoutes,
  ...proposalRoutes,
  ...replayRoutes,
  ...policyHistoryRoutes,
  ...policySummaryRoutes,
  ...rollBackRoutes,
  ...explainRoutes,
  ...policyHitRoutes,
  ...overviewRoutes,
  ...eventRoutes,
  ...auditRoutes,
  ...recordStreamRoutes,
  ...alertRoutes,
  ...webhookRoutes,
  ...switchRoutes,
  ...tableRoutes,
  ...replicaRoutes,
  ...approvalRoutes,
  ...standingApprovalRoutes,
  ...bulkVoteRoutes,
  ...reviewLockRoutes,
  ...inboxActionRoutes,
  ...requestExportRoutes,
  ...stepUpRoutes,
  ...receiptRoutes,
  ...logRoutes,
  ...hookRoutes,
  ...evaluationRoutes,
  ...accessRequestRoutes,
];

/** What all routes take together, and what finding the caller needs. */
export type ManagementDeps = DepsOf<typeof managementRoutes> & CallerDeps;

export async function addManagementRoutes(app: FastifyInstance, deps: ManagementDeps): Promise<void> {
  for (const route of managementRoutes) manage(app, deps, route);
}
