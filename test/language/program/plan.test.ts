import { describe, expect, it } from 'vitest';
import { canonical } from '../../../src/language/model/canonical.ts';
import { selectAll } from '../../../src/language/program/index/rule-index.ts';
import { printCondition, printProgram } from '../../../src/language/program/print.ts';
import { compileText } from '../emit/engine.ts';

const shape = `
  action a.b { n: number, flag: boolean, s: string, note?: string, cost: money(currency), currency: "USD" }
  action a.c { n: number ... }`;

/** The condition of a deny rule on `a.b`, simplified. */
function planned(condition: string, declarations = '') {
  const { program } = compileText(`${shape}\n${declarations}\npolicy p on a.b { deny d when ${condition} }`);
  return program!.actions.get('a.b')!.rules[0]!.condition;
}

const print = (condition: string, declarations = ''): string =>
  printCondition(planned(condition, declarations));

describe('a planned condition', () => {
  it('has its constants folded', () => {
    expect(print('payload.n < limit * 2 + 1', 'let limit = 50')).toBe('(payload.n < 101)');
    expect(print('action.verb == "b" and payload.flag')).toBe('payload.flag');
    expect(print('action.key in ["a.b", "a.c"] or payload.flag')).toBe('true');
    expect(print('payload has s or agent.name == "x"')).toBe('true');
    expect(print('payload.cost > 5 EUR and payload.flag')).toBe('(payload.flag and unknown)');
  });

  it('is flat, with cheap operands first', () => {
    expect(
      print(`payload.s matches 'x' and (payload.s contains "y" and (payload.n > 1 and payload.flag))`),
    ).toBe('((payload.n > 1) and payload.flag and (payload.s contains "y") and (payload.s matches "x"))');
  });

  it('carries not inwards', () => {
    expect(print('not (payload.flag and (payload.n > 1 or not (payload.s == "x")))')).toBe(
      '(not payload.flag or ((payload.n <= 1) and (payload.s == "x")))',
    );
  });

  it('knows what can never be unknown', () => {
    for (const certain of [
      'payload.n in 1..5',
      'payload.s like "x*" or payload.flag',
      'payload has note',
      'payload.cost <= 5 USD',
      'every x in ["a", "b"] (x == payload.s)',
      'payload.s in names',
    ]) {
      const condition = planned(certain, 'list names = ["a", "b"]');
      expect([certain, condition.mayBeUnknown]).toEqual([certain, certain.startsWith('every')]);
    }
    for (const open of [
      'agent.name == "x"',
      'payload.n + 1 > 2',
      'payload has note and payload.note == "x"',
    ]) {
      expect(planned(open).mayBeUnknown).toBe(true);
    }
  });
});

describe('a program', () => {
  const text = `${shape}
    list names = ["a", "b"]
    let strange = agent.name in names
    policy q on a.c { allow ok when payload.n > 1 and strange }
    policy p on a.* {
      risk high +30 unless strange
      deny late when risk > 20 because "Risk {risk}"
      shadow allow first for 10m when payload has note
    }`;

  it('holds each action its rules by id, resolved against its shape', () => {
    const { program } = compileText(text);
    expect(selectAll(program!, 'a.c').map(({ id }) => id)).toEqual(['p/first', 'p/high', 'p/late', 'q/ok']);
    expect(selectAll(program!, 'a.b').map(({ id }) => id)).toEqual(['p/first', 'p/high', 'p/late']);
    expect(selectAll(program!, 'a.x')).toEqual([]);
    expect(selectAll(program!, 'a.c').map(({ condition }) => printCondition(condition))).toEqual([
      'false',
      'not let 0',
      '(risk > 20)',
      '((payload.n > 1) and let 0)',
    ]);
    expect(program!.actions.get('a.c')!.lists).toEqual(['names']);
  });

  it('prints', () => {
    expect(printProgram(compileText(text).program!)).toContain(
      `action a.c
  let 0 strange = (agent.name in names)
  shadow allow p/first for 600s
    false
  risk p/high +30
    not let 0 ?
  deny p/late reads risk
    (risk > 20) ?
  allow q/ok
    ((payload.n > 1) and let 0) ?
`,
    );
  });

  it('depends on what is said, not on where', () => {
    const moved = text.replace('policy q', '\n\n# a comment\n\npolicy q');
    const [one, two] = [compileText(text).program!.actions, compileText(moved).program!.actions];
    expect(canonical([...two])).toBe(canonical([...one]));
    const changed = compileText(text.replace('> 1', '> 2')).program!.actions;
    expect(canonical(changed.get('a.b'))).toBe(canonical(one.get('a.b')));
    expect(canonical(changed.get('a.c'))).not.toBe(canonical(one.get('a.c')));
  });
});

describe('canonical text', () => {
  it('tells apart what differs and ignores the order of keys', () => {
    const parts = [
      1,
      1n,
      '1',
      -0,
      0,
      null,
      undefined,
      [],
      {},
      [1],
      { a: 1 },
      new Map([['a', 1]]),
      [undefined],
    ];
    expect(new Set(parts.map(canonical)).size).toBe(parts.length);
    expect(canonical({ a: 1, b: 2 })).toBe(canonical({ b: 2, a: 1 }));
    expect(() => canonical(() => 1)).toThrow(TypeError);
  });
});
