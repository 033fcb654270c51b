// A generated condition may be very long: a chain of thousands of operands passes every stage, and definition
// and function decide alike at its ends, in its middle and beside it.

import { describe, expect, it } from 'vitest';
import { childrenOf } from '../../../src/language/model/children.ts';
import { type Facts, nothingSatisfied } from '../../../src/language/model/request.ts';
import { authorize } from '../../../src/language/spec/authorize.ts';
import { parse } from '../../../src/language/syntax/parse.ts';
import { printFile } from '../../../src/language/syntax/print/print.ts';
import { compile } from '../../../src/pipeline.ts';

const operands = 5_000;

function factsWith(number: number): Facts {
  return {
    action: 'order.place',
    payload: { number },
    agent: { id: 'a', name: 'a', risk_tier: 'low', control_owner: 'o', tags: [] },
    request: { ip: '10.0.0.7', signed: false, session: 's' },
    nowMs: 0,
    meters: {},
    satisfied: nothingSatisfied,
  };
}

describe.each([
  { operator: 'or', comparison: '==', granted: [0, 1, 2_500, 4_999], refused: [-1, 5_000] },
  { operator: 'and', comparison: '!=', granted: [-1, 5_000], refused: [0, 1, 2_500, 4_999] },
])(
  'a chain of $operator',
  ({ operator, comparison, granted, refused }) => {
    const condition = Array.from({ length: operands }, (_, at) => `payload.number ${comparison} ${at}`);
    const source = {
      path: 'chain.policy',
      text: `action order.place { number: integer }\npolicy p on order.place { allow a when ${condition.join(` ${operator} `)} }\n`,
    };
    const compiled = compile({
      files: [source],
      readListFile: () => ({ code: 'list-file-missing', message: 'there are no list files' }),
    });

    it('is checked, and keeps all its operands', () => {
      expect(compiled.diagnostics).toEqual([]);
      const rule = compiled.set?.policies[0]?.rules[0]?.condition;
      expect(rule).toMatchObject({ kind: operator });
      expect(childrenOf(rule!)).toHaveLength(operands);
    });

    it('decides by the function as by the definition', () => {
      const { set, engine } = compiled;
      if (set === null || engine === null) throw new Error('the chain has not been compiled');
      for (const [numbers, outcome] of [
        [granted, 'ALLOW'],
        [refused, 'DENY'],
      ] as const) {
        for (const number of numbers) {
          const facts = factsWith(number);
          const decision = engine.decide(facts);
          expect(decision).toEqual(authorize(set, facts));
          expect(decision.outcome).toBe(outcome);
        }
      }
    });

    it('is printed so that it reads back as the same', () => {
      const printed = printFile(parse(source).file);
      const again = parse({ path: source.path, text: printed });
      expect(again.diagnostics).toEqual([]);
      expect(printFile(again.file)).toBe(printed);
      expect(printed.split(` ${comparison} `)).toHaveLength(operands + 1);
    });
  },
  60_000,
);
