import { describe, expect, it } from 'vitest';
import type { Facts } from '../../../src/language/model/request.ts';
import { engineOf, factsOf, reading } from './engine.ts';

/** Rules over an action with a number, decided for one request. */
function decide(rules: string, changes: Partial<Facts> = {}) {
  const engine = engineOf(`
    action a.b { n: number }
    approvers finance "Finance"
    approvers legal "Legal"
    let strange = agent.name == "x"
    policy p on a.b {\n${rules}\n}`);
  const { agent, ...rest } = changes;
  return engine.decide(factsOf({ n: 1 }, { agent: agent ?? {}, ...rest }));
}

const satisfied = (escalate: string[], reauth: string[] = []): Partial<Facts> => ({
  satisfied: { escalate, reauth },
});

describe('the outcome', () => {
  it('is DENY where nothing grants', () => {
    expect(decide('escalate e to finance')).toMatchObject({
      outcome: 'DENY',
      by: 'default_deny',
      matchedPolicy: 'default_deny',
      reason: 'No policy allows this',
      validForSeconds: null,
      requires: null,
      rules: ['p/e'],
    });
  });

  it('names a true deny where nothing grants, not one that is unknown', () => {
    expect(decide('deny a when strange risk +90\n deny b\n deny c risk +5').by).toBe('p/c');
    expect(decide('deny a when strange').by).toBe('default_deny');
  });

  it('takes the strictest guard that is not false', () => {
    const guards = 'allow ok\n escalate e to finance\n reauth r';
    expect(decide(guards)).toMatchObject({ outcome: 'REAUTH_REQUIRED', by: 'p/r' });
    expect(decide(`${guards}\n deny d when strange`)).toMatchObject({ outcome: 'DENY', by: 'p/d' });
    expect(decide(`${guards}\n deny d when payload.n > 1`).outcome).toBe('REAUTH_REQUIRED');
  });

  it('does not rest on an allow that is unknown', () => {
    expect(decide('allow ok when strange')).toMatchObject({ outcome: 'DENY', rules: [] });
  });

  it('prefers the definite, then the most points, then the smallest id', () => {
    expect(decide('allow ok\n deny a when strange risk +50\n deny b').by).toBe('p/b');
    expect(decide('allow ok\n deny a\n deny b risk +1').by).toBe('p/b');
    expect(decide('allow ok\n deny b\n deny a').by).toBe('p/a');
  });

  it('lets the granting allow compete with guards of its outcome', () => {
    const rules = 'allow after_people after approval by legal risk +9\n escalate e to finance';
    expect(decide(rules)).toMatchObject({ outcome: 'ESCALATE', by: 'p/after_people' });
    expect(decide(`allow plain\n ${rules}`)).toMatchObject({ outcome: 'ESCALATE', by: 'p/e' });
  });

  it('grants at the least demanding allow, of equals the one that needs fewest people', () => {
    const rules =
      'allow a after approval by legal needs 3\n allow b after approval by legal needs 2\n allow c after reauth';
    expect(decide(rules).by).toBe('p/b');
    expect(decide(rules, satisfied(['p/a', 'p/b'])).by).toBe('p/b');
    expect(decide(rules, satisfied(['p/a'])).by).toBe('p/a');
    expect(decide(rules, satisfied(['p/a'], ['p/c'])).by).toBe('p/c');
    expect(decide(`${rules}\n allow z`, satisfied(['p/a'])).by).toBe('p/z');
  });

  it('leaves out guards that are satisfied, unknown ones too, but never a deny', () => {
    const rules = 'allow ok\n escalate e to finance when strange\n reauth r';
    expect(decide(rules, satisfied(['p/e'], ['p/r']))).toMatchObject({
      outcome: 'ALLOW',
      by: 'p/ok',
      rules: ['p/e', 'p/ok', 'p/r'],
    });
    expect(decide(rules, satisfied(['p/r'], ['p/e'])).outcome).toBe('REAUTH_REQUIRED');
    expect(decide('allow ok\n deny d', satisfied(['p/d'], ['p/d'])).outcome).toBe('DENY');
  });

  it('holds for the shortest time that a true allow says, else five minutes', () => {
    expect(decide('allow a').validForSeconds).toBe(300);
    expect(decide('allow a for 10m\n allow b for 2m\n allow c for 1s when strange').validForSeconds).toBe(
      120,
    );
  });
});

describe('requirements', () => {
  it('are merged: per group the most people and the shortest time', () => {
    const rules = `
      allow grant after approval by legal needs 2 within 8h
      escalate one to finance needs 3 within 4h
      escalate two to finance needs 1 within 1h when strange
      reauth slow within 1h
      reauth fast within 15m`;
    expect(decide(rules).requires).toEqual({
      approvals: [
        { group: 'finance', needs: 3, withinSeconds: 3600 },
        { group: 'legal', needs: 2, withinSeconds: 28_800 },
      ],
      reauth: { withinSeconds: 900 },
    });
    expect(decide(rules, satisfied(['p/one'], ['p/slow', 'p/fast'])).requires).toEqual({
      approvals: [
        { group: 'finance', needs: 1, withinSeconds: 3600 },
        { group: 'legal', needs: 2, withinSeconds: 28_800 },
      ],
      reauth: null,
    });
  });

  it('are strictest for this very request', () => {
    expect(decide('allow ok\n reauth a within 1h\n reauth b').requires?.reauth).toEqual({
      withinSeconds: null,
    });
  });
});

describe('risk', () => {
  it('is clamped once, and an interval while a contribution is unknown', () => {
    expect(decide('risk a +80\n risk b +70\n risk c -40').risk).toEqual({ low: 100, high: 100 });
    expect(decide('risk a +30\n risk b +50 when strange\n risk c -10 when strange').risk).toEqual({
      low: 20,
      high: 80,
    });
    expect(decide('risk a -30').risk).toEqual({ low: 0, high: 0 });
  });

  it('counts satisfied rules and leaves out shadow ones', () => {
    const rules = 'allow ok\n escalate e to finance risk +20\n shadow risk s +50';
    expect(decide(rules, satisfied(['p/e'])).risk).toEqual({ low: 20, high: 20 });
  });

  it('is read by rules as far as it is known, and shown by its upper end', () => {
    const rules = 'allow ok\n risk a +60 when strange\n deny d when risk >= 60 because "Risk {risk}"';
    expect(decide(rules)).toMatchObject({ outcome: 'DENY', by: 'p/d', reason: 'Risk 60' });
    expect(decide(rules, { agent: { name: 'y' } })).toMatchObject({ outcome: 'ALLOW', rules: ['p/ok'] });
  });
});

describe('shadow rules', () => {
  it('change what would have come, and nothing else', () => {
    expect(decide('allow ok\n shadow deny d')).toMatchObject({
      outcome: 'ALLOW',
      rules: ['p/ok'],
      withShadow: 'DENY',
    });
    expect(decide('shadow allow ok')).toMatchObject({ outcome: 'DENY', withShadow: 'ALLOW' });
  });

  it('would have raised the risk that others read', () => {
    const rules = 'allow ok\n shadow risk s +70\n escalate e to finance when risk > 50 because "{risk}"';
    expect(decide(rules)).toMatchObject({ outcome: 'ALLOW', withShadow: 'ESCALATE', reason: 'Ok' });
  });
});

describe('the gate', () => {
  it('refuses an action that is not declared, quoting its key as data', () => {
    const action = `x\n${'y'.repeat(200)}`;
    expect(decide('allow ok', { action })).toMatchObject({
      outcome: 'DENY',
      by: 'undeclared_action',
      reason: `Action x\\n${'y'.repeat(97)} is not declared`,
      risk: { low: 100, high: 100 },
      rules: [],
    });
    expect(decide('allow ok', { action: '__proto__' }).by).toBe('undeclared_action');
  });

  it('refuses a payload that is not of the shape', () => {
    expect(decide('allow ok', { payload: { n: '1', m: 2 } })).toMatchObject({
      outcome: 'DENY',
      by: 'invalid_payload',
      reason: 'The payload does not match the declared shape: /n must be number; /m is not declared',
      risk: { low: 100, high: 100 },
      withShadow: 'DENY',
    });
  });
});

describe('reasons', () => {
  const reason = (declarations: string, template: string, changes: Partial<Facts> = {}): string =>
    engineOf(`${declarations}\npolicy p on a.b {\n allow large_payment because "${template}"\n}`).decide(
      factsOf({ n: 12.5, t: 'a\nb', currency: 'USD' }, changes),
    ).reason;
  const shape = 'action a.b { n: money(currency), t: string, currency: string }';

  it('is the name in words where none is given', () => {
    expect(decide('allow large_payment').reason).toBe('Large payment');
  });

  it('shows values as data', () => {
    expect(reason(shape, '{payload.n}: {payload.t}, {request.signed}')).toBe('12.5 USD: a\\nb, true');
    expect(reason(shape, '{agent.name}', { agent: {} })).toBe('unknown');
    expect(reason(shape, '{now}, {24h}, {2026-01-01}, {0.1 + 0.2}')).toBe(
      '2026-03-02T15:00:00Z, 24h, 2026-01-01, 0.3',
    );
  });

  it('shows the upper end of an interval, and no more than 200 characters', () => {
    const meter = `${shape}\nmeter spent = count() of a.b per agent over 24h`;
    expect(reason(meter, '{spent}', { meters: { spent: reading(3, 7) } })).toBe('7');
    expect(reason(shape, '{agent.name}', { agent: { name: 'é'.repeat(300) } })).toBe('é'.repeat(200));
  });
});

describe('facts', () => {
  it('may be unknown without opening anything', () => {
    const engine = engineOf(`
      action a.b { n: signed number, ip: ip }
      meter runs = count() of a.b per agent over 1h
      policy p on a.b {
        deny signed when payload.n > 5
        deny from when request.ip in "192.168.0.0/16"
        deny often when runs > 3
        deny tagged when some tag in agent.tags (tag == "bad")
        allow ok
      }`);
    const facts = factsOf({ n: 1, ip: '10.0.0.1' }, { meters: { runs: reading(1, 1) } });
    const by = (changes: Partial<Facts>): string => engine.decide({ ...facts, ...changes }).by;
    expect(by({})).toBe('p/ok');
    expect(by({ request: { ip: '10.0.0.7' } })).toBe('p/signed');
    expect(by({ request: { signed: true, ip: '10.0.0' } })).toBe('p/from');
    expect(by({ request: { signed: true } })).toBe('p/from');
    expect(by({ meters: {} })).toBe('p/often');
    expect(by({ meters: { runs: reading(1, 4) } })).toBe('p/often');
    expect(by({ agent: {} })).toBe('p/tagged');
  });
});
