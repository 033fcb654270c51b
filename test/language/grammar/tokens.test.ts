// How text is split into tokens: longest words first, field names may be keywords, nothing is lost.

import { expect, test } from 'vitest';
import {
  tokenEnd,
  tokenize,
  tokenizeWithLists,
  withoutLists,
} from '../../../src/language/syntax/parse/tokens.ts';

const typesOf = (text: string) => tokenize(text).tokens.map(({ tokenType }) => tokenType.name);

test.each([
  ['in inside insider', ['In', 'Inside', 'Name']],
  ['mon monday money', ['Weekday', 'Name', 'Money']],
  ['USD USDC usd', ['Currency', 'Name', 'Name']],
  ['0..100', ['Number', 'Range', 'Number']],
  ['0.01..', ['Number', 'Range']],
  ['10_000 1_000.5', ['Number', 'Number']],
  ['2026-12-20..2027-01-02', ['Date', 'Range', 'Date']],
  ['2026-12-25T09:00:30.25-05:00', ['Instant']],
  ['09:00-17:00', ['Clock', 'Minus', 'Clock']],
  ['15m 15min', ['Duration', 'Number', 'Name']],
  ['a<=b<c==d=e', ['Name', 'AtMost', 'Name', 'Below', 'Name', 'Equal', 'Name', 'Assign', 'Name']],
  ['...,..,.', ['Ellipsis', 'Comma', 'Range', 'Comma', 'Dot']],
  ['"a\\"b" \'a\\\' "', ['QuotedText', 'RawText', 'UnterminatedQuoted']],
])('%s', (text, types) => {
  expect(typesOf(text)).toEqual(types);
});

test('a word beside a dot, before a colon or after `has` is a name', () => {
  expect(typesOf('deny.when in: not?: x has has has')).toEqual([
    'Name',
    'Dot',
    'Name',
    'Name',
    'Colon',
    'Name',
    'Optional',
    'Name',
    'Has',
    'Name',
    'Has',
  ]);
});

test('some reserved words name policies, rules and guarantees', () => {
  expect(typesOf('policy always on guarantee never on deny inside when')).toEqual([
    ...['Policy', 'Name', 'On', 'Guarantee', 'Name', 'On', 'Deny', 'Name', 'When'],
  ]);
  expect(typesOf('never deny always allow every some deny list')).toEqual([
    ...['Never', 'Deny', 'Always', 'Allow', 'Every', 'Some', 'Deny', 'List'],
  ]);
});

test('comments and strays are kept apart, with their places', () => {
  const { tokens, comments, strays } = tokenize('a # b\n§§ c');
  expect(tokens.map((token) => [token.image, token.startOffset, tokenEnd(token)])).toEqual([
    ['a', 0, 1],
    ['c', 9, 10],
  ]);
  expect(comments.map(({ image, startOffset }) => [image, startOffset])).toEqual([['# b', 2]]);
  expect(strays).toMatchObject([{ start: 6, end: 8 }]);
});

test.each([
  ['x in ["a", "b"]', ['Name', 'In', 'TextList']],
  ['not in [ "a" ,\n "b]" ]', ['Not', 'In', 'TextList']],
  [
    'some x in ["a", "b"]',
    ['Some', 'Name', 'In', 'OpenSquare', 'QuotedText', 'Comma', 'QuotedText', 'CloseSquare'],
  ],
  ['= ["a", "b"]', ['Assign', 'OpenSquare', 'QuotedText', 'Comma', 'QuotedText', 'CloseSquare']],
  ['in ["a"]', ['In', 'OpenSquare', 'QuotedText', 'CloseSquare']],
  ['in ["a", "\\n"]', ['In', 'OpenSquare', 'QuotedText', 'Comma', 'QuotedText', 'CloseSquare']],
])('of lists of texts, only those behind the `in` of a comparison are one token: %s', (text, types) => {
  const { tokens } = tokenizeWithLists(text);
  expect(tokens.map(({ tokenType }) => tokenType.name)).toEqual(types);
  expect(withoutLists(tokens)).toEqual(tokenize(text).tokens);
});
