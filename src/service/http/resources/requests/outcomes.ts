// Reports of what became of grants, by the callers that asked for them, one at a time or many together, or by
// a person.

import type { JsonObject } from '../../../../language/model/json.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { ChangeResult } from '../../../requests/approvals/change-request.ts';
import type { CallReport, NamedCall } from '../../../requests/report-call.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import type { StandingApprovals } from '../../../requests/standing/standing-approvals.ts';
import { invalidBody } from '../../auth/auth-refusals.ts';
import { callerOf } from '../../auth/request-rights.ts';
import { objectSchema } from '../../contract/schemas.ts';
import {
  actorOf,
  callerIn,
  type ManagedCall,
  payloadBodyMax,
  type Route,
  route,
} from '../../routing/route.ts';
import { detailOf } from './approval-result.ts';
import { scopedHeader, scopedText } from './authorize-handler.ts';
import { detailExample, detailSchema } from './request-view.ts';
import { requestId } from './requests.ts';
import type { Reviews } from './reviews.ts';

interface OutcomeDeps {
  readonly signInDeps: SignInDeps;
  readonly requestChanges: RequestChanges;
  readonly reviews: Reviews;
  readonly standingApprovals: StandingApprovals;
  /**
   * Whether a grant leaves the meters when only its agent reports that it did not use the grant, as it does
   * when an enforcement point that may release reports so.
   */
  readonly areAgentReportsTrusted: boolean;
}

/** The result of a call, in the shape that its action declares. */
const resultSchema = { type: 'object', additionalProperties: true } as const;

const reportOutcome = route<OutcomeDeps, { executed: boolean; result?: JsonObject }>({
  method: 'POST',
  url: '/v1/requests/:id/outcome',
  access: 'requests.report',
  isForAgents: true,
  operation: {
    id: 'reportOutcome',
    summary: 'Reports the outcome of a grant, which ends the grant',
    description:
      'For the agent that sent the request, and for people. `"executed": true` can be reported late, `"executed": false` only before `expires_at`. A report of `false` also removes the grant from the meters: always from a person, from an enforcement point only with `may_release`, and from the agent only with the setting `meters.trust_agent_reports`. Repeating a report changes nothing. `result` is the result of the call, in the declared shape of the action; meters that read it are unknown until it is reported.',
    parameters: [requestId],
    body: {
      description: 'Whether the action was carried out, and what it returned.',
      schema: objectSchema({ executed: { type: 'boolean' } }, { result: resultSchema }),
      examples: { done: { executed: true }, returned: { executed: true, result: { rows: 12 } } },
    },
    replies: {
      200: {
        description: 'The request',
        schema: detailSchema,
        example: detailExample,
        headers: ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'],
      },
    },
    problems: ['request_not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const { areAgentReportsTrusted, requestChanges } = deps;
    const { executed, result } = call.body;
    const id = call.params.id ?? '';
    const mayRelease = call.agent === null || releases(call, areAgentReportsTrusted);
    const by = call.agent === null ? { person: callerOf(actorOf(call)) } : callerIn(call);
    const reported = await requestChanges.report(id, { executed, ...(result && { result }), by, mayRelease });
    return await detailOf(deps, call, reported);
  },
});

/**
 * Whether the report of a program that a grant is not used takes it out of the meters. A point answers for itself alone:
 * what agents' own reports count for says nothing of it.
 */
function releases({ point }: Pick<ManagedCall<unknown>, 'point'>, areAgentReportsTrusted: boolean): boolean {
  return point === undefined ? areAgentReportsTrusted : point.mayRelease === true;
}

/** A report names its grant by the request, or by the call. */
interface ReportedOutcome {
  readonly request_id?: string;
  readonly call?: {
    readonly action_key: string;
    readonly payload: JsonObject;
    readonly idempotency_key?: string;
  };
  readonly report_id?: string;
  readonly executed: boolean;
  readonly result?: JsonObject;
}

interface OutcomesBody {
  readonly outcomes: readonly ReportedOutcome[];
}

const outcomesMax = 100;

const results = ['reported', 'request_not_found', 'conflict', 'invalid_result'] as const;

const name = { type: 'string', minLength: 1, maxLength: 255 } as const;

const callSchema = objectSchema(
  { action_key: { type: 'string' }, payload: { type: 'object', additionalProperties: true } },
  { idempotency_key: name },
);

const reportOutcomes = route<OutcomeDeps, OutcomesBody>({
  method: 'POST',
  url: '/v1/outcomes',
  access: 'agent',
  bodyMax: payloadBodyMax,
  operation: {
    id: 'reportOutcomes',
    summary: 'Reports the outcomes of several grants',
    description: `Like \`reportOutcome\`, for up to ${outcomesMax} grants. Each report is processed separately. A report has \`request_id\` or \`call\`. A \`call\` is for callers that have lost the id: it means the latest grant for exactly this action and payload, in the session of the header \`X-Agent-Session\`, whose outcome is not reported; or, with \`idempotency_key\`, the grant of the request with that key. Each report takes one grant. The same report with the same \`report_id\` changes nothing.`,
    body: {
      description: 'For each grant, whether the action was carried out.',
      schema: objectSchema({
        outcomes: {
          type: 'array',
          minItems: 1,
          maxItems: outcomesMax,
          items: objectSchema(
            { executed: { type: 'boolean' } },
            { request_id: { type: 'string' }, call: callSchema, report_id: name, result: resultSchema },
          ),
        },
      }),
      examples: {
        two: { outcomes: [{ request_id: detailExample.request_id, executed: true }] },
        call: {
          outcomes: [
            {
              call: { action_key: 'web.fetch', payload: { url: 'https://example.com' } },
              executed: true,
              result: { trusted: false },
            },
          ],
        },
      },
    },
    replies: {
      200: {
        description: 'The result of each report, in order',
        schema: objectSchema({
          items: {
            type: 'array',
            items: objectSchema(
              { result: { type: 'string', enum: results } },
              { request_id: { type: 'string', description: 'Absent if no grant was found for a call.' } },
            ),
          },
        }),
        example: { items: [{ request_id: detailExample.request_id, result: 'reported' }] },
        headers: ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'],
      },
    },
  },
  handle: async (deps, call) => {
    const reports = call.body.outcomes.map((outcome, at) => reportFor(call, outcome, at));
    const mayRelease = releases(call, deps.areAgentReportsTrusted);
    const reported = reports.map(({ named, outcome: { executed, result, report_id: reportId } }) => {
      const report = { executed, ...(result && { result }), ...(reportId !== undefined && { reportId }) };
      return reportOne(deps, named, { ...report, by: callerIn(call), mayRelease });
    });
    return { items: await Promise.all(reported) };
  },
});

interface NamedReport {
  /** The id of the request, or the call. */
  readonly named: string | NamedCall;
  readonly outcome: ReportedOutcome;
}

/** The report as sent, with what it names. Throws a ProblemError when it names nothing, or two things. */
function reportFor(call: ManagedCall<OutcomesBody>, outcome: ReportedOutcome, at: number): NamedReport {
  const { request_id: id, call: called } = outcome;
  const problem = (field: string, detail: string) =>
    invalidBody({ kind: 'invalid', problems: [{ field: `outcomes/${at}${field}`, detail }] });
  if ((id === undefined) === (called === undefined))
    throw problem('', 'exactly one of `request_id` and `call` is required');
  if (called === undefined) return { named: id ?? '', outcome };
  const { point } = callerIn(call);
  const { action_key: actionKey, payload, idempotency_key: key } = called;
  const idempotencyKey = key === undefined ? null : scopedText(point, key);
  if (key !== undefined && idempotencyKey === null)
    throw problem('/call/idempotency_key', 'only keys of enforcement points can start with `point:`');
  const session = scopedHeader(call.request, { ...(point && { point }) }, 'x-agent-session');
  return { named: { actionKey, payload, session, idempotencyKey }, outcome };
}

async function reportOne({ requestChanges }: OutcomeDeps, named: NamedReport['named'], report: CallReport) {
  const changed =
    typeof named === 'string'
      ? await requestChanges.report(named, report)
      : await requestChanges.reportCall(named, report);
  const id = typeof named === 'string' ? named : 'state' in changed ? changed.state.record.id : undefined;
  return { ...(id !== undefined && { request_id: id }), result: resultOf(changed) };
}

export const outcomeRoutes: readonly Route<OutcomeDeps>[] = [reportOutcome, reportOutcomes];

function resultOf({ kind }: ChangeResult): (typeof results)[number] {
  if (kind === 'changed') return 'reported';
  if (kind === 'invalid-result') return 'invalid_result';
  return kind === 'unknown' ? 'request_not_found' : 'conflict';
}
