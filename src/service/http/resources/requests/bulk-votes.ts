// One person's vote on several requests. INVARIANT: each request is decided by itself, as by its own route, and none is
// approved here that a person should look at by itself first: one with a warning in its review.

import type { ChangeResult, RequestSnapshot } from '../../../requests/approvals/change-request.ts';
import type { VoteDraft } from '../../../requests/approvals/give-vote.ts';
import { requestSummary } from '../../../requests/record/reply.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import { highRiskMin, type ReviewWarning, warningsOf } from '../../../requests/review-context.ts';
import { callerOf } from '../../auth/request-rights.ts';
import { objectSchema, text } from '../../contract/schemas.ts';
import { actorOf, type ManagedCall, type Route, route } from '../../routing/route.ts';
import { findVisible, refused, requestNotFound } from './approval-result.ts';
import { detailExample, statusNow } from './request-view.ts';
import type { Reviews } from './reviews.ts';

export interface BulkDeps {
  readonly requestChanges: RequestChanges;
  readonly reviews: Reviews;
}

interface BulkBody {
  readonly vote: 'approve' | 'reject';
  readonly comment: string;
  readonly requests: readonly { readonly id: string; readonly group?: string }[];
}

export interface BulkResult {
  readonly request_id: string;
  readonly status: string | null;
  readonly refusal: { readonly code: string; readonly detail: string } | null;
}

const requestsMax = 200;
const commentLengthMax = 2_000;

/** What became of the vote on one request. */
export const voteResultFields = {
  request_id: text(100),
  status: {
    ...statusNow,
    type: ['string', 'null'],
    enum: [...statusNow.enum, null],
    description: 'The status after the vote; null if the vote was not recorded.',
  },
  refusal: {
    ...objectSchema({
      code: {
        type: 'string',
        description:
          '`needs_own_review`: the request has a warning. Other codes are those of the single vote.',
      },
      detail: { type: 'string' },
    }),
    type: ['object', 'null'],
    description: 'Why the vote was not recorded; null if it was.',
  },
} as const;

const voteOnRequests = route<BulkDeps, BulkBody>({
  method: 'POST',
  url: '/v1/approvals/votes',
  access: 'requests.reject',
  operation: {
    id: 'voteOnRequests',
    summary: 'Approves or rejects several requests with one comment',
    description: `Each request is decided by itself, in order. A request with a warning in \`review.warnings\` (letters that may deceive, or a risk of ${highRiskMin} or more) is not approved here: approve it with \`POST /v1/requests/{id}/approve\`. At most ${requestsMax} requests.`,
    body: {
      description:
        "The vote, its comment, and the requests; `group` is required if approvals of several of the person's groups are needed.",
      schema: objectSchema({
        vote: { type: 'string', enum: ['approve', 'reject'] },
        comment: text(commentLengthMax),
        requests: {
          type: 'array',
          minItems: 1,
          maxItems: requestsMax,
          items: objectSchema({ id: text(100) }, { group: text(100) }),
        },
      }),
      examples: {
        two: {
          vote: 'approve',
          comment: 'the monthly invoices',
          requests: [
            { id: detailExample.request_id, group: 'finance' },
            { id: '019a0000-0000-7000-8000-000000000001', group: 'finance' },
          ],
        },
      },
    },
    replies: {
      200: {
        description: 'The result for each request, in order',
        schema: objectSchema({
          items: {
            type: 'array',
            items: objectSchema(voteResultFields),
          },
        }),
        example: {
          items: [
            { request_id: detailExample.request_id, status: 'approved', refusal: null },
            {
              request_id: '019a0000-0000-7000-8000-000000000001',
              status: null,
              refusal: {
                code: 'needs_own_review',
                detail: 'it contains letters that may deceive: decide it by itself',
              },
            },
          ],
        },
      },
    },
  },
  handle: async (deps, call) => {
    const { vote, comment, requests } = call.body;
    const items: BulkResult[] = [];
    for (const { id, group = null } of requests)
      items.push(
        await voteOn(deps, call, { id, vote, draft: { caller: callerOf(actorOf(call)), group, comment } }),
      );
    return { items };
  },
});

export const bulkVoteRoutes: readonly Route<BulkDeps>[] = [voteOnRequests];

interface BulkVote {
  readonly id: string;
  readonly vote: BulkBody['vote'];
  readonly draft: VoteDraft;
}

export async function voteOn(
  { requestChanges, reviews }: BulkDeps,
  call: ManagedCall<unknown>,
  { id, vote, draft }: BulkVote,
): Promise<BulkResult> {
  const seen = await findVisible(requestChanges, call, id);
  if (seen === null) return refusalOf(id, requestNotFound());
  if (vote === 'reject') return resultOf(id, await requestChanges.reject(id, draft), seen.nowMs);
  const detail = await needsOwnReview(reviews, seen);
  if (detail !== null) return { request_id: id, status: null, refusal: { code: 'needs_own_review', detail } };
  return resultOf(id, await requestChanges.approve(id, draft), seen.nowMs);
}

const warningTexts: Readonly<Record<ReviewWarning, string>> = {
  deceptive_letters: 'it contains letters that may deceive',
  high_risk: `its risk is ${highRiskMin} or more`,
};

/** Why the request is not approved together with others; null if nothing warns of it. */
async function needsOwnReview(reviews: Reviews, { state }: RequestSnapshot): Promise<string | null> {
  const review = (await reviews.of([state])).get(state.record.id);
  const warnings = review === undefined ? [] : warningsOf(state, review);
  if (warnings.length === 0) return null;
  return `${warnings.map((warning) => warningTexts[warning]).join(', and ')}: decide it by itself`;
}

function resultOf(id: string, changed: ChangeResult, nowMs: number): BulkResult {
  if (changed.kind !== 'changed') return refusalOf(id, refused(changed));
  return { request_id: id, status: requestSummary(changed.state, nowMs).status, refusal: null };
}

function refusalOf(id: string, { code, message }: ReturnType<typeof refused>): BulkResult {
  return { request_id: id, status: null, refusal: { code, detail: message } };
}
