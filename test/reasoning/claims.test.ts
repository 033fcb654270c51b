// Claims about who is asked, claims by what they leave, and claims over groups and wildcards: the verdict on
// each, and the rule that grants a refuting request.

import { describe, expect, it } from 'vitest';
import { refutation } from '../../src/language/spec/guarantee-clause.ts';
import { compileToProgram } from '../../src/pipeline.ts';
import { proveGuarantees } from '../../src/reasoning/prove/prove.ts';

const policies = `
approvers finance "Finance"
approvers legal   "Legal"
group purchases

action order.place in purchases { count: integer 0.., vendor: string }
action order.change in purchases { count: integer 0.., vendor: string }
action order.cancel { count: integer 0.., vendor: string }

policy orders on purchases {
  allow small when payload.count <= 5
  allow large after approval by finance needs 2 when payload.count <= 100
  allow larger after approval by finance needs 3 when payload.count <= 200
  escalate new_vendor to legal when payload.vendor != "Staples"
  reauth round when payload.count == 50
  deny blocked when payload.vendor == "Evil"
}
policy cancels on order.cancel {
  allow any when payload.count > 0
}
`;

function verdictsOf(on: string, claim: string) {
  const text = `${policies}\nguarantee asked on ${on} { ${claim} }`;
  const { set, diagnostics } = compileToProgram({
    files: [{ path: 'a.policy', text }],
    readListFile: (path) => ({ code: 'list-file-missing', message: path }),
  });
  if (set === null) throw new Error(JSON.stringify(diagnostics));
  const [judged] = proveGuarantees(set);
  return { set, judged: judged! };
}

describe('claims about who is asked', () => {
  it.each([
    ['purchases', 'always ask finance needs 2 when payload.count > 5', 'proved'],
    ['purchases', 'always ask finance needs 3 when payload.count > 100', 'proved'],
    ['purchases', 'always ask finance needs 3 when payload.count > 99', 'refuted'],
    ['purchases', 'always ask finance when payload.count >= 5', 'refuted'],
    ['purchases', 'always ask legal when payload.vendor != "Staples"', 'proved'],
    ['purchases', 'always ask legal needs 2 when payload.vendor != "Staples"', 'refuted'],
    ['purchases', 'never ask legal when payload.vendor == "Staples"', 'proved'],
    ['purchases', 'never ask legal when payload.vendor == "Evil"', 'proved'],
    ['purchases', 'never ask finance when payload.count <= 5', 'proved'],
    ['purchases', 'never ask finance needs 3 when payload.count <= 100', 'proved'],
    ['purchases', 'never ask finance needs 2', 'refuted'],
    ['purchases', 'always ask finance when payload.count == 50', 'proved'],
    ['purchases', 'never ask owner', 'proved'],
    ['*', 'always ask finance when payload.count > 5', 'refuted'],
    ['order.*', 'never ask legal needs 2', 'proved'],
  ])('on %s, `%s` is %s', (on, claim, expected) => {
    const { set, judged } = verdictsOf(on, claim);
    expect(judged.kind).toBe(expected);
    for (const verdict of judged.verdicts)
      if (verdict.kind === 'refuted')
        expect(refutation(set, judged.claim, verdict.facts)).toEqual(verdict.decision);
  });
});

describe('claims by what they leave', () => {
  it.each([
    ['purchases', 'allow only when payload.count <= 200', 'proved'],
    ['purchases', 'allow only when payload.count <= 100', 'refuted'],
    ['purchases', 'allow unapproved only when payload.count <= 5 and payload.vendor == "Staples"', 'proved'],
    ['purchases', 'allow only when payload.count <= 5', 'refuted'],
    // A condition whose truth is unknown does not count as true.
    ['order.cancel', 'allow only when agent.risk_tier == "low"', 'refuted'],
    ['order.*', 'allow only when payload.vendor != "Evil" or payload.count > 0', 'proved'],
  ])('on %s, `%s` is %s', (on, claim, expected) => {
    expect(verdictsOf(on, claim).judged.kind).toBe(expected);
  });
});

describe('claims over several actions', () => {
  it('say for each action what becomes of them, and which rule lets a request through', () => {
    const { judged } = verdictsOf('*', 'never allow unapproved when payload.vendor == "Evil"');
    expect(judged.verdicts.map(({ action, kind }) => [action, kind])).toEqual([
      ['order.cancel', 'refuted'],
      ['order.change', 'proved'],
      ['order.place', 'proved'],
    ]);
    const [refuted] = judged.verdicts;
    expect(refuted?.kind === 'refuted' && refuted.decision.by).toBe('cancels/any');
  });
});
