// The tool `writ_plan`, which the proxy offers where the operator has switched it on: a model tells the calls of a task
// before it makes them, and people decide them together. INVARIANT: a plan reaches no server and grants nothing; each
// call is decided by itself when it is made.

import type { Plan, PlanStep } from '../../typescript/client.ts';
import { DeniedError } from '../../typescript/client.ts';
import { completed, eraOf } from '../protocol/eras.ts';
import {
  errorAnswer,
  errorCodes,
  isObject,
  type Json,
  type JsonObject,
  type RpcRequest,
  type RpcResponse,
  resultAnswer,
} from '../protocol/messages.ts';
import { type Target, targetOf } from '../protocol/targets.ts';
import type { AskingOptions, Authority } from './authority.ts';

export const planToolName = 'writ_plan';

export const planTool = {
  name: planToolName,
  title: 'Plan several calls',
  description:
    'Tells the calls of a task before you make them, and asks people once for all calls that need an approval. Nothing is carried out. Afterwards make each call with exactly the same arguments; a call with other arguments needs its own approval.',
  inputSchema: {
    type: 'object',
    required: ['steps'],
    additionalProperties: false,
    properties: {
      goal: {
        type: 'string',
        maxLength: 500,
        description: 'What the task is for, for the people who decide.',
      },
      steps: {
        type: 'array',
        minItems: 1,
        maxItems: 50,
        description: 'The calls in their order.',
        items: {
          type: 'object',
          required: ['tool', 'arguments'],
          additionalProperties: false,
          properties: {
            tool: { type: 'string', description: 'The name of a tool of this server.' },
            arguments: { type: 'object', description: 'Its arguments, exactly as they will be sent.' },
          },
        },
      },
      preview: { type: 'boolean', description: 'Only show what would be decided, and ask nobody.' },
    },
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
} as const satisfies JsonObject;

export interface PlanSurroundings {
  readonly authority: Pick<Authority, 'plan'>;
  /** The action of a tool, or why there is none. */
  readonly actionOf: (target: Target) => Promise<string | { readonly why: string }>;
}

export async function answerPlan(
  request: RpcRequest,
  { authority, actionOf }: PlanSurroundings,
  asking: Omit<AskingOptions, 'waitMs'>,
): Promise<RpcResponse> {
  const given = request.params?.arguments;
  const read = readArguments(isObject(given) ? given : {});
  if (typeof read === 'string') return errorAnswer(request.id, errorCodes.invalidParams, read);
  const steps: { readonly action: string; readonly payload: JsonObject }[] = [];
  for (const [at, target] of read.targets.entries()) {
    const action = await actionOf(target);
    if (typeof action !== 'string')
      return errorAnswer(request.id, errorCodes.invalidParams, `step ${at + 1}: ${action.why}`);
    steps.push({ action, payload: target.payload });
  }
  const { goal, submit, targets } = read;
  try {
    const plan = await authority.plan({ ...(goal === null ? {} : { goal }), submit, steps }, asking);
    return planned(request, plan, targets);
  } catch (error) {
    if (!(error instanceof DeniedError)) throw error;
    const text = `The plan was not taken: ${error.decision.reason} (${error.decision.policy}). Nobody was asked.`;
    return answered(request, { content: [{ type: 'text', text }], isError: true });
  }
}

interface PlanArguments {
  readonly goal: string | null;
  readonly submit: boolean;
  readonly targets: readonly Target[];
}

const known: ReadonlySet<string> = new Set(['goal', 'steps', 'preview']);

/** The arguments of the tool, or what is wrong with them. */
function readArguments(given: JsonObject): PlanArguments | string {
  const { goal = null, steps, preview = false } = given;
  const unknown = Object.keys(given).find((name) => !known.has(name));
  if (unknown !== undefined) return `unknown argument: ${unknown}`;
  if (goal !== null && typeof goal !== 'string') return '`goal` is a text';
  if (typeof preview !== 'boolean') return '`preview` is true or false';
  if (!Array.isArray(steps) || steps.length === 0) return '`steps` is a list of calls';
  const targets: Target[] = [];
  for (const [at, step] of (steps as readonly Json[]).entries()) {
    const target = isObject(step) ? targetOfStep(step) : 'a step is an object';
    if (typeof target === 'string') return `step ${at + 1}: ${target}`;
    targets.push(target);
  }
  return { goal, submit: !preview, targets };
}

function targetOfStep({ tool, arguments: given, ...rest }: JsonObject): Target | string {
  if (Object.keys(rest).length > 0) return 'a step has `tool` and `arguments` and nothing else';
  if (tool === planToolName) return 'a plan cannot be a step';
  const target = targetOf('tools/call', { name: tool ?? null, arguments: given ?? null });
  return target === null || typeof target === 'string'
    ? 'a step has a `tool`, and `arguments` that are an object'
    : target;
}

function planned(request: RpcRequest, plan: Plan, targets: readonly Target[]): RpcResponse {
  const steps = plan.steps.map((step, at) => ({ tool: targets[at]?.name ?? '', step }));
  const lines = steps.map(({ tool, step }, at) => `${at + 1}. ${tool}: ${wordsFor(step)}`);
  const next =
    plan.pending > 0
      ? `${plan.pending} of ${plan.steps.length} steps wait for people, who decide at ${plan.url}. Make each call with the same arguments once you need it: it waits for the decision, and goes on with the approval.`
      : 'Nobody was asked. Make each call with the same arguments: it is decided when it is made.';
  const structuredContent = {
    plan_id: plan.id,
    url: plan.url,
    pending: plan.pending,
    steps: steps.map(({ tool, step }) => ({
      tool,
      decision: step.decision,
      reason: step.reason,
      request_id: step.requestId,
      status: step.status,
    })),
  };
  const text = [...lines, '', next].join('\n');
  return answered(request, { content: [{ type: 'text', text }], structuredContent });
}

function wordsFor({ decision, reason, status }: PlanStep): string {
  if (status === 'pending') return `waits for people (${reason})`;
  switch (decision) {
    case 'ALLOW':
      return 'would be allowed';
    case 'ESCALATE':
      return `would need an approval (${reason})`;
    case 'REAUTH_REQUIRED':
      return `would need a step-up (${reason})`;
    default:
      return `would be refused (${reason})`;
  }
}

function answered(request: RpcRequest, result: JsonObject): RpcResponse {
  return resultAnswer(request.id, completed(eraOf(request.params), result));
}
