// The model of a policy set, at the places that later stages rely on.

import { describe, expect, it, test } from 'vitest';
import { check, listFilesOf } from '../../../src/language/check/check.ts';
import { parse } from '../../../src/language/syntax/parse.ts';
import { setOf, withoutSpans } from './trees.ts';

const actions = `
action order.place { amount: number 0.., vendor: string, note?: string }
action order.move { amount: number 0..10, vendor: string, note: string }
`;

test('an approval group decides by chat up to the risk of its declaration, and without one never', () => {
  const { approvers } = setOf(`${actions}
    approvers finance "Finance" by chat up to risk 1_00
    approvers nobody "Nobody" by chat up to risk 0
    approvers legal "Legal"
    policy orders on order.place { escalate a to finance and legal and nobody when payload.amount > 5 }`);
  expect([...approvers.values()]).toEqual([
    { name: 'finance', title: 'Finance', chat: { maxRisk: 100 } },
    { name: 'legal', title: 'Legal', chat: null },
    { name: 'nobody', title: 'Nobody', chat: { maxRisk: 0 } },
  ]);
});

describe('rules', () => {
  const ask = `${actions}
    approvers finance "Finance"
    policy orders on order.place when payload.vendor == "x" {
      escalate b to finance when payload.amount > 5 or payload.amount < 2 unless payload.vendor == "y"
      allow a for 10m after approval by finance needs 2 within 4h
      reauth c within 15m when payload.amount > 3
      shadow reauth d when payload.amount > 4
      allow e after reauth when payload.amount in 0..1
      risk f -10 when payload.amount > 5
    }`;
  const [policy] = setOf(ask).policies;
  const rules = Object.fromEntries((policy?.rules ?? []).map((rule) => [rule.name, rule]));

  it('are sorted by name and carry their full id', () => {
    expect(policy?.rules.map(({ id }) => id)).toEqual(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `orders/${name}`),
    );
  });

  it('join the conditions of policy, `when` and `unless`, as a text where something is asked for', () => {
    expect(rules.b?.conditionText).toBe(
      'payload.vendor == "x" and (payload.amount > 5 or payload.amount < 2) and not (payload.vendor == "y")',
    );
    expect(rules.b?.condition.kind).toBe('and');
    expect(rules.f?.conditionText).toBe('');
  });

  it('ask for what their clauses say, with the defaults of the language', () => {
    expect(rules.a?.requirement).toEqual({
      kind: 'approval',
      groups: ['finance'],
      except: [],
      needs: 2,
      withinSeconds: 14_400,
    });
    expect(rules.b?.requirement).toEqual({
      kind: 'approval',
      groups: ['finance'],
      except: [],
      needs: 1,
      withinSeconds: 86_400,
    });
    expect(rules.c?.requirement).toEqual({ kind: 'reauth', withinSeconds: 900 });
    expect(rules.d?.requirement).toEqual({ kind: 'reauth', withinSeconds: null });
    expect(rules.e?.requirement).toEqual({ kind: 'reauth', withinSeconds: null });
    expect(rules.f?.requirement).toBeNull();
  });

  it('say how long they hold, what they add to risk and whether they count', () => {
    expect([rules.a?.validForSeconds, rules.b?.validForSeconds]).toEqual([600, null]);
    expect([rules.f?.points, rules.a?.points]).toEqual([-10, 0]);
    expect([rules.d?.isShadow, rules.c?.isShadow]).toEqual([true, false]);
  });

  it('without a condition hold always', () => {
    const set = setOf(`${actions} policy orders on order.place { allow a after approval by owner }`);
    expect(set.policies[0]?.rules[0]?.condition).toMatchObject({ kind: 'literal', value: true });
    expect(set.policies[0]?.rules[0]?.conditionText).toBe('true');
  });
});

describe('lets', () => {
  it('stand once where they read alike', () => {
    const set = setOf(`${actions}
      let trusted = agent.risk_tier == "low"
      policy a on order.place { allow x when trusted }
      policy b on order.move { allow x when trusted }`);
    expect([...set.lets.keys()]).toEqual(['trusted']);
  });

  it('stand once for each way of reading, lets of lets included', () => {
    const set = setOf(`${actions}
      let big = payload.amount > 3
      let odd = big or payload.vendor == "x"
      policy a on order.place { deny x when odd  deny y when big  allow z after approval by owner }
      policy b on order.move { deny x when odd  allow z after approval by owner }`);
    expect([...set.lets.keys()]).toEqual(['big', 'big#2', 'odd', 'odd#2']);
    const reads = set.policies.map(({ rules }) => rules[0]?.condition);
    expect(new Set(reads.map((read) => read?.kind === 'let' && read.id))).toEqual(new Set(['odd', 'odd#2']));
  });

  it('carry what they tell about presence', () => {
    const text = `${actions} let noted = payload has note
      policy a on order.place { deny x when noted and payload.note == "x"  allow y after approval by owner }`;
    expect(setOf(text).policies[0]?.rules).toHaveLength(2);
  });
});

describe('expressions', () => {
  it('have one form for several spellings', () => {
    const kinds = conditionsOf(`
      deny a when payload.vendor not in ["x"]
      deny b when no tag in agent.tags (tag == "x")
      deny c when request.ip in "10.0.0.0/8"
      deny d when payload.amount in 1..-limit * 2
      deny e when risk >= limit`);
    expect(kinds.a).toMatchObject({ kind: 'not', operand: { kind: 'in-elements' } });
    expect(kinds.b).toMatchObject({ kind: 'not', operand: { kind: 'quantify', quantifier: 'some' } });
    expect(kinds.c).toMatchObject({ kind: 'in-cidr', cidr: { family: 4, prefix: 8 } });
    expect(kinds.d).toMatchObject({
      kind: 'in-range',
      low: { kind: 'literal' },
      high: { kind: 'arithmetic' },
    });
    expect(kinds.e).toMatchObject({
      kind: 'compare',
      left: { kind: 'risk' },
      right: { kind: 'literal', value: { coefficient: -6n, exponent: 1 } },
    });
  });

  it('over several actions take a field as optional where one lacks it', () => {
    const { a } = conditionsOf('deny a when payload has note and payload.note == "x"');
    expect(withoutSpans(a)).toContain('"has"');
  });

  function conditionsOf(rules: string): Readonly<Record<string, unknown>> {
    const set = setOf(`${actions} let limit = -60
      policy orders on order.* { ${rules} allow z after approval by owner }`);
    return Object.fromEntries((set.policies[0]?.rules ?? []).map((rule) => [rule.name, rule.condition]));
  }
});

describe('declarations', () => {
  it('become hours as plain data', () => {
    const set = setOf(`${actions}
      list days = [2026-12-25, 1970-01-02]
      hours late = sat-mon 22:00-06:00, 2026-12-20..2026-12-21, every year 12-24..01-02, every year 02-29 in "Europe/Berlin" except days
      policy a on order.place { allow x when now in late }`);
    expect(set.hours.get('late')).toEqual({
      zone: 'Europe/Berlin',
      weekly: [{ days: [true, false, false, false, false, true, true], fromMinute: 1_320, toMinute: 360 }],
      dates: [{ firstDay: 20_807, lastDay: 20_808 }],
      yearly: [
        { first: 229, last: 229 },
        { first: 1_224, last: 102 },
      ],
      except: [1, 20_812],
    });
  });

  it('become meters that know what they count', () => {
    const set = setOf(`
      action order.place { amount: money(currency) 0.., currency: "USD", vendor: string, note?: string }
      meter spent = sum(payload.amount) in USD of order.* when payload has note per agent, payload.vendor over 7d
      policy a on order.place { allow x after approval by owner  deny y when spent > 5 USD }`);
    expect(set.meters.get('spent')).toMatchObject({
      aggregate: 'sum',
      currency: 'USD',
      actions: ['order.place'],
      per: [{ kind: 'agent' }, { kind: 'payload', read: { steps: ['vendor'] } }],
      over: { kind: 'last', seconds: 604_800 },
      type: { kind: 'money', currencyField: null },
    });
  });

  it('name list files relative to the directory of the policy file', () => {
    const { file } = parse({
      path: 'team/a/b.policy',
      text: 'list x from "../lists/x.txt"\nlist y from "../../../y.txt"',
    });
    expect(listFilesOf([file])).toEqual(['team/lists/x.txt']);
    const asked: string[] = [];
    const { diagnostics } = check([file], (path) => {
      asked.push(path);
      return { text: 'a\n' };
    });
    expect(asked).toEqual(['team/lists/x.txt']);
    expect(diagnostics.map(({ code }) => code)).toEqual(['list-file-outside']);
  });
});
