import { describe, expect, it } from 'vitest';
import { readTrace, traceText } from '../../../src/service/requests/record/stored-trace.ts';
import { engineOf, factsOf, reading } from './engine.ts';

describe('the trace', () => {
  it('tells of each rule what it came to and what it could read', () => {
    const engine = engineOf(`
      action a.b { n: number, note?: string, score: signed integer, pin: secret string }
      meter runs = count() of a.b per agent over 1h
      let strange = agent.name == "x"
      approvers finance "Finance"
      policy p on a.b {
        allow ok when payload.n < 5 and payload.score > 1
        deny d when (payload has note or payload has pin) and strange and runs > 1 risk +5
        escalate e to finance when runs > 1
        shadow deny s when risk > 3
      }`);
    const facts = factsOf(
      { n: 1, score: 2, pin: '1234' },
      {
        request: {},
        agent: {},
        meters: { runs: reading(1, 2) },
        satisfied: { escalate: ['p/e'], reauth: [] },
      },
    );
    expect(engine.trace(facts)).toEqual([
      {
        rule: 'p/d',
        effect: 'deny',
        truth: 'unknown',
        points: 5,
        isShadow: false,
        isSatisfied: false,
        reads: {
          'agent.name': { missing: 'unknown' },
          'meters.runs': { value: [1, 2] },
        },
      },
      {
        rule: 'p/e',
        effect: 'escalate',
        truth: 'unknown',
        points: 0,
        isShadow: false,
        isSatisfied: true,
        reads: { 'meters.runs': { value: [1, 2] } },
      },
      {
        rule: 'p/ok',
        effect: 'allow',
        truth: 'unknown',
        points: 0,
        isShadow: false,
        isSatisfied: false,
        reads: { 'payload.n': { value: 1 }, 'payload.score': { missing: 'unsigned' } },
      },
      {
        rule: 'p/s',
        effect: 'deny',
        truth: 'unknown',
        points: 0,
        isShadow: true,
        isSatisfied: false,
        reads: { risk: { value: [0, 5] } },
      },
    ]);
  });

  it('shows no secret at any depth, and bounds what it shows', () => {
    const engine = engineOf(`
      action a.b { token?: secret string, s: string, people: [{ name: string, pin: secret string }] }
      policy p on a.b {
        allow ok when payload has token or length(payload.s) > 1 or some one in payload.people (one.name == "x")
      }`);
    const people = Array.from({ length: 30 }, (_, at) => ({ name: `n${at}`, pin: '1234' }));
    const [traced] = engine.trace(factsOf({ token: 'hush-hush', s: '\u202e'.repeat(300), people }));
    expect(traced!.reads['payload.token']).toEqual({ missing: 'secret' });
    const text = JSON.stringify(traced);
    expect(text).not.toMatch(/1234|hush|\u202e/);
    expect(text).toContain('and 10 more');
  });

  it('names those that took part where rules are many', () => {
    const rules = Array.from({ length: 51 }, (_, at) => `allow r${at} when payload.n == ${at}`);
    const engine = engineOf(`action a.b { n: number }\npolicy p on a.b {\n${rules.join('\n')}\n}`);
    const traceOf = (n: number) => engine.decideTraced(factsOf({ n })).trace;
    const form = { paths: ['payload.n'], rules: [['p/r7', 'allow', 0, [0]]], others: 50 };
    expect(traceOf(7)).toEqual({ form, truths: 't', values: [[7]] });
    const nobody = traceOf(-1);
    expect(nobody).toEqual({ form: { ...form, rules: [], others: 51 }, truths: '', values: [[-1]] });
    expect(readTrace(JSON.parse(traceText(nobody)))).toEqual(nobody);
    expect(engine.trace(factsOf({ n: 7 }))).toHaveLength(51);
  });

  it('has no rules where the gate refuses', () => {
    const engine = engineOf('action a.b { n: number }\npolicy p on a.b { allow ok }');
    expect(engine.trace(factsOf({ n: 'x' }))).toEqual([]);
    expect(engine.trace(factsOf({ n: 1 }, { action: 'a.c' }))).toEqual([]);
  });
});
