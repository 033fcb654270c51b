// A record that came by delegations is decided again by their guards, whatever policies decide it.

import { expect, it } from 'vitest';
import { underRecordedChain } from '../../../src/analysis/replay/engine/recorded-chain.ts';
import { compileText, factsOf } from '../../language/emit/engine.ts';

const chain = [{ name: 'sub', actions: ['a.*'], when: 'payload.n <= 5' }];

function outcomes(fields: string, payload: Record<string, number>): readonly string[] {
  const { engine } = compileText(`action a.b { ${fields} }\npolicy p on a.b { allow x }`);
  const facts = factsOf(payload);
  const under = underRecordedChain(engine!, chain);
  return [engine!, under].flatMap((one) => [
    one.decide(facts).outcome,
    one.decideRecorded(facts).decision.outcome,
  ]);
}

it('decides by the policies and the guards', () => {
  expect(outcomes('n: integer', { n: 5 })).toEqual(['ALLOW', 'ALLOW', 'ALLOW', 'ALLOW']);
  expect(outcomes('n: integer', { n: 6 })).toEqual(['ALLOW', 'ALLOW', 'DENY', 'DENY']);
});

it('grants nothing by a condition that no longer fits the action', () => {
  expect(outcomes('m: integer', { m: 5 })).toEqual(['ALLOW', 'ALLOW', 'DENY', 'DENY']);
});
