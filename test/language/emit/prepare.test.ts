// Actions of many rules can be prepared in steps before their first request, which changes only when the work
// is done.

import { expect, it } from 'vitest';
import { link } from '../../../src/language/emit/link.ts';
import { type Facts, nothingSatisfied } from '../../../src/language/model/request.ts';
import { compile } from '../../../src/pipeline.ts';

const rules = Array.from({ length: 400 }, (_, at) =>
  at % 3 === 0
    ? `policy p${at} on a.many { deny r when payload.n == ${at} and payload.m >= ${at % 7} }`
    : `policy p${at} on a.many { allow r when payload.n in ${at}..${at + 20} and payload.s == "t${at % 5}" }`,
);
const text = `action a.many { n: integer\n  m: integer\n  s: string }\naction a.few { n: integer }\npolicy few on a.few { allow r when payload.n > 1 }\n${rules.join('\n')}\n`;

function facts(action: string, n: number): Facts {
  const payload = action === 'a.many' ? { n, m: n % 9, s: `t${n % 5}` } : { n };
  return { action, payload, agent: {}, request: {}, nowMs: 0, meters: {}, satisfied: nothingSatisfied };
}

it('decides and traces as without', () => {
  const readListFile = () => ({ code: 'list-file-missing', message: 'there is none' }) as const;
  const { program } = compile({ files: [{ path: 'a.policy', text }], readListFile });
  const prepared = link(program!);
  const steps = prepared.prepare();
  let count = 0;
  // Some requests arrive between the steps.
  for (; steps.next().done !== true; count += 1)
    if (count % 10 === 0) prepared.decideTraced(facts('a.many', count));
  expect(count).toBeGreaterThan(10);
  const atFirstUse = link(program!);
  for (let n = 0; n < 430; n += 7) {
    for (const action of ['a.many', 'a.few', 'a.none']) {
      expect(prepared.decideTraced(facts(action, n))).toEqual(atFirstUse.decideTraced(facts(action, n)));
      expect(prepared.decide(facts(action, n))).toEqual(atFirstUse.decide(facts(action, n)));
    }
  }
});
