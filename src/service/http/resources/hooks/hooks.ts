// POST /v1/hooks/claude-code: takes what Claude Code sends to an HTTP hook as it is, so that a coding agent
// is set up by its settings alone. INVARIANT: whatever goes wrong once the caller is known is answered by
// `deny`, since the host runs the tool when a hook fails, unless its settings forbid that; the answer is
// never `ask`, which would let the person at the terminal decide.

import type { FastifyRequest } from 'fastify';
import type { JsonObject } from '../../../../language/model/json.ts';
import { readResult } from '../../../../language/value/reported-result.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { RequestView } from '../../../requests/record/reply.ts';
import type { AgentCaller } from '../../../requests/record/request-state.ts';
import type { CallReport, NamedCall } from '../../../requests/report-call.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import { invalidBody } from '../../auth/auth-refusals.ts';
import { toProblem } from '../../connection/error-replies.ts';
import type { Parameter } from '../../contract/operation.ts';
import { ProblemError, problems } from '../../contract/problem.ts';
import { callerIn, type ManagedCall, type Route, route } from '../../routing/route.ts';
import { type AuthorizeCall, type AuthorizeHandler, scopedText } from '../requests/authorize-handler.ts';
import type { RefusalHints } from '../requests/refusal-hints.ts';
import type { Waits } from '../requests/wait.ts';
import { type PendingDeps, whilePending } from '../requests/wait-for-decision.ts';
import {
  type ClaudeEvent,
  claudeCall,
  type HookedCall,
  hookJsonLimits,
  returnedToClaude,
} from './claude-code.ts';

interface HookDeps extends PendingDeps {
  readonly authorizeHandler: AuthorizeHandler;
  readonly refusalHintOf: RefusalHints;
  readonly waits: Waits;
  readonly requestChanges: RequestChanges;
  readonly policies: Pick<PolicyHost, 'current'>;
}

/** Seconds to wait for people. Claude Code gives a hook 60 seconds by default. */
const waitSecondsDefault = 50;

const parameters: readonly Parameter[] = [
  {
    name: 'escalate',
    in: 'query',
    isRequired: false,
    description:
      'The reply while people decide: `deny` with the address of the request, or `defer`, which pauses a run started with `-p` until it is resumed.',
    schema: { type: 'string', enum: ['deny', 'defer'] },
    example: 'defer',
  },
  {
    name: 'allow',
    in: 'query',
    isRequired: false,
    description: "`skip` skips the host's own permission prompts for granted calls.",
    schema: { type: 'string', enum: ['skip'] },
    example: 'skip',
  },
  {
    name: 'wait',
    in: 'query',
    isRequired: false,
    description: `How many seconds to wait for people: at most 55, default ${waitSecondsDefault}. Must be less than the \`timeout\` of the hook.`,
    schema: { type: 'string' },
    example: '20',
  },
];

const text = { type: 'string', minLength: 1, maxLength: 200 } as const;

const claudeCodeHook = route<HookDeps, ClaudeEvent>({
  method: 'POST',
  url: '/v1/hooks/claude-code',
  access: 'agent',
  bodyMax: hookJsonLimits,
  operation: {
    id: 'claudeCodeHook',
    summary: 'Decides a tool call of Claude Code',
    description:
      'Takes the body of a `PreToolUse` hook unchanged: `mcp__files__read_file` is the action `files.read_file`, the tool `Bash` is `claude_code.Bash`, and `tool_input` is the payload. A `PostToolUse` or `PostToolUseFailure` hook reports that the tool ran, and from `tool_response` the fields of the result that the action declares; the reply to it is an empty object. For refused requests, kill switches and errors, the reply is 200 with `deny`.',
    parameters,
    body: {
      description: 'The hook event; other fields are ignored.',
      schema: {
        type: 'object',
        required: ['hook_event_name', 'session_id', 'tool_name', 'tool_input'],
        properties: {
          hook_event_name: { type: 'string', enum: ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'] },
          session_id: text,
          tool_name: text,
          tool_input: { type: 'object', additionalProperties: true },
          tool_use_id: text,
          tool_response: { description: 'What the tool returned, in the event `PostToolUse`.' },
        },
      },
      examples: {
        bash: {
          hook_event_name: 'PreToolUse',
          session_id: 'b1d1',
          tool_name: 'Bash',
          tool_input: { command: 'ls' },
          tool_use_id: 'toolu_1',
        },
        returned: {
          hook_event_name: 'PostToolUse',
          session_id: 'b1d1',
          tool_name: 'mcp__web__fetch',
          tool_input: { url: 'https://example.com' },
          tool_use_id: 'toolu_2',
          tool_response: '{"trusted":false}',
        },
      },
    },
    replies: {
      200: {
        description: 'The instruction for the host; an empty object if the tool may run',
        schema: {
          type: 'object',
          additionalProperties: false,
          properties: {
            hookSpecificOutput: {
              type: 'object',
              additionalProperties: false,
              required: ['hookEventName', 'permissionDecision', 'permissionDecisionReason'],
              properties: {
                hookEventName: { type: 'string', enum: ['PreToolUse'] },
                permissionDecision: { type: 'string', enum: ['allow', 'deny', 'defer'] },
                permissionDecisionReason: { type: 'string' },
              },
            },
          },
        },
        example: {},
        headers: ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires', 'Preference-Applied'],
      },
    },
  },
  handle: async (deps, call) => {
    const hooked = claudeCall(call.body);
    if (hooked === null)
      return output('deny', 'Nothing was granted: the name of the MCP server is reserved.');
    if (call.body.hook_event_name !== 'PreToolUse') return await reported(deps, call, hooked);
    const hookCall = callOf(call.request, hooked);
    try {
      return shown(call, await decided(deps, call, { call: hookCall, hooked }));
    } catch (error) {
      return await failed(deps, { error, call: hookCall }, call.request);
    }
  },
});

export const hookRoutes: readonly Route<HookDeps>[] = [claudeCodeHook];

interface HookReply {
  readonly call: AuthorizeCall;
  readonly hooked: HookedCall;
}

async function decided(
  deps: HookDeps,
  { request, reply, agent, query }: ManagedCall<ClaudeEvent>,
  { call: authorizeCall, hooked }: HookReply,
): Promise<RequestView> {
  const { actionKey: action_key, payload } = hooked;
  const wait = deps.waits.begin({ request, reply }, agent?.id ?? '', waitSecondsOf(query.wait));
  const body = Buffer.from(JSON.stringify({ action_key, payload }));
  const answer = await deps.authorizeHandler.decide(authorizeCall, body);
  const view = await whilePending(deps, answer, { call: authorizeCall, wait });
  return (await deps.refusalHintOf({ view, input: answer.input })).view;
}

function waitSecondsOf(text: string | undefined): number {
  if (text === undefined) return waitSecondsDefault;
  if (/^\d{1,2}$/.test(text)) return Number(text);
  throw new ProblemError('invalid_query', '`wait` must be a whole number of seconds');
}

/** The call, as if the host had asked for the decision itself. */
function callOf(request: FastifyRequest, { session, idempotencyKey }: HookedCall): AuthorizeCall {
  const { identity, headers, url, id, clientAddress, startedAtMs } = request;
  if (identity === null) throw new Error('the hook call has no agent');
  const sessionId = sessionOf(identity, session);
  const hookHeaders = {
    ...headers,
    prefer: 'attach',
    ...(sessionId === null ? {} : { 'x-agent-session': sessionId }),
    ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
  };
  return { identity, headers: hookHeaders, url, id, clientAddress, startedAtMs };
}

/**
 * A host names another session after `/clear` and for another run, and an agent can start another run. So the session of
 * a point is that of its agent.
 */
function sessionOf({ point, agent }: AgentCaller, session: string | null): string | null {
  return point === undefined ? session : `agent-${agent.id}`;
}

type PermissionDecision = 'allow' | 'deny' | 'defer';

function output(word: PermissionDecision, reason: string) {
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse' as const,
      permissionDecision: word,
      permissionDecisionReason: reason,
    },
  };
}

function shown({ query }: ManagedCall<unknown>, view: RequestView) {
  if (view.decision === 'ALLOW' && view.status === 'auto_approved')
    return query.allow === 'skip' ? output('allow', view.reason) : {};
  if (view.status === 'pending') {
    const reason = `${view.message} Nothing was carried out. Make the same call again to go on.`;
    return output(query.escalate === 'defer' ? 'defer' : 'deny', reason);
  }
  return output('deny', view.message);
}

/** Records a refusal as `POST /v1/authorize` records the same refusal, and answers `deny`. */
async function failed(
  { authorizeHandler }: HookDeps,
  { error, call: asked }: { readonly error: unknown; readonly call: AuthorizeCall },
  request: FastifyRequest,
) {
  const problem = toProblem(error);
  const { status } = problems[problem.code];
  request.server.metrics.refused(problem.code);
  if (status >= 500) request.log.error({ err: problem.cause ?? problem, code: problem.code }, 'hook failed');
  await authorizeHandler.refuse(problem, asked, Buffer.isBuffer(request.body) ? request.body : null);
  return output('deny', `Nothing was granted: ${problem.message} (${problem.code}).`);
}

/**
 * Reports that the tool has run, and what it returned, before the reply. A call that is not known is ignored. A result
 * that does not have the declared shape is reported as none.
 */
async function reported(
  { requestChanges, policies }: HookDeps,
  call: ManagedCall<ClaudeEvent>,
  hooked: HookedCall,
) {
  const by = callerIn(call);
  const named = namedCall(by, hooked);
  const ran = { executed: true, by, mayRelease: false };
  const fields =
    policies
      .current()
      .resultShapeOf(hooked.actionKey)
      ?.fields.map(({ name }) => name) ?? [];
  const changed = await requestChanges.reportCall(named, { ...ran, ...resultIn(fields, call.body) });
  if (changed.kind === 'invalid-result')
    await requestChanges.reportCall(named, { ...ran, fault: 'mistyped' });
  return {};
}

/** The result to report, or why there is none. */
function resultIn(fields: readonly string[], event: ClaudeEvent): Pick<CallReport, 'result' | 'fault'> {
  const returned = returnedToClaude(event);
  const result = returned === null || fields.length === 0 ? 'missing' : readResult(fields, returned);
  return typeof result === 'string' ? { fault: result } : { result: result as JsonObject };
}

/** The call, as its request was recorded. */
function namedCall(by: AgentCaller, { actionKey, payload, session, idempotencyKey }: HookedCall): NamedCall {
  const sessionId = sessionOf(by, session);
  return {
    actionKey,
    payload,
    session: sessionId === null ? null : scoped(by, sessionId),
    idempotencyKey: idempotencyKey === null ? null : scoped(by, idempotencyKey),
  };
}

function scoped({ point }: AgentCaller, text: string): string {
  const inScope = scopedText(point, text);
  if (inScope === null) throw invalidBody({ kind: 'invalid', problems: [reservedSession] });
  return inScope;
}

const reservedSession = {
  field: 'session_id',
  detail: 'only sessions of enforcement points can start with `point:`',
};
