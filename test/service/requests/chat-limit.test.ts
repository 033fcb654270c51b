// Who may decide by chat: everybody whom a request asks, on record and by the policies of now, at its risk.

import { describe, expect, test } from 'vitest';
import type { ApprovalRequirement, ResolvedApprover } from '../../../src/language/model/decision.ts';
import { mayDecideByChat } from '../../../src/service/requests/approvals/chat-limit.ts';
import { activeOf } from './active-of.ts';

const limits = activeOf(`
  approvers finance "Finance" by chat up to risk 40
  approvers support "Support" by chat up to risk 0
  approvers cfo "The CFO" by chat up to risk 100
  approvers legal "Legal"
  action a.b {}
  policy p on a.b { escalate x to finance and support and cfo and legal }
`).chatLimits();

const asking = (group: string, more: Partial<ApprovalRequirement> = {}): ApprovalRequirement => ({
  group,
  needs: 1,
  withinSeconds: 60,
  ...more,
});
const anyOf = (...approvers: readonly ResolvedApprover[]): ApprovalRequirement =>
  asking('a or b', { anyOf: approvers });
const asked = (high: number, ...approvals: readonly ApprovalRequirement[]) => ({
  approvals,
  risk: { low: 0, high },
});

describe('a request', () => {
  test('may be decided by chat up to the limit of the group that it asks, and not above', () => {
    const at = (risk: number, group: string) => mayDecideByChat([asked(risk, asking(group))], limits);
    expect([0, 40, 41, 100].map((risk) => at(risk, 'finance'))).toEqual([true, true, false, false]);
    expect([0, 1].map((risk) => at(risk, 'support'))).toEqual([true, false]);
    expect(at(100, 'cfo')).toBe(true);
  });

  test('is never decided by chat for a group without a limit, one that is not declared, or the control owner', () => {
    for (const group of ['legal', 'nobody', 'owner', '', 'toString'])
      expect(mayDecideByChat([asked(0, asking(group))], limits), group).toBe(false);
  });

  test('counts the upper end of its risk', () => {
    const risk = { low: 0, high: 41 };
    expect(mayDecideByChat([{ approvals: [asking('finance')], risk }], limits)).toBe(false);
    const odd = { low: 0, high: Number.NaN };
    expect(mayDecideByChat([{ approvals: [asking('finance')], risk: odd }], limits)).toBe(false);
  });

  test('needs every group that it asks to allow it', () => {
    const both = (risk: number, other: string) =>
      mayDecideByChat([asked(risk, asking('finance'), asking(other))], limits);
    expect(both(40, 'cfo')).toBe(true);
    expect(both(41, 'cfo')).toBe(false);
    expect(both(1, 'support')).toBe(false);
    expect(both(0, 'legal')).toBe(false);
  });

  test('needs everybody of a choice, and of its fallbacks, to allow it', () => {
    const [finance, legal] = [{ group: 'finance' }, { group: 'legal' }];
    const person = { person: 'ann@example.com', from: 'staff[x].boss' };
    const unknown = { unknown: 'there is no row', from: 'staff[x].boss' };
    const named = { group: 'finance', from: 'staff[x].desk' };
    const at = (requirement: ApprovalRequirement) => mayDecideByChat([asked(10, requirement)], limits);
    expect(at(anyOf(finance, { group: 'cfo' }))).toBe(true);
    expect(at(anyOf(named))).toBe(true);
    for (const other of [legal, person, unknown]) {
      expect(at(anyOf(finance, other))).toBe(false);
      expect(at({ ...asking('finance'), fallbacks: [{ afterSeconds: 9, anyOf: [other] }] })).toBe(false);
    }
    expect(at(anyOf())).toBe(false);
  });

  test('needs the decision on record and the one of now to allow it', () => {
    const low = asked(10, asking('finance'));
    expect(mayDecideByChat([low, low], limits)).toBe(true);
    expect(mayDecideByChat([low, asked(50, asking('finance'))], limits)).toBe(false);
    expect(mayDecideByChat([asked(50, asking('finance')), low], limits)).toBe(false);
    expect(mayDecideByChat([low, asked(10, asking('legal'))], limits)).toBe(false);
    expect(mayDecideByChat([low, asked(10)], limits)).toBe(false);
    expect(mayDecideByChat([], limits)).toBe(false);
    expect(mayDecideByChat([low], new Map())).toBe(false);
  });
});
