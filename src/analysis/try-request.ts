// Decides a request by a policy set, or reports what is wrong with the request or the policies. Nothing is
// recorded, no meter is changed, and nothing is granted.

import { unknownApprovers, whomText } from '../language/model/approvers.ts';
import { type Decision, defaultValidForSeconds, gates, type Outcome } from '../language/model/decision.ts';
import { exceptText } from '../language/model/describe.ts';
import type { Json, JsonObject } from '../language/model/json.ts';
import { fromNumber } from '../language/value/decimal.ts';
import { formatDuration } from '../language/value/time.ts';
import { describeApprovers } from '../service/requests/record/reply.ts';
import { clauseViews } from './clause-views.ts';
import { decideWithTrace, type PlaygroundDecision } from './decide-with-trace.ts';
import { locateDiagnostics } from './located-diagnostics.ts';
import type { PlaygroundInputs, TriedDecision, TryResult } from './playground-questions.ts';
import { underChain } from './policies-under-chain.ts';
import { factsOfRecord, type RecordedRequest } from './records/recorded-request.ts';
import { gateIssues, readGiven } from './request-input.ts';
import type { EditedPolicies } from './workspace.ts';

export function tryRequest(laid: EditedPolicies, request: PlaygroundInputs['try']['request']): TryResult {
  const { diagnostics, policies, sourceOf } = laid;
  const nothing: TryResult = {
    diagnostics: locateDiagnostics(diagnostics, sourceOf),
    issues: [],
    digested: [],
    decision: null,
    guarantees: clauseViews(laid),
  };
  if (request !== null && 'recorded' in request)
    return { ...nothing, ...tryRecorded(laid, request.recorded) };
  if (request === null || policies === null) return nothing;
  const { facts, issues } = readGiven(request.given, policies.set, Date.now());
  if (facts === null) return { ...nothing, issues };
  const decided = decideWithTrace(policies, facts, { isRecorded: false });
  return { ...nothing, issues: gateIssues(facts, policies.set), decision: viewOf(decided) };
}

function tryRecorded(laid: EditedPolicies, record: RecordedRequest): Partial<TryResult> {
  const digested = digestedIn(record.payload);
  if (laid.policies === null) return { digested };
  const { policies } = underChain({ policies: laid.policies, sourceOf: laid.sourceOf }, record.chain);
  const facts = factsOfRecord(record);
  const decision = viewOf(decideWithTrace(policies, facts, { isRecorded: true }));
  // A digest is not what was sent, so its form is not an issue.
  return { digested, decision, issues: digested.length > 0 ? [] : gateIssues(facts, policies.set) };
}

/** JSON pointers, from the request's root, to digests that replace secrets. */
function digestedIn(value: Json, pointer = '/payload'): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const entries = Object.entries(value as JsonObject);
  const [first] = entries;
  const isDigest = entries.length === 1 && first?.[0] === 'secret' && digestForm.test(String(first[1]));
  if (isDigest) return [pointer];
  return entries.flatMap(([name, inner]) =>
    digestedIn(inner, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
}

const digestForm = /^hmac-sha256:[0-9a-f]{64}$/;

function viewOf({ decision, trace, others, change }: PlaygroundDecision): TriedDecision {
  const { outcome, by, reason, matchedPolicy, risk } = decision;
  return {
    decision: outcome,
    reason,
    matched_policy: matchedPolicy,
    rule: (gates as readonly string[]).includes(by) ? null : by,
    risk_score: risk.high,
    status: statuses[outcome],
    message: messageOf(decision),
    requires: requiresOf(decision),
    trace,
    trace_omitted: others,
    change,
  };
}

const statuses: Readonly<Record<Outcome, TriedDecision['status']>> = {
  ALLOW: 'auto_approved',
  DENY: 'rejected',
  ESCALATE: 'pending',
  REAUTH_REQUIRED: 'pending',
};

function requiresOf({ requires }: Decision): TriedDecision['requires'] {
  if (requires === null) return null;
  return {
    approvals: requires.approvals.map(({ group, needs, anyOf }) => ({
      group,
      ...(anyOf && { any_of: anyOf }),
      needs,
      given: 0,
    })),
    step_up: requires.reauth !== null,
    // Nobody has approved a request that is only tried.
    invalidated: [],
  };
}

function messageOf({ outcome, validForSeconds, requires }: Decision): string {
  switch (outcome) {
    case 'ALLOW':
      return `It would be granted for ${duration(validForSeconds ?? defaultValidForSeconds)}.`;
    case 'DENY':
      return 'It would be refused.';
    case 'ESCALATE':
    case 'REAUTH_REQUIRED': {
      const approvals = (requires?.approvals ?? []).map(
        ({ needs, withinSeconds, except, ...whom }) =>
          `${needs} ${needs === 1 ? 'approval' : 'approvals'} by ${whomText(whom, describeApprovers)}${exceptText(except)} within ${duration(withinSeconds)}`,
      );
      const stepUp = requires?.reauth == null ? [] : ["a step-up by the agent's control owner"];
      const unknown = unknownApprovers(requires?.approvals ?? []).map(
        (why) => ` The approver is not known: ${why}.`,
      );
      return `It would wait for ${[...stepUp, ...approvals].join(', then for ')}.${unknown.join('')}`;
    }
  }
}

function duration(seconds: number): string {
  return formatDuration(fromNumber(seconds));
}
