// The hint under a new password says that it will be refused exactly where the service refuses it.

import { expect, test } from 'vitest';
import { passwordHint } from '../../src/dashboard/parts/form/password-hint.ts';
import { passwordProblem } from '../../src/service/people/passwords.ts';

const names = ['Ann Miller', 'ann.miller@example.com'];

test.each([
  '',
  'short',
  'elevenchars',
  'twelve chars',
  'aaaaaaaaaaaaaa',
  'abababababababcd',
  'correct horse battery',
  'annmillerannmiller',
  'Ann.Miller@Example.com',
  'ann miller likes long walks',
  '😀😁😂😃😄😅😆😇😈😉😊😋',
  '😀😁😂😃😄😅',
  'ÄÖÜäöüßßßßßß',
])('%j', (password) => {
  expect(passwordHint(password, names).level === 0).toBe(passwordProblem(password, names) !== null);
});

test('longer and more varied is stronger', () => {
  const levels = ['twelve chars', 'sixteen chars ok', 'correct horse battery staple'].map(
    (password) => passwordHint(password, []).level,
  );
  expect(levels).toEqual([1, 2, 3]);
});
