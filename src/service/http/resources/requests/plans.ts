// /v1/plans: an agent tells the steps of a task in advance and reads what would be decided for each; people read plans,
// and vote on all or some of their steps. INVARIANT: a plan grants nothing, and a vote on a plan is a vote on each of
// its requests by itself.

import type { FastifyRequest } from 'fastify';
import { isoTime, isoTimeOrNull } from '../../../../language/value/iso-time.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { RequestSnapshot } from '../../../requests/approvals/change-request.ts';
import { isWithin } from '../../../requests/approvals/rights.ts';
import { assignmentsAt } from '../../../requests/inbox/assignments.ts';
import { snoozesOf } from '../../../requests/inbox/snoozes.ts';
import { sumsOf } from '../../../requests/plans/amounts.ts';
import { goalLengthMax, type Plan, plansIn, stepsMax } from '../../../requests/plans/plan.ts';
import { createRequestId } from '../../../requests/record/id.ts';
import { statusAt } from '../../../requests/record/lifecycle.ts';
import { requestStateOf } from '../../../requests/record/request-state.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import type { AgentRow } from '../../../store/contract/records.ts';
import type { Store } from '../../../store/contract/store.ts';
import { notFound } from '../../auth/auth-refusals.ts';
import { callerOf } from '../../auth/request-rights.ts';
import { actionKeyLengthMax } from '../../contract/envelope.ts';
import { type Parameter, queryParameter } from '../../contract/operation.ts';
import { cursorOf, type PageCursor, pageParameters, pageReply, readPage } from '../../contract/page.ts';
import { idParameter, objectSchema, text, textOrNull, time, timeOrNull } from '../../contract/schemas.ts';
import { actorOf, type ManagedCall, payloadBodyMax, type Route, route } from '../../routing/route.ts';
import { isAgentOf } from '../agents/agent-filter.ts';
import { isVisibleTo } from './approval-result.ts';
import type { AuthorizeCall, AuthorizeHandler } from './authorize-handler.ts';
import { type BulkDeps, type BulkResult, voteOn, voteResultFields } from './bulk-votes.ts';
import { queuedViews } from './inbox-entries.ts';
import type { PlanBody, PlanHandler } from './plan-handler.ts';
import { recordRefused } from './record-refused.ts';
import { queuedExample, queuedSchema, statusNow, viewSchema } from './request-view.ts';

interface PlanDeps extends BulkDeps {
  readonly signInDeps: SignInDeps;
  readonly store: Store;
  readonly requestChanges: RequestChanges;
  readonly planHandler: PlanHandler;
  readonly authorizeHandler: AuthorizeHandler;
  readonly takeMore: (request: FastifyRequest, count: number) => void;
  readonly clock: () => number;
}

const { decision, reason, matched_policy, risk_score } = viewSchema.properties;

const stepSchema = objectSchema({
  step: { type: 'integer', minimum: 1, description: 'The number of the step.' },
  action_key: { type: 'string' },
  title: { type: 'string', description: 'What the step is about, in one line; empty if there is no title.' },
  decision: { ...decision, description: 'What was decided for the step when the plan was made.' },
  reason,
  matched_policy,
  risk_score,
  digest: { type: 'string', description: 'The digest to which an approval of the step is bound.' },
  request_id: { ...textOrNull, description: 'The request of the step; null if nobody was asked for it.' },
  status: {
    type: ['string', 'null'],
    enum: [...statusNow.enum, null],
    description: 'The present status of the request; null without a request.',
  },
  request: {
    ...queuedSchema,
    type: ['object', 'null'],
    description: 'The request as in the inbox; null for an agent, or if the caller may not see it.',
  },
});

const sums = {
  type: 'array',
  items: { type: 'string' },
  description: 'The sums of the amounts of money of all steps that are not denied, one for each currency.',
} as const;

/** `pending`: a step waits for people. `decided`: none does any more. `preview`: nobody was asked. */
const planStates = ['pending', 'decided', 'preview'] as const;

const planFields = {
  plan_id: { type: 'string', format: 'uuid' },
  agent_id: { type: 'string' },
  agent: { type: 'string', description: "The agent's name." },
  goal: { ...textOrNull, description: 'What the agent wants to reach, in its own words.' },
  submitted: {
    type: 'boolean',
    description: 'Whether the steps that need people became pending requests.',
  },
  created_at: time,
  expires_at: { ...timeOrNull, description: 'When the last of its requests ends; null without requests.' },
  sums,
  pending: { type: 'integer', minimum: 0, description: 'The number of pending steps.' },
  state: {
    type: 'string',
    enum: [...planStates],
    description:
      '`pending` if a step is pending, `decided` if none is any more, `preview` if the plan was not submitted.',
  },
} as const;

const planSchema = objectSchema({ ...planFields, steps: { type: 'array', items: stepSchema } });
const planSummarySchema = objectSchema({ ...planFields, steps: { type: 'integer', minimum: 1 } });

const planSummaryExample = {
  plan_id: '019a0000-0000-7000-8000-0000000000aa',
  agent_id: '5f0c9f6e-9c1b-4c3e-9d43-0a4c2f0f6f3a',
  agent: 'buyer-1',
  goal: 'Pay the invoices of May',
  submitted: true,
  created_at: '2026-05-19T12:00:00.000Z',
  expires_at: '2026-05-19T16:00:00.000Z',
  sums: ['1,200.00 USD'],
  pending: 1,
  state: 'pending',
  steps: 1,
};

const planExample = {
  ...planSummaryExample,
  steps: [
    {
      step: 1,
      action_key: 'payment.create',
      title: 'Pay 1,200.00 USD to Staples',
      decision: 'ESCALATE',
      reason: 'Payments over 1000 USD need two people from finance',
      matched_policy: 'vendor_payments',
      risk_score: 30,
      digest: queuedExample.digest,
      request_id: queuedExample.request_id,
      status: 'pending',
      request: null,
    },
  ],
};

const planId = idParameter('The `plan_id` of the reply.', planSummaryExample.plan_id);
const planReply = { description: 'The plan', schema: planSchema, example: planExample };
const agentHeaders = ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'] as const;

function optionalHeader(name: string, description: string, example: string): Parameter {
  const schema = { type: 'string', minLength: 1 };
  return { name, in: 'header', isRequired: false, description, schema, example };
}

const createPlan = route<PlanDeps, PlanBody>({
  method: 'POST',
  url: '/v1/plans',
  access: 'agent',
  isForDelegates: true,
  // A step lies two levels deeper than the body of one request.
  bodyMax: { ...payloadBodyMax, depthMax: payloadBodyMax.depthMax + 2 },
  operation: {
    id: 'createPlan',
    summary: 'Shows what would be decided for the steps of a task, and asks people for them',
    description: `Nothing is granted. Each step is decided as if it came alone now, with the policies and meters of now. With \`submit\`, each step that needs people becomes a pending request; these requests are stored all or none, and count in meters in their order. The agent then sends \`POST /v1/authorize\` with \`Prefer: attach\` for each step. A step whose action is not declared, or whose payload does not fit, refuses the plan with its index in \`errors\`. Each of the 1 to ${stepsMax} steps counts as one request of the rate. With \`submit\`, each pending step takes a use of each delegation of the chain; if there are too few, the plan is refused.`,
    parameters: [
      optionalHeader('Idempotency-Key', 'The same key and body return the same plan.', 'order-4711'),
      optionalHeader('X-Agent-Session', 'The session of all steps.', 'session-1'),
      optionalHeader(
        'X-On-Behalf-Of',
        'The token of the person for whom the agent acts, for all steps.',
        'eyJhbGciOi',
      ),
      optionalHeader(
        'X-Service-Signature',
        'As for `POST /v1/authorize`, over this body.',
        't=1779192000,n=4f2a9c0d1e,v1=<64 hexadecimal digits>',
      ),
    ],
    body: {
      description: 'What the agent wants to do, step by step.',
      schema: objectSchema(
        {
          steps: {
            type: 'array',
            minItems: 1,
            maxItems: stepsMax,
            items: objectSchema({
              action_key: { type: 'string', minLength: 1, maxLength: actionKeyLengthMax },
              payload: { type: 'object', additionalProperties: true },
            }),
          },
        },
        { goal: { type: ['string', 'null'], maxLength: goalLengthMax }, submit: { type: 'boolean' } },
      ),
      examples: {
        one: {
          goal: planSummaryExample.goal,
          submit: true,
          steps: [
            { action_key: 'payment.create', payload: { amount: 1200, currency: 'USD', vendor: 'Staples' } },
          ],
        },
      },
    },
    replies: { 200: { ...planReply, headers: agentHeaders } },
    problems: [
      'conflict',
      'idempotency_mismatch',
      'invalid_signature',
      'stopped',
      'too_many_in_flight',
      'too_many_open_requests',
    ],
  },
  handle: async (deps, call) => {
    const { request, body } = call;
    const agentCall = agentCallOf(deps, request);
    try {
      if (body.steps.length > 1) deps.takeMore(request, body.steps.length - 1);
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const { plan } = await deps.planHandler.make(agentCall, bytes, body);
      return await planView(deps, call, { plan, agent: agentCall.identity.agent });
    } catch (error) {
      throw await recordRefused(deps, agentCall, error);
    }
  },
});

function agentCallOf({ clock }: PlanDeps, request: FastifyRequest): AuthorizeCall {
  const { identity, headers, url, clientAddress, startedAtMs } = request;
  if (identity === null) throw new Error('the plan has no agent');
  return { identity, headers, url, id: createRequestId(clock()), clientAddress, startedAtMs };
}

const getPlan = route<PlanDeps>({
  method: 'GET',
  url: '/v1/plans/:id',
  access: 'requests.view',
  isForAgents: true,
  operation: {
    id: 'getPlan',
    summary: 'A plan with the present state of its steps',
    description:
      'For the agent that made it, and for people who may see one of its requests or all requests of the agent. A plan is kept for 30 days after the last of its requests has ended.',
    parameters: [planId],
    replies: { 200: { ...planReply, headers: agentHeaders } },
    problems: ['not_found'],
  },
  handle: async (deps, call) => await planView(deps, call, await findPlan(deps, call, 'view')),
});

const listPlans = route<PlanDeps>({
  method: 'GET',
  url: '/v1/plans',
  access: 'requests.view',
  operation: {
    id: 'listPlans',
    summary: 'Plans, newest first',
    description: 'Those that the caller may see. A page may have fewer items than `limit`.',
    parameters: [
      ...pageParameters,
      queryParameter(
        'agent',
        'Only those of the agent with this id.',
        { type: 'string' },
        planSummaryExample.agent_id,
      ),
      queryParameter(
        'state',
        'Only those in this state.',
        { type: 'string', enum: [...planStates] },
        'pending',
      ),
    ],
    replies: { 200: pageReply('A page of plans', planSummarySchema, planSummaryExample) },
  },
  handle: async (deps, call) => {
    const { countMax, after } = readPage(call.query);
    const { agent: parent, state } = call.query;
    const plans = plansIn(deps.store.documents);
    const items: PlanSummary[] = [];
    let last: PageCursor | null = after;
    for (let looks = 0; looks < looksMax; looks += 1) {
      const page = { after: last, countMax, ...(parent !== undefined && { parent }) };
      const read = (await plans.list(page)).map(({ value }) => value);
      const shown = await Promise.all(read.map((plan) => summaryOf(deps, call, plan)));
      for (const [at, plan] of read.entries()) {
        if (items.length === countMax) return { items, next_cursor: last && cursorOf(last) };
        const summary = shown[at] ?? null;
        last = plan;
        if (summary !== null && (state === undefined || summary.state === state)) items.push(summary);
      }
      if (read.length < countMax) return { items, next_cursor: null };
    }
    return { items, next_cursor: last && cursorOf(last) };
  },
});

/** How many stretches of plans are looked through for one page. */
const looksMax = 10;

interface VotesBody {
  readonly vote: 'approve' | 'reject';
  readonly comment: string;
  readonly steps?: readonly StepVote[];
}

interface StepVote {
  readonly step: number;
  readonly group?: string;
  readonly digest?: string;
}

const commentLengthMax = 2_000;

const voteOnPlan = route<PlanDeps, VotesBody>({
  method: 'POST',
  url: '/v1/plans/:id/votes',
  access: 'requests.reject',
  operation: {
    id: 'voteOnPlan',
    summary: 'Approves or rejects all or some steps of a plan with one comment',
    description:
      'Each step is decided by itself, in order, as by `POST /v1/approvals/votes`: a step with a warning in `review.warnings` is not approved here. Without `steps`, the vote is for each step that waits for people. With `digest`, the vote on a step is recorded only if the step still has this digest.',
    parameters: [planId],
    body: {
      description: 'The vote, its comment, and the steps.',
      schema: objectSchema(
        { vote: { type: 'string', enum: ['approve', 'reject'] }, comment: text(commentLengthMax) },
        {
          steps: {
            type: 'array',
            minItems: 1,
            maxItems: stepsMax,
            items: objectSchema(
              { step: { type: 'integer', minimum: 1, maximum: stepsMax } },
              { group: text(100), digest: text(100) },
            ),
          },
        },
      ),
      examples: { all: { vote: 'approve', comment: 'the monthly invoices' } },
    },
    replies: {
      200: {
        description: 'The result for each step, in order',
        schema: objectSchema({
          items: {
            type: 'array',
            items: objectSchema({ step: { type: 'integer' }, ...voteResultFields, request_id: textOrNull }),
          },
        }),
        example: {
          items: [{ step: 1, request_id: queuedExample.request_id, status: 'approved', refusal: null }],
        },
      },
    },
    problems: ['not_found'],
  },
  handle: async (deps, call) => {
    const { plan } = await findPlan(deps, call, 'reject');
    const { vote, comment, steps = await pendingSteps(deps, plan) } = call.body;
    const items: (Omit<BulkResult, 'request_id'> & StepResult)[] = [];
    for (const chosen of steps) {
      const { step, group = null } = chosen;
      const refusal = whyNotVoted(plan, chosen);
      const id = plan.steps[step - 1]?.requestId ?? null;
      const draft = { caller: callerOf(actorOf(call)), group, comment };
      items.push(
        refusal !== null || id === null
          ? { step, request_id: id, status: null, refusal }
          : { step, ...(await voteOn(deps, call, { id, vote, draft })) },
      );
    }
    return { items };
  },
});

interface StepResult {
  readonly step: number;
  readonly request_id: string | null;
}

/** Why no vote on the step is recorded; null when it may be. */
function whyNotVoted({ steps }: Plan, { step, digest }: StepVote): BulkResult['refusal'] {
  const present = steps[step - 1];
  if (present === undefined) return { code: 'not_found', detail: 'the plan has no such step' };
  if (present.requestId === null) return { code: 'conflict', detail: 'nobody was asked for this step' };
  return digest === undefined || digest === present.digest
    ? null
    : { code: 'conflict', detail: 'the step has another digest' };
}

export const planRoutes: readonly Route<PlanDeps>[] = [createPlan, listPlans, getPlan, voteOnPlan];

interface FoundPlan {
  readonly plan: Plan;
  readonly agent: AgentRow;
}

/** What the caller wants to do with a plan. */
type Right = 'view' | 'reject';

/** The plan that the address names. Throws a ProblemError (404) when there is none, or the caller may not see it. */
async function findPlan(deps: PlanDeps, call: ManagedCall<unknown>, right: Right): Promise<FoundPlan> {
  const { store } = deps;
  const found = await plansIn(store.documents).find(call.params.id ?? '');
  const agent = found === null ? null : await store.agents.find(found.value.agentId);
  if (found === null || agent === null) throw notFound('plan');
  const plan = found.value;
  if (!(await isWithinReach(deps, call, { plan, agent, right }))) throw notFound('plan');
  return { plan, agent };
}

/** Whether the caller may do this with one of the requests of the plan, or with all requests of the agent. */
async function isWithinReach(
  deps: PlanDeps,
  call: ManagedCall<unknown>,
  { plan, agent, right }: FoundPlan & { readonly right: Right },
): Promise<boolean> {
  if (call.agent !== null) return call.agent.id === plan.agentId && call.point?.id === plan.pointId;
  if (isAgentOf(call, agent)) return true;
  const person = callerOf(actorOf(call));
  return (await snapshotsOf(deps, plan)).some((seen) => isWithin(person[right], { person, ...seen }));
}

async function snapshotsOf(
  { store, requestChanges }: PlanDeps,
  { steps }: Plan,
): Promise<readonly RequestSnapshot[]> {
  const histories = await Promise.all(
    steps.map(({ requestId }) => (requestId === null ? null : store.requests.history(requestId))),
  );
  return await requestChanges.snapshots(
    histories.flatMap((one) => (one === null ? [] : [requestStateOf(one)])),
  );
}

async function planView(deps: PlanDeps, call: ManagedCall<unknown>, { plan, agent }: FoundPlan) {
  const seen = await snapshotsOf(deps, plan);
  const byId = new Map(seen.map((one) => [one.state.record.id, one]));
  const requests = call.agent === null ? await visibleRequests(deps, call, seen) : new Map();
  return {
    ...fieldsOf(plan, agent, seen),
    steps: plan.steps.map((step, at) => {
      const { requestId } = step;
      const state = requestId === null ? undefined : byId.get(requestId);
      return {
        step: at + 1,
        action_key: step.actionKey,
        title: step.title,
        decision: step.outcome,
        reason: step.reason,
        matched_policy: step.matchedPolicy,
        risk_score: step.risk,
        digest: step.digest,
        request_id: requestId,
        status: state === undefined ? null : statusAt(state.state, state.nowMs),
        request: (requestId === null ? undefined : requests.get(requestId)) ?? null,
      };
    }),
  };
}

/** The requests that the person may see, as entries of the inbox, by id. */
async function visibleRequests(deps: PlanDeps, call: ManagedCall<unknown>, seen: readonly RequestSnapshot[]) {
  const { documents } = deps.store;
  const nowMs = Math.trunc(deps.clock());
  const marks = {
    assignments: await assignmentsAt(documents, nowMs),
    snoozes: await snoozesOf(documents, actorOf(call).person.id, nowMs),
  };
  const visible = seen.filter((one) => isVisibleTo(call, one));
  const views = await queuedViews(deps, call, { seen: visible, marks });
  return new Map(views.map((view) => [view.request_id, view]));
}

type PlanSummary = ReturnType<typeof fieldsOf> & { readonly steps: number };

async function summaryOf(
  deps: PlanDeps,
  call: ManagedCall<unknown>,
  plan: Plan,
): Promise<PlanSummary | null> {
  const agent = await deps.store.agents.find(plan.agentId);
  if (agent === null || !(await isWithinReach(deps, call, { plan, agent, right: 'view' }))) return null;
  const isOver = plan.untilMs === null || plan.untilMs <= deps.clock();
  const seen = isOver ? [] : await snapshotsOf(deps, plan);
  return { ...fieldsOf(plan, agent, seen), steps: plan.steps.length };
}

function fieldsOf(plan: Plan, agent: AgentRow, seen: readonly RequestSnapshot[]) {
  const wanted = plan.steps.filter(({ outcome }) => outcome !== 'DENY');
  const pending = seen.filter(isPending).length;
  return {
    plan_id: plan.id,
    agent_id: plan.agentId,
    agent: agent.name,
    goal: plan.goal,
    submitted: plan.isSubmitted,
    created_at: isoTime(plan.createdAtMs),
    expires_at: isoTimeOrNull(plan.untilMs),
    sums: sumsOf(wanted.flatMap(({ amounts }) => amounts)),
    pending,
    state: stateOf(plan, pending),
  };
}

function stateOf({ isSubmitted }: Plan, pending: number): (typeof planStates)[number] {
  return !isSubmitted ? 'preview' : pending > 0 ? 'pending' : 'decided';
}

function isPending({ state, nowMs }: RequestSnapshot): boolean {
  return statusAt(state, nowMs) === 'pending';
}

async function pendingSteps(deps: PlanDeps, plan: Plan): Promise<readonly StepVote[]> {
  const pending = new Set(
    (await snapshotsOf(deps, plan)).filter(isPending).map(({ state }) => state.record.id),
  );
  return plan.steps.flatMap(({ requestId }, at) =>
    requestId !== null && pending.has(requestId) ? [{ step: at + 1 }] : [],
  );
}
