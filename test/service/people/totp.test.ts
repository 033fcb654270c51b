// One-time codes against the vectors of RFC 6238, appendix B, cut to six digits.

import { describe, expect, it } from 'vitest';
import { acceptTotp, createTotpSecret, totpAt, totpUri } from '../../../src/service/people/totp.ts';

/** `12345678901234567890` in base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('a one-time code', () => {
  it.each([
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ])('at second %i is %s', (second, code) => {
    expect(totpAt(secret, second * 1000)).toBe(code);
    expect(acceptTotp(code, { secret, lastStep: null, nowMs: second * 1000 })).toBe(Math.floor(second / 30));
  });

  it('is accepted half a minute early and late, and not a second more', () => {
    // The half minute of the code began 11 s before this time.
    const at = (second: number) =>
      acceptTotp('050471', { secret, lastStep: null, nowMs: (1_111_111_111 + second) * 1000 }) !== 'wrong';
    expect([-32, -31, 0, 28, 58, 59].map(at)).toEqual([false, true, true, true, true, false]);
  });

  it('is accepted once, and no earlier one is accepted after it', () => {
    const nowMs = 1_111_111_111_000;
    const lastStep = acceptTotp('050471', { secret, lastStep: null, nowMs }) as number;
    expect(lastStep).toBe(Math.floor(nowMs / 30_000));
    expect(acceptTotp('050471', { secret, lastStep, nowMs })).toBe('used');
    expect(acceptTotp('081804', { secret, lastStep, nowMs })).toBe('used');
    const next = totpAt(secret, nowMs + 30_000);
    expect(acceptTotp(next, { secret, lastStep, nowMs: nowMs + 30_000 })).toBe(lastStep + 1);
  });

  it.each(['', '28708', '2870820', '28708a', ' 287082', '２８７０８２'])('is not %j', (code) => {
    expect(acceptTotp(code, { secret, lastStep: null, nowMs: 59_000 })).toBe('wrong');
  });

  it('has a separate secret, which an app can read', () => {
    const made = createTotpSecret();
    expect(made).toMatch(/^[A-Z2-7]{32}$/);
    expect(createTotpSecret()).not.toBe(made);
    const uri = new URL(totpUri(made, { issuer: 'Writ', account: 'ann@example.com' }));
    expect(uri.searchParams.get('secret')).toBe(made);
    expect(decodeURIComponent(uri.pathname)).toBe('/Writ:ann@example.com');
  });
});
