// The path of a place in an unfinished YAML text; `|` marks the place.

import { expect, test } from 'vitest';
import { yamlPositionAt } from '../../src/lsp/yaml-position.ts';

const places: readonly (readonly [marked: string, keys: string, isKey: boolean, typed: string])[] = [
  ['|', '', true, ''],
  ['po|', '', true, 'po'],
  ['a: 1\nb|', '', true, 'b'],
  ['limits:\n  bu|', 'limits', true, 'bu'],
  ['limits:\n  burst: 1\nlog:\n  le|', 'log', true, 'le'],
  ['log:\n  level: wa|', 'log level', false, 'wa'],
  ['tests:\n  - na|', 'tests -', true, 'na'],
  ['tests:\n- na|', 'tests -', true, 'na'],
  ['tests:\n  - name: a\n    pay|', 'tests -', true, 'pay'],
  ['tests:\n- name: a\n  pay|', 'tests -', true, 'pay'],
  ['tests:\n  - name: a\n    payload:\n      am|', 'tests - payload', true, 'am'],
  ['tests:\n  - name: a\n    payload:\n      a: 1\n    exp|', 'tests -', true, 'exp'],
  ['tests:\n  - name: a\n    cases:\n      - set:\n          pay|', 'tests - cases - set', true, 'pay'],
  ['tests:\n  - name: a\n    expect: |', 'tests - expect', false, ''],
  ['tests:\n  - name: a\n    expect: { by: pay|', 'tests - expect by', false, 'pay'],
  ['tests:\n  - name: a\n    expect: { by: a, ru|', 'tests - expect', true, 'ru'],
  ['tests:\n  - name: a\n    expect: { rules: [a, b|', 'tests - expect rules -', false, 'b'],
  ['tests:\n  - name: a\n    unset:\n      - pay|', 'tests - unset -', true, 'pay'],
  ['tests:\n  - { action: a, pay|', 'tests -', true, 'pay'],
  ['# a comment\n\ntests:\n  # another\n  - na|', 'tests -', true, 'na'],
  ['a:\n  b:\n    c: 1\n|', '', true, ''],
];

test.each(places)('%j', (marked, keys, isKey, typed) => {
  const place = yamlPositionAt(marked.replace('|', ''), marked.indexOf('|'));
  expect({ ...place, keys: place.keys.join(' ') }).toEqual({
    keys,
    isKey,
    typed,
    from: marked.indexOf('|') - typed.length,
  });
});
