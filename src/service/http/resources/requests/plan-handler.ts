// Turns the call of an agent that tells a plan into its result, after the caller is identified and its body read.
// INVARIANT: the caller is identified again after the last byte of the body, a plan with a fault in one step is refused
// as a whole, and no reply leaves before the record of the plan.

import { stoppedText } from '../../../requests/approvals/change-request.ts';
import type { PlanDraft, Planner, PlanResult, RefusedPlan } from '../../../requests/plans/make-plan.ts';
import { replyView } from '../../../requests/record/reply.ts';
import { freshState } from '../../../requests/record/request-state.ts';
import { conflict } from '../../auth/auth-refusals.ts';
import { callerText } from '../../auth/sent-token.ts';
import { type Envelope, readEnvelope } from '../../contract/envelope.ts';
import { ProblemError, type ProblemLocation } from '../../contract/problem.ts';
import {
  type AuthorizeCall,
  type AuthorizeHandlerOptions,
  checkedInput,
  notAllowedNow,
  readOnBehalf,
  tooManyInFlight,
} from './authorize-handler.ts';

export interface PlanHandler {
  /** Rejects with an error that `toProblem` takes. */
  readonly make: (call: AuthorizeCall, body: Buffer, plan: PlanBody) => Promise<MadePlan>;
}

export type MadePlan = Extract<PlanResult, { readonly kind: 'made' }>;

export interface PlanBody {
  readonly goal?: string | null;
  readonly submit?: boolean;
  readonly steps: readonly { readonly action_key: string; readonly payload: object }[];
}

export interface PlanHandlerOptions extends Omit<AuthorizeHandlerOptions, 'authorizer'> {
  readonly planner: Planner;
}

export function createPlanHandler(options: PlanHandlerOptions): PlanHandler {
  const { planner, shares, identifyAgain, metrics } = options;
  return {
    async make(call, body, plan) {
      const holder = call.identity.agent.id;
      if (!shares.enter(holder)) throw tooManyInFlight();
      try {
        const steps = stepsOf(plan);
        const onBehalf = await readOnBehalf(call, options);
        const identity = await identifyAgain(callerText(call.headers), call.identity);
        const caller = checkedInput({ call, body, envelope: steps[0]!, onBehalf }, identity, options);
        const draft: PlanDraft = {
          caller,
          goal: plan.goal ?? null,
          isSubmitted: plan.submit ?? false,
          steps,
        };
        const made = await planner.plan(draft);
        if (made.kind !== 'made') throw refused(made);
        for (const { record } of made.decided) {
          const { decision, matched_policy: matchedPolicy } = replyView(
            freshState(record),
            record.createdAtMs,
          );
          const { actionKey } = record;
          metrics.decided({ decision, matchedPolicy, actionKey }, record.timing.decideMicroseconds);
        }
        return made;
      } finally {
        shares.leave(holder);
      }
    },
  };
}

/** The steps as calls. Throws a ProblemError that names each fault by the index of its step. */
function stepsOf({ steps }: PlanBody): readonly Envelope[] {
  const read = steps.map((step) => readEnvelope(step as never));
  const errors = read.flatMap((one, at) =>
    one.ok ? [] : one.errors.map(({ pointer, detail }) => ({ pointer: `/steps/${at}${pointer}`, detail })),
  );
  if (errors.length > 0) throw invalidSteps(errors);
  return read.flatMap((one) => (one.ok ? [one.envelope] : []));
}

function invalidSteps(errors: readonly ProblemLocation[]): ProblemError {
  const [first] = errors;
  const detail = first === undefined ? 'a step is invalid' : `\`${first.pointer}\`: ${first.detail}`;
  return new ProblemError('invalid_body', detail, { errors: errors.slice(0, errorsMax) });
}

const errorsMax = 50;

function refused(result: RefusedPlan): ProblemError {
  switch (result.kind) {
    case 'stopped':
      return new ProblemError('stopped', `\`/steps/${result.step}\`: ${stoppedText}`);
    case 'invalid':
      return invalidSteps(
        result.issues.map(({ step, field, pointer, message: detail }) => ({
          pointer: `/steps/${step}/${field}${pointer}`,
          detail,
        })),
      );
    case 'too-few-uses':
      return conflict(
        `the delegation \`${result.delegation}\` has fewer uses left than steps of the plan need people`,
      );
    case 'idempotency-mismatch':
      return new ProblemError('idempotency_mismatch', 'this key was used with another body');
    case 'too-many-open':
      return new ProblemError('too_many_open_requests', 'wait until earlier requests are decided');
    case 'not-allowed-now':
      return notAllowedNow(result);
  }
}
