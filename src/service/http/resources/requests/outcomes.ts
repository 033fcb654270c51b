// Reports of what became of grants, by the callers that asked for them, one at a time or many together, or by
// a person.

import type { JsonObject } from '../../../../language/model/json.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { ChangeResult } from '../../../requests/approvals/change-request.ts';
import type { Decisions } from '../../../requests/decisions.ts';
import { callerOf } from '../../auth/request-rights.ts';
import { objectSchema } from '../../contract/schemas.ts';
import { actorOf, callerIn, type ManagedCall, type Route, route } from '../../routing/route.ts';
import { detailOf } from './approval-result.ts';
import { detailExample, detailSchema } from './request-view.ts';
import { requestId } from './requests.ts';
import type { Reviews } from './reviews.ts';

interface OutcomeDeps {
  readonly signInDeps: SignInDeps;
  readonly decisions: Decisions;
  readonly reviews: Reviews;
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
    const { areAgentReportsTrusted, decisions } = deps;
    const { executed, result } = call.body;
    const id = call.params.id ?? '';
    const mayRelease = call.agent === null || releases(call, areAgentReportsTrusted);
    const by = call.agent === null ? { person: callerOf(actorOf(call)) } : callerIn(call);
    const reported = await decisions.report(id, { executed, ...(result && { result }), by, mayRelease });
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

interface OutcomesBody {
  readonly outcomes: readonly {
    readonly request_id: string;
    readonly executed: boolean;
    readonly result?: JsonObject;
  }[];
}

const outcomesMax = 100;

const results = ['reported', 'request_not_found', 'conflict', 'invalid_result'] as const;

const reportOutcomes = route<OutcomeDeps, OutcomesBody>({
  method: 'POST',
  url: '/v1/outcomes',
  access: 'agent',
  operation: {
    id: 'reportOutcomes',
    summary: 'Reports the outcomes of several grants',
    description: `Like \`reportOutcome\`, for up to ${outcomesMax} grants. Each report is processed separately.`,
    body: {
      description: 'For each grant, whether the action was carried out.',
      schema: objectSchema({
        outcomes: {
          type: 'array',
          minItems: 1,
          maxItems: outcomesMax,
          items: objectSchema(
            { request_id: { type: 'string' }, executed: { type: 'boolean' } },
            { result: resultSchema },
          ),
        },
      }),
      examples: { two: { outcomes: [{ request_id: detailExample.request_id, executed: true }] } },
    },
    replies: {
      200: {
        description: 'The result of each report, in order',
        schema: objectSchema({
          items: {
            type: 'array',
            items: objectSchema({
              request_id: { type: 'string' },
              result: { type: 'string', enum: results },
            }),
          },
        }),
        example: { items: [{ request_id: detailExample.request_id, result: 'reported' }] },
        headers: ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'],
      },
    },
  },
  handle: async ({ areAgentReportsTrusted, decisions }, call) => {
    const by = callerIn(call);
    const mayRelease = releases(call, areAgentReportsTrusted);
    const reports = call.body.outcomes.map(async ({ request_id, executed, result }) => {
      const changed = await decisions.report(request_id, {
        executed,
        ...(result && { result }),
        by,
        mayRelease,
      });
      return { request_id, result: resultOf(changed) };
    });
    return { items: await Promise.all(reports) };
  },
});

export const outcomeRoutes: readonly Route<OutcomeDeps>[] = [reportOutcome, reportOutcomes];

function resultOf({ kind }: ChangeResult): (typeof results)[number] {
  if (kind === 'changed') return 'reported';
  if (kind === 'invalid-result') return 'invalid_result';
  return kind === 'unknown' ? 'request_not_found' : 'conflict';
}
