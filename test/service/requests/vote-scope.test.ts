// What an approval counts for: one exact request, the rule with the condition that was approved, and one
// person once.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/language/model/json.ts';
import type { ApprovalRule } from '../../../src/language/model/rule-requirement.ts';
import { approvedOf } from '../../../src/service/requests/approvals/effective-votes.ts';
import {
  type ApprovalScope,
  approvalsOf,
  approvedRule,
  isSatisfied,
  requestDigest,
  type ScopedVote,
} from '../../../src/service/requests/record/vote-scope.ts';
import { agentRow } from '../store/rows.ts';

const request = {
  agentId: 'agent-1',
  actionKey: 'payment.create',
  payload: { amount: 5, vendor: 'Staples' },
  request: {},
};

const rule: ApprovalRule = {
  rule: 'payments/large',
  kind: 'approval',
  groups: ['finance'],
  needs: 2,
  except: [],
  withinSeconds: 60,
  conditionDigest: 'c1',
};

function vote(person: string, change: Partial<ScopedVote> = {}): ScopedVote {
  const email = `${person}@example.com`;
  return {
    isApproved: true,
    person,
    email,
    digest: requestDigest(request),
    rules: [approvedRule(rule, 'finance')],
    invalidReason: null,
    ...change,
  };
}

function approved(votes: readonly ScopedVote[], change: Partial<ApprovalScope> = {}): ApprovalScope {
  return { votes, digest: requestDigest(request), isOwner: () => false, names: request, ...change };
}

describe('the digest', () => {
  test('is over the canonical text, whatever the order of the names', () => {
    const payload = { vendor: 'Staples', amount: 5 };
    expect(requestDigest({ ...request, payload })).toBe(requestDigest(request));
    // printf '%s' '{"action":"a.b","agent":"x","payload":{"n":1}}' | sha256sum
    expect(requestDigest({ agentId: 'x', actionKey: 'a.b', payload: { n: 1 }, request: {} })).toBe(
      '6e88bff1c7bf57e61ab230704c6965bd95bc56286e321ff9686a8e5ce40069b9',
    );
  });

  test('differs for another agent, another action, and every other payload', () => {
    const digest = requestDigest(request);
    expect(requestDigest({ ...request, agentId: 'agent-2' })).not.toBe(digest);
    expect(requestDigest({ ...request, actionKey: 'payment.create2' })).not.toBe(digest);
    const ofAnn = requestDigest({ ...request, request: { user: { id: 'ann' } } });
    expect(
      new Set([digest, ofAnn, requestDigest({ ...request, request: { user: { id: 'ben' } } })]).size,
    ).toBe(3);
    // The same person with other groups gives the same digest.
    expect(requestDigest({ ...request, request: { user: { id: 'ann', groups: ['a'] } } })).toBe(ofAnn);
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), (other) => {
        // The service refuses a lone surrogate earlier.
        fc.pre(JSON.stringify(other).isWellFormed() && !JSON.stringify(other).includes('\\ud'));
        const payload = other as JsonObject;
        const isSame = JSON.stringify(payload) === JSON.stringify(request.payload);
        expect(requestDigest({ ...request, payload }) === digest).toBe(isSame);
      }),
    );
  });
});

describe('approvals', () => {
  test('of two people satisfy a rule that needs two', () => {
    expect(isSatisfied(rule, approved([vote('ann')]))).toBe(false);
    expect(isSatisfied(rule, approved([vote('ann'), vote('ben')]))).toBe(true);
  });

  test.each<[string, readonly ScopedVote[]]>([
    ['the same person twice', [vote('ann'), vote('ann')]],
    [
      'of another request',
      [vote('ann'), vote('ben', { digest: requestDigest({ ...request, agentId: 'b' }) })],
    ],
    [
      'for another rule',
      [vote('ann'), vote('ben', { rules: [{ ...approvedRule(rule, 'finance'), id: 'payments/small' }] })],
    ],
    [
      'for another group',
      [vote('ann'), vote('ben', { rules: [{ ...approvedRule(rule, 'finance'), group: 'security' }] })],
    ],
    [
      'for another condition',
      [vote('ann'), vote('ben', { rules: [{ ...approvedRule(rule, 'finance'), condition: 'c2' }] })],
    ],
    ['a rejection', [vote('ann'), vote('ben', { isApproved: false })]],
    ['a later one for another group', [vote('ann'), vote('ben'), vote('ben', { rules: [] })]],
  ])('%s do not', (_, votes) => {
    expect(approvalsOf(rule, 'finance', approved(votes))).toBe(1);
    expect(isSatisfied(rule, approved(votes))).toBe(false);
  });

  test('of whom a field of the request names do not count, and of nobody where it names nobody', () => {
    const votes = [vote('ann'), vote('ben')];
    const count = (vendor: unknown, path = 'payload.vendor') => {
      const asked = { ...request, payload: { vendor } as JsonObject };
      return approvalsOf({ ...rule, except: [path] }, 'finance', approved(votes, { names: asked }));
    };
    for (const named of ['ann', 'ann@example.com', 'ANN@example.com', ' ben ']) expect(count(named)).toBe(1);
    for (const nobody of ['', ' ', 5, null, { id: 'ann' }, ['ann']]) expect(count(nobody)).toBe(0);
    expect(count('somebody else')).toBe(2);
    for (const path of ['payload.other', 'payload.vendor.id', 'payload.constructor', 'request.user.email'])
      expect(count('ann', path)).toBe(0);
  });

  test('are left out by a field whose name stands in quotes, and by no other', () => {
    const payload = { 'asked.by': 'ann', asked: { by: 'ben' }, 'a"b': { c: 'ben' } };
    const left = (path: string) => {
      const asked = { ...request, payload };
      const people = approved([vote('ann'), vote('ben')], { names: asked });
      return ['ann', 'ben'].filter(
        (person) =>
          approvalsOf({ ...rule, except: [path] }, 'finance', {
            ...people,
            votes: people.votes.filter((one) => one.person === person),
          }) === 0,
      );
    };
    expect(left('payload."asked.by"')).toEqual(['ann']);
    expect(left('payload.asked.by')).toEqual(['ben']);
    expect(left('payload."a\\"b".c')).toEqual(['ben']);
  });

  test('of the control owner count only where one person is enough', () => {
    const isOwner: ApprovalScope['isOwner'] = ({ id }) => id === 'ann';
    const votes = [vote('ann'), vote('ben')];
    expect(approvalsOf(rule, 'finance', approved(votes, { isOwner }))).toBe(1);
    expect(approvalsOf({ ...rule, needs: 1 }, 'finance', approved(votes, { isOwner }))).toBe(2);
  });
});

test('the control owner is who owned the agent when it asked, and who owns it now', () => {
  const record = { ...request, agent: { control_owner: 'then@example.com' } };
  const state = { record, votes: [] } as unknown as Parameters<typeof approvedOf>[0];
  const { isOwner } = approvedOf(state, agentRow({ controlOwner: 'now@example.com' }));
  const of = (email: string) => isOwner({ id: 'p1', email });
  expect(['then', 'now', 'else'].map((name) => of(`${name}@example.com`))).toEqual([true, true, false]);
});
