// Claims whose answers are known: no true claim is refuted, no false claim is proved, and nearly all are
// decided. `node bench/claims.ts` prints how long each takes.

import { describe, expect, it } from 'vitest';
import { refutation } from '../../../src/language/spec/guarantee-clause.ts';
import { checkLog } from '../../../src/reasoning/solver/check-log.ts';
import { allFalse, allTrue, provePackClaim } from './prove-pack-claim.ts';

const counts = { decided: 0, all: 0 };

function count(kind: string): void {
  counts.all += 1;
  if (kind !== 'undecided') counts.decided += 1;
}

describe('claims about packs', () => {
  it('has enough claims and packs', () => {
    expect(allTrue.length).toBeGreaterThanOrEqual(60);
    expect(allFalse.length).toBeGreaterThanOrEqual(25);
    expect(new Set([...allTrue, ...allFalse].map(({ pack }) => pack)).size).toBeGreaterThanOrEqual(5);
  });

  it.each(allTrue)('never refutes $pack, $on: $claim', async (packClaim) => {
    const { kind, verdicts } = await provePackClaim(packClaim);
    expect(kind).not.toBe('refuted');
    count(kind);
    for (const verdict of verdicts)
      if (verdict.kind === 'proved') expect(checkLog(verdict.proof, verdict.proof.assumptions)).toBe(true);
  });

  it.each(allFalse)('never proves $pack, $on: $claim', async (packClaim) => {
    const { kind, set, claim, verdicts } = await provePackClaim(packClaim);
    expect(kind).not.toBe('proved');
    count(kind);
    for (const verdict of verdicts)
      if (verdict.kind === 'refuted') expect(refutation(set, claim, verdict.facts)).toEqual(verdict.decision);
  });

  it('decides at least 95 percent', () => {
    expect(counts.all).toBe(allTrue.length + allFalse.length);
    expect(counts.decided / counts.all).toBeGreaterThanOrEqual(0.95);
  });
});
