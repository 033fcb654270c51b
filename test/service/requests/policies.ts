// Active policies for tests of the request path: a decision chosen by the test, and shapes of actions.

import type { ActivePolicies } from '../../../src/language/model/active-policies.ts';
import type { Decision } from '../../../src/language/model/decision.ts';
import type { Facts } from '../../../src/language/model/request.ts';
import type { RuleRequirement } from '../../../src/language/model/rule-requirement.ts';
import { type Trace, tracedRules } from '../../../src/language/model/trace.ts';
import {
  anyText,
  type Field,
  listOf,
  quantity,
  type Shape,
  type Slot,
  type Type,
} from '../../../src/language/model/type.ts';

export const allowed: Decision = {
  outcome: 'ALLOW',
  by: 'payments/known',
  matchedPolicy: 'payments',
  reason: 'Known vendor',
  risk: { low: 0, high: 10 },
  validForSeconds: 600,
  requires: null,
  rules: ['payments/known'],
  withShadow: 'ALLOW',
};

export const denied: Decision = {
  ...allowed,
  outcome: 'DENY',
  by: 'payments/blocked',
  validForSeconds: null,
};

export const escalated: Decision = {
  ...allowed,
  outcome: 'ESCALATE',
  validForSeconds: null,
  requires: {
    approvals: [
      { group: 'finance', needs: 2, withinSeconds: 14_400 },
      { group: 'owner', needs: 1, withinSeconds: 3_600 },
    ],
    reauth: null,
  },
};

export const stepUpAsked: Decision = {
  ...escalated,
  outcome: 'REAUTH_REQUIRED',
  requires: { approvals: escalated.requires?.approvals ?? [], reauth: { withinSeconds: null } },
};

export function field(name: string, type: Type, change: Partial<Field> = {}): Field {
  return { name, ...slot(type), isOptional: false, ...change };
}

function slot(type: Type, change: Partial<Slot> = {}): Slot {
  return { type, isNullable: false, isSecret: false, isSigned: false, ...change };
}

function record(...fields: readonly Field[]): Type {
  return { kind: 'record', shape: { fields, isOpen: false } };
}

/** `payment.create`, with secrets at every kind of place. */
export const paymentShape: Shape = {
  isOpen: false,
  fields: [
    field('amount', quantity('number')),
    field('vendor', anyText),
    field('card_number', anyText, { isSecret: true, isNullable: true }),
    field('codes', { ...listOf(anyText), element: slot(anyText, { isSecret: true }) }),
    field('login', record(field('user', anyText), field('password', anyText, { isSecret: true }))),
    field('steps', {
      ...listOf(anyText),
      element: slot(record(field('token', anyText, { isSecret: true }))),
    }),
    field('public', record(field('token', anyText))),
    field('extra', { kind: 'any' }),
  ],
};

/** Active policies that decide as the test sets, and remember the facts that they were given. */
export function activeWith(
  decide: (facts: Facts) => Decision,
  digest = 'digest-1',
  asks: ReadonlyMap<string, RuleRequirement> = new Map(),
): ActivePolicies & { asked: Facts[] } {
  const asked: Facts[] = [];
  const ask = (facts: Facts): Decision => {
    asked.push(facts);
    return decide(facts);
  };
  const trace = ({ action }: Facts): Trace => ({
    form: { rules: [[`payments/for_${action}`, 'allow', 0, []]], paths: [] },
    truths: 't',
    values: [],
  });
  return {
    asked,
    decide: ask,
    decideTraced: (facts) => ({ decision: ask(facts), trace: trace(facts) }),
    decideRecorded: (facts) => ({ decision: ask(facts), trace: trace(facts) }),
    trace: (facts) => tracedRules(trace(facts)),
    entries: () => [],
    entriesRecorded: () => [],
    meters: [],
    asks: () => asks,
    chatLimits: () => new Map(),
    titleOf: () => null,
    actions: () => ['payment.create'],
    possibility: (action) => (action === 'payment.create' ? 'possible' : null),
    checkPayload: () => [],
    checkResult: () => null,
    checkRow: () => null,
    pushedTables: () => new Map(),
    readsPushed: () => false,
    resultShapeOf: () => null,
    shapeOf: (action) => (action === 'payment.create' ? paymentShape : null),
    digest,
    commit: 'c0ffee',
  };
}
