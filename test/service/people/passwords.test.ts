// Passwords: which may be set, and that only the right one is accepted.

import { describe, expect, it } from 'vitest';
import {
  checkPassword,
  hashPassword,
  passwordBytesMax,
  passwordProblem,
} from '../../../src/service/people/passwords.ts';

const owner = { name: 'Ann Example', email: 'ann@example.com' };
const other = { name: 'Ben', email: 'ben.miller@example.com' };

describe('a password to be set', () => {
  it.each(['correct horse battery', 'пароль длинный да', 'x7#kQ9!vR2$m', 'ann loves long walks'])(
    'may be %j',
    async (password) => {
      expect(await passwordProblem(password, owner)).toBeNull();
    },
  );

  it.each([
    ['short', /at least 12/],
    ['aaaaaaaaaaaaaaaa', /different/],
    ['abababababababab', /different/],
    ['ann@example.com', /more than a name/],
    ['AnnExampleAnn1', /more than a name/],
    ['x'.repeat(passwordBytesMax + 1), /at most/],
    // Eleven letters, though more than twelve bytes.
    ['пароль-дли1', /at least 12/],
  ])('may not be %j', async (password, problem) => {
    expect(await passwordProblem(password, owner)).toMatch(problem);
  });

  it.each([
    'password1234',
    'Password2026!',
    'P@ssw0rd1234',
    'iloveyou1234',
    'qwertyuiop123',
    '1q2w3e4r5t6y',
    'letmeinletmein',
    'summer2026!!!',
    'correct horse battery staple',
    'CorrectHorseBatteryStaple',
  ])('is not %j, which easy to guess first', async (password) => {
    expect(await passwordProblem(password, owner)).toMatch(/easy to guess/);
  });

  it.each([
    ['ben.miller likes walks', /your address/],
    ['I am Ben.Miller@Example.com', /your address/],
    ['Writ is my favourite', /the product/],
    ['my-writ-password-9', /the product/],
  ])('does not hold %j', async (password, problem) => {
    expect(await passwordProblem(password, other)).toMatch(problem);
  });

  it('is checked quickly, however long it is', async () => {
    const startedAt = performance.now();
    expect(await passwordProblem('aB3$x9Qz'.repeat(128), owner)).toBeNull();
    expect(await passwordProblem('password'.repeat(128), owner)).toMatch(/easy to guess/);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

describe('a password', () => {
  it('is verified by a hash that names its parameters and not the password', async () => {
    const kept = await hashPassword('correct horse battery');
    expect(kept).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await hashPassword('correct horse battery')).not.toBe(kept);
    const check = (text: string) => checkPassword(text, kept, { key: '', isKnown: false });
    expect(await check('correct horse battery')).toBe('yes');
    expect(await check('correct horse batterz')).toBe('no');
    expect(await check('')).toBe('no');
    expect(await check('x'.repeat(passwordBytesMax + 1))).toBe('no');
  });

  it('of an unknown person never passes', async () => {
    const from = { key: '', isKnown: false };
    expect(await checkPassword('nobody has this password', null, from)).toBe('no');
  });
});
