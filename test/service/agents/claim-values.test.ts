// Which claims fit which identity, and which identities a token could fit together.

import { describe, expect, test } from 'vitest';
import { areAlike, hasClaims, valueProblem } from '../../../src/service/agents/identities/claim-values.ts';

const has = (
  required: Readonly<Record<string, readonly string[]>>,
  claims: Readonly<Record<string, unknown>>,
) => hasClaims(required, (name) => claims[name]);

describe('hasClaims', () => {
  test('compares texts exactly, and takes one of several', () => {
    expect(has({ sub: ['a', 'b'], ref: ['main'] }, { sub: 'b', ref: 'main' })).toBe(true);
    for (const claims of [
      { sub: 'b' },
      { sub: 'B', ref: 'main' },
      { sub: ['b'], ref: 'main' },
      { sub: 'ab', ref: 'main' },
    ])
      expect(has({ sub: ['a', 'b'], ref: ['main'] }, claims)).toBe(false);
    expect(has({ admin: ['true'] }, { admin: true })).toBe(false);
  });

  test('takes a star for one step of a SPIFFE id', () => {
    const sub = ['spiffe://example.org/ns/pay/*'];
    expect(has({ sub }, { sub: 'spiffe://example.org/ns/pay/buyer' })).toBe(true);
    for (const other of ['', 'a/b', '..', '.', '*', 'a%2fb', 'a?b', 'a#b', ' '])
      expect([other, has({ sub }, { sub: `spiffe://example.org/ns/pay/${other}` })]).toEqual([other, false]);
    expect(has({ sub }, { sub: 'spiffe://example.org/ns/payments' })).toBe(false);
    expect(has({ sub }, { sub: 'spiffe://example.org.evil/ns/pay/buyer' })).toBe(false);
  });
});

test('valueProblem refuses a star anywhere else, and what is no SPIFFE id', () => {
  for (const value of ['spiffe://example.org/a', 'spiffe://example.org/a/*', 'repo:a/b:ref:refs/heads/main'])
    expect([value, valueProblem('sub', value)]).toEqual([value, null]);
  for (const value of [
    ...[
      'spiffe://example.org',
      'spiffe://example.org/*',
      'spiffe://example.org/*/a',
      'spiffe://example.org/a/**',
    ],
    ...['spiffe://Example.org/a', 'spiffe://example.org/a/', 'spiffe://example.org/a/../b', 'repo:a/*'],
  ])
    expect([value, valueProblem('sub', value)]).toEqual([value, expect.any(String)]);
  expect(valueProblem('repository', 'spiffe://example.org/a/*')).toEqual(expect.any(String));
});

test('areAlike unless a claim of both tells them apart', () => {
  const alike: [Record<string, string[]>, Record<string, string[]>, boolean][] = [
    [{ sub: ['a'] }, { sub: ['a', 'b'] }, true],
    [{ sub: ['a'] }, { sub: ['b'] }, false],
    [{ sub: ['a'] }, { repository: ['b'] }, true],
    [{ sub: ['a'], ref: ['x'] }, { sub: ['a'], ref: ['y'] }, false],
    [{ sub: ['spiffe://e.org/a/*'] }, { sub: ['spiffe://e.org/a/b'] }, true],
    [{ sub: ['spiffe://e.org/a/*'] }, { sub: ['spiffe://e.org/a/b/*'] }, false],
    [{ sub: ['spiffe://e.org/a/*'] }, { sub: ['spiffe://e.org/a/b/c'] }, false],
  ];
  for (const [left, right, expected] of alike)
    expect([left, right, areAlike(left, right), areAlike(right, left)]).toEqual([
      left,
      right,
      expected,
      expected,
    ]);
});
