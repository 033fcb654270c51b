// The hint under a new password predicts a refusal exactly when the service refuses the password.

import { expect, test } from 'vitest';
import { passwordHint } from '../../src/dashboard/parts/form/password-hint.ts';
import { passwordFormProblem } from '../../src/service/people/passwords.ts';

const owner = { name: 'Ann Miller', email: 'ann.miller@example.com' };

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
  'ANN.MILLER likes long walks',
  'writ keeps me awake',
  'Writ2026 keeps me',
  'handwriting is an art',
  '😀😁😂😃😄😅😆😇😈😉😊😋',
  '😀😁😂😃😄😅',
  'ÄÖÜäöüßßßßßß',
])('%j', (password) => {
  expect(passwordHint(password, owner).level === 0).toBe(passwordFormProblem(password, owner) !== null);
});

test('longer and more varied is stronger', () => {
  const levels = ['twelve chars', 'sixteen chars ok', 'correct horse battery staple'].map(
    (password) => passwordHint(password, owner).level,
  );
  expect(levels).toEqual([1, 2, 3]);
});
