// Claims with known answers: each is proved or refuted as it should be, every refutation lies in the time for
// which proofs hold, and no random request refutes what is proved.

import { describe, expect, it } from 'vitest';
import type { GuaranteeClause, PolicySet } from '../../src/language/model/policy.ts';
import { refutation, withClauseFacts } from '../../src/language/spec/guarantee-clause.ts';
import { checkPayload } from '../../src/language/spec/payload.ts';
import { compileToProgram } from '../../src/pipeline.ts';
import { horizon } from '../../src/reasoning/cells/times.ts';
import { randomRequest, requestSource } from '../../src/reasoning/guarantees/request.ts';
import { proveGuarantees } from '../../src/reasoning/prove/prove.ts';
import { checkLog } from '../../src/reasoning/solver/check-log.ts';
import { constructClaims } from './construct-claims.ts';
import { type KnownClaims, knownClaims } from './known-claims.ts';

function judge({ policies, on }: KnownClaims, claim: string) {
  const text = `${policies}\nguarantee question on ${on} { ${claim} }\n`;
  const missing = { code: 'list-file-missing', message: '' } as const;
  const { set, diagnostics } = compileToProgram({
    files: [{ path: 'a.policy', text }],
    readListFile: () => missing,
  });
  if (set === null)
    throw new Error(JSON.stringify(diagnostics.filter(({ severity }) => severity === 'error')));
  return { set, verdict: proveGuarantees(set)[0]! };
}

const drawn = 300;

/** The first of some random requests that refutes the claim; null when none does. */
function refutedAtRandom(set: PolicySet, claim: GuaranteeClause, on: string): unknown {
  const source = requestSource(set, 5);
  const action = set.actions.get(on)!;
  for (let round = 0; round < drawn; round += 1) {
    const facts = withClauseFacts(claim, randomRequest(source, action));
    if (checkPayload(action.shape, facts.payload).length === 0 && refutation(set, claim, facts) !== null)
      return facts;
  }
  return null;
}

describe.each(knownClaims)('$name', (known) => {
  it.each(known.proved)('proves: %s', (text) => {
    const { set, verdict } = judge(known, text);
    expect(verdict.kind).toBe('proved');
    for (const one of verdict.verdicts)
      if (one.kind === 'proved') expect(checkLog(one.proof, one.proof.assumptions)).toBe(true);
    expect(refutedAtRandom(set, verdict.claim, known.on)).toBeNull();
  });

  it.each(known.refuted)('refutes: %s', (text) => {
    const { set, verdict } = judge(known, text);
    expect(verdict.kind).toBe('refuted');
    for (const one of verdict.verdicts) {
      if (one.kind !== 'refuted') continue;
      expect(refutation(set, verdict.claim, one.facts)).toEqual(one.decision);
      expect(one.facts.nowMs / 1000).toBeGreaterThanOrEqual(horizon.from);
      expect(one.facts.nowMs / 1000).toBeLessThanOrEqual(horizon.to);
    }
  });
});

describe('claims about approvers from data, rows, definitions, conditionals, words and quantities', () => {
  it('are decided, 95 of 100 of them, and none is decided wrongly', { timeout: 300_000 }, () => {
    const open: string[] = [];
    const wrong: string[] = [];
    const times: (readonly [milliseconds: number, claim: string])[] = [];
    for (const known of constructClaims)
      for (const [expected, claims] of [
        ['proved', known.proved],
        ['refuted', known.refuted],
      ] as const)
        for (const claim of claims) {
          const startMs = performance.now();
          const { set, verdict } = judge(known, claim);
          times.push([performance.now() - startMs, claim]);
          if (verdict.kind === 'undecided') open.push(claim);
          else if (verdict.kind !== expected) wrong.push(`${verdict.kind}: ${claim}`);
          if (verdict.kind === 'proved') expect(refutedAtRandom(set, verdict.claim, known.on)).toBeNull();
          for (const one of verdict.verdicts)
            if (one.kind === 'refuted')
              expect(refutation(set, verdict.claim, one.facts)).toEqual(one.decision);
        }
    const [slowestMs, slowest] = times.toSorted(([a], [b]) => b - a)[0]!;
    console.log(
      `${times.length - open.length} of ${times.length} decided; ${slowestMs.toFixed(0)} ms: ${slowest}`,
    );
    expect(wrong).toEqual([]);
    // All of the known claims above are decided.
    const all = times.length + knownClaims.flatMap(({ proved, refuted }) => [...proved, ...refuted]).length;
    expect(times.length).toBeGreaterThanOrEqual(40);
    expect(all).toBeGreaterThanOrEqual(100);
    expect([open, open.length <= all * 0.05]).toEqual([open, true]);
  });
});
