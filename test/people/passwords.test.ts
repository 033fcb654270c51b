// Passwords: which may be set, and that only the right one passes.

import { describe, expect, it } from 'vitest';
import {
  checkPassword,
  hashPassword,
  passwordBytesMax,
  passwordProblem,
} from '../../src/service/people/passwords.ts';

const names = ['Ann Example', 'ann@example.com'];

describe('a password to be set', () => {
  it.each(['correct horse battery', 'пароль длинный да', 'x7#kQ9!vR2$m', 'ann loves long walks'])(
    'may be %j',
    (password) => {
      expect(passwordProblem(password, names)).toBeNull();
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
  ])('may not be %j', (password, problem) => {
    expect(passwordProblem(password, names)).toMatch(problem);
  });
});

describe('a password', () => {
  it('passes alone, and its hash says how it was made and not what it is', async () => {
    const kept = await hashPassword('correct horse battery');
    expect(kept).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await hashPassword('correct horse battery')).not.toBe(kept);
    const check = (text: string) => checkPassword(text, kept, { key: '', isKnown: false });
    expect(await check('correct horse battery')).toBe('yes');
    expect(await check('correct horse batterz')).toBe('no');
    expect(await check('')).toBe('no');
    expect(await check('x'.repeat(passwordBytesMax + 1))).toBe('no');
  });

  it('of nobody never passes', async () => {
    const from = { key: '', isKnown: false };
    expect(await checkPassword('nobody has this password', null, from)).toBe('no');
  });
});
