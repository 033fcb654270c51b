// Explains a record by a policy set: the rule that decides, as it is written in its file, the smallest change
// that would have changed the decision, and each rule's condition part by part. INVARIANT: the explanation
// contains no secret.

import type { Decision } from '../language/model/decision.ts';
import type { PolicySet } from '../language/model/policy.ts';
import type { Facts } from '../language/model/request.ts';
import { explain } from '../language/spec/explain-rule.ts';
import { conditionLines } from './condition-lines.ts';
import { decideWithTrace } from './decide-with-trace.ts';
import { createLines } from './outline.ts';
import type { ExplainedCondition, ExplainedRecord } from './playground-questions.ts';
import { underChain } from './policies-under-chain.ts';
import {
  factsOfRecord,
  holdsDigests,
  type RecordedRequest,
  recordedShape,
} from './records/recorded-request.ts';
import type { EditedPolicies } from './workspace.ts';

export function explainRecord(
  { policies: active, sourceOf: activeSource }: EditedPolicies,
  record: RecordedRequest,
): ExplainedRecord {
  if (active === null) throw new Error('the active policies do not compile');
  const { policies, sourceOf } = underChain({ policies: active, sourceOf: activeSource }, record.chain);
  const facts = factsOfRecord(record);
  const { decision, change } = decideWithTrace(policies, facts, { isRecorded: true });
  const explained = {
    decision: decision.outcome,
    change,
    conditions: conditionsOf({ set: policies.set, decision, facts }, sourceOf),
  };
  const rules = policies.set.policies.flatMap((policy) => policy.rules);
  const rule = rules.find(({ id }) => id === decision.by);
  const text = rule === undefined ? null : sourceOf(rule.span.file);
  if (rule === undefined || text === null) return { ...explained, rule: null };
  const { policy, id, span } = rule;
  const lineOf = createLines(text);
  return {
    ...explained,
    rule: {
      policy,
      id,
      file: span.file,
      line: lineOf(span.start),
      end_line: lineOf(span.end),
      text: text.slice(span.start, span.end),
    },
  };
}

/** The most rules that are explained, each by its first lines; rules that hold or may hold come first. */
const rulesMax = 200;
const linesMax = 60;
const textLengthMax = 300;

const rank = { true: 0, unknown: 1, false: 2 } as const;

interface RecordDecision {
  readonly set: PolicySet;
  readonly decision: Decision;
  readonly facts: Facts;
}

function conditionsOf(
  { set, decision, facts }: RecordDecision,
  sourceOf: EditedPolicies['sourceOf'],
): readonly ExplainedCondition[] {
  // Rules do not read a payload that is not of the declared shape.
  if (decision.by === 'invalid_payload' || decision.by === 'undeclared_action') return [];
  const meant = holdsDigests(facts.payload) ? recordedShape(set, facts.action).set : set;
  return explain(meant, facts)
    .toSorted((a, b) => rank[a.truth] - rank[b.truth])
    .slice(0, rulesMax)
    .map(({ rule, truth, explanation }) => ({
      rule,
      truth,
      lines: conditionLines(explanation, sourceOf)
        .slice(0, linesMax)
        .map((line) => ({ ...line, text: cut(line.text), value: cut(line.value) })),
    }));
}

function cut(text: string): string {
  return text.length <= textLengthMax ? text : `${text.slice(0, textLengthMax - 1)}…`;
}
