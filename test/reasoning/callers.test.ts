// Claims about data that comes with a request from elsewhere: pushed rows may hold anything for any key, and
// fields that an enforcement point signs are known only when that point asks.

import { expect, it } from 'vitest';
import { hasErrors } from '../../src/language/diagnostic/diagnostic.ts';
import { refutation } from '../../src/language/spec/guarantee-clause.ts';
import { compileToProgram } from '../../src/pipeline.ts';
import { proveGuarantees } from '../../src/reasoning/prove/prove.ts';

const policies = `
action lot.move { n: integer, kind: "a" | "b", asked: signed by "gateway" string, others: [string] }
table lots pushed key n: integer { open: boolean, size: number }
table kinds pushed key k: string { open: boolean }

policy moving on lot.move {
  allow constant when 3 in lots and lots[3].open
  allow kind when kinds[payload.kind].open
  allow asked when payload.asked == "go" and request.point != "none"
  deny closed when kinds["a"].open and payload.kind not in kinds
  deny others when some other in payload.others (kinds[other].open)
  deny direct unless request.point == "gateway"
}
`;

function judged(claim: string) {
  const { set, diagnostics } = compileToProgram({
    files: [{ path: 'a.policy', text: `${policies}\nguarantee asked on lot.move { ${claim} }` }],
    readListFile: (path) => ({ code: 'list-file-missing', message: path }),
  });
  if (set === null || hasErrors(diagnostics)) throw new Error(JSON.stringify(diagnostics));
  return { set, verdict: proveGuarantees(set)[0]! };
}

it.each([
  ['never allow', 'refuted'],
  ['never allow when 3 in lots', 'refuted'],
  ['never allow when not (3 in lots) and not kinds[payload.kind].open', 'undecided'],
  ['allow only when 3 in lots or kinds[payload.kind].open or payload.asked == "go"', 'proved'],
  ['allow only when request.point == "gateway"', 'proved'],
  ['never allow when request.point == "proxy"', 'proved'],
  ['never deny when request.point == "gateway" and kinds["a"].open', 'refuted'],
])('`%s` is %s', (claim, expected) => {
  const { set, verdict } = judged(claim);
  expect(verdict.kind).toBe(expected);
  for (const one of verdict.verdicts)
    if (one.kind === 'refuted') expect(refutation(set, verdict.claim, one.facts)).toEqual(one.decision);
});
