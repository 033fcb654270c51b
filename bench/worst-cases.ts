// The payloads that make single constructs of the language slow, as an attacker who wants to hold up a
// decision would write them. Each construct has a policy, and payloads that grow with `size`. The cost may
// grow no faster than the payload, except within the bounds that docs/LANGUAGE.md names under "What a
// decision may cost".

import type { JsonObject } from '../src/language/model/json.ts';

export interface WorstCase {
  readonly name: string;
  readonly policy: string;
  readonly action: string;
  /** Returns a payload of about `size` elements or characters. */
  readonly payloadOf: (size: number) => JsonObject;
}

const action = 'a.b';

function onText(name: string, condition: string, textOf: (size: number) => string): WorstCase {
  return {
    name,
    action,
    policy: `action a.b { text: string }\npolicy p on a.b { allow ok deny d when ${condition} }`,
    payloadOf: (size) => ({ text: textOf(size) }),
  };
}

function onLists(
  name: string,
  fields: string,
  condition: string,
  payloadOf: WorstCase['payloadOf'],
): WorstCase {
  const policy = `action a.b { ${fields} }\npolicy p on a.b { allow ok deny d when ${condition} }`;
  return { name, action, policy, payloadOf };
}

const range = <T>(size: number, element: (at: number) => T): readonly T[] =>
  Array.from({ length: size }, (_, at) => element(at));

const nested: readonly WorstCase[] = [
  onLists(
    'equal elements of two lists',
    'xs: [string], ys: [string]',
    'some x in payload.xs (some y in payload.ys (x == y))',
    (size) => ({ xs: range(size, (at) => `x${at}`), ys: range(size, (at) => `y${at}`) }),
  ),
  onLists(
    'ordered elements of two lists',
    'xs: [{ n: number }], ys: [{ n: number }]',
    'some x in payload.xs (some y in payload.ys (x.n > y.n))',
    (size) => ({ xs: range(size, (at) => ({ n: at })), ys: range(size, (at) => ({ n: size + at })) }),
  ),
  onLists(
    'a count for each element of a list',
    'xs: [number]',
    'some x in payload.xs (count y in payload.xs (y == x) > 1)',
    (size) => ({ xs: range(size, (at) => at) }),
  ),
  onLists(
    'elements in another list of the payload',
    'xs: [string], ys: [string]',
    'some x in payload.xs (x in payload.ys)',
    (size) => ({ xs: range(size, (at) => `x${at}`), ys: range(size, (at) => `y${at}`) }),
  ),
  onLists(
    'lists in a list',
    'xs: [{ ys: [number] }]',
    'some x in payload.xs (some y in x.ys (y < 0))',
    (size) => {
      const side = Math.ceil(Math.sqrt(size));
      return { xs: range(side, () => ({ ys: range(side, (at) => at) })) };
    },
  ),
  onLists(
    'a text against each element of a list',
    'text: string, xs: [string]',
    'some x in payload.xs (payload.text contains x)',
    (size) => ({ text: 'a'.repeat(size), xs: range(Math.ceil(size / 30), () => `${'a'.repeat(30)}b`) }),
  ),
  onLists(
    'each element against the others folded',
    'xs: [string]',
    'some x in payload.xs (some y in payload.xs (fold(x) == fold(y) and x != y))',
    (size) => ({ xs: range(size, (at) => `\u1e9b\u0323${at}`) }),
  ),
  onLists(
    'links for each element of a list',
    'text: string, xs: [number]',
    'some x in payload.xs (some l in links(payload.text) (l == "x" and x > 0))',
    (size) => ({ text: 'www.a '.repeat(size), xs: range(size, (at) => at) }),
  ),
];

const searches: readonly WorstCase[] = [
  onLists(
    'a long text of the payload in another, different at its beginning',
    'text: string, part: string',
    'payload.text contains payload.part',
    (size) => ({ text: 'a'.repeat(size), part: `b${'a'.repeat(size / 2)}` }),
  ),
  onLists(
    'a long text of the payload in another, different in its middle',
    'text: string, part: string',
    'payload.text contains payload.part',
    (size) => ({ text: 'ab'.repeat(size), part: `${'ab'.repeat(size / 4)}b${'ab'.repeat(size / 4)}` }),
  ),
  onText('a part that almost repeats', `payload.text contains "b${'a'.repeat(60)}"`, (size) =>
    'a'.repeat(size),
  ),
  onText('like with many stars', `payload.text like "*${'aab*'.repeat(12)}c"`, (size) => 'aa'.repeat(size)),
  onText('like whose parts are found late', 'payload.text like "*ab*ac*ad*ae*"', (size) => 'ab'.repeat(size)),
  onText('a pattern of choices that overlap', "payload.text matches '(a|aa)*b'", (size) => 'a'.repeat(size)),
  onText('a pattern of repetitions in repetitions', "payload.text matches '(a*)*(a*)*c'", (size) =>
    'a'.repeat(size),
  ),
  onText('a pattern that counts', "payload.text matches '(.*a.{40})*b'", (size) => 'ab'.repeat(size)),
];

const texts: readonly WorstCase[] = [
  onText('folding what has many forms', 'fold(payload.text) == "x"', (size) => '\ufdfa\u1e9b'.repeat(size)),
  onText('folding long runs of marks', 'fold(payload.text) == "x"', (size) =>
    'a\u0315\u0300\u05ae'.repeat(size),
  ),
  onText(
    'folding one run of marks',
    'fold(payload.text) == "x"',
    (size) => `a${'\u0315\u0300'.repeat(size)}`,
  ),
  onText('white space', 'trim(payload.text) == "x" or fold(payload.text) == "x"', (size) =>
    ' \t'.repeat(size),
  ),
  onText('lower case', 'lower(payload.text) == "x"', (size) => '\u0130\u03a3'.repeat(size)),
  onText('phrases that almost stand there', 'payload.text mentions any of ["a a a a a a a a b"]', (size) =>
    'a '.repeat(size),
  ),
  onText('words without end', 'payload.text mentions any of ["aaa"]', (size) => 'a'.repeat(size)),
  onText('links within brackets', 'some l in links(payload.text) (l == "x")', (size) =>
    'www.([{'.repeat(size),
  ),
  onText('links that are none', 'some l in links(payload.text) (l == "x")', (size) =>
    'a://www.'.repeat(size),
  ),
  onText(
    'links that are but punctuation',
    'some l in links(payload.text) (l == "x")',
    (size) => `${'a'.repeat(size)}://${'.'.repeat(size)}`,
  ),
  onText('one scheme without end', 'some l in links(payload.text) (l == "x")', (size) => 'a1+'.repeat(size)),
  onText('a text that is shown', 'length(payload.text) > 1 or payload.text == "x"', (size) =>
    '\u202e'.repeat(size),
  ),
];

const shapes: readonly WorstCase[] = [
  onLists('a path of steps back', 'at: path', 'payload.at inside "/work"', (size) => ({
    at: `/work/${'a/../'.repeat(size)}`,
  })),
  onLists('two long paths', 'at: path, root: path', 'payload.at inside payload.root', (size) => ({
    at: '/a'.repeat(size),
    root: `${'/a'.repeat(size)}/b`,
  })),
  onLists('a web address', 'at: web_address', 'host(payload.at) == "x.test"', (size) => ({
    at: `www.example.com/${'%41'.repeat(size)}`,
  })),
  onLists('a web address that is none', 'at: web_address', 'host(payload.at) == "x.test"', (size) => ({
    at: `${'a.'.repeat(size)}:`,
  })),
  onLists('an e-mail address that is none', 'at: email', 'domain(payload.at) == "x.test"', (size) => ({
    at: `${'a.'.repeat(size)}@`,
  })),
  onLists('a text of a declared form', "at: string matches '([a-z]+-?)*'", 'payload.at == "x"', (size) => ({
    at: `${'a-'.repeat(size)}!`,
  })),
  onLists('sums of numbers far apart', 'xs: [number]', '(sum x in payload.xs (x)) > 5', (size) => ({
    xs: range(size, (at) => (at % 2 === 0 ? 1e-15 : 1e15) * (at + 1)),
  })),
  onLists('sums that need all digits', 'xs: [number]', '(sum x in payload.xs (x / 3)) < 0', (size) => ({
    xs: range(size, (at) => at + 0.1),
  })),
  onLists('points of time', 'xs: [timestamp]', 'some x in payload.xs (x > now)', (size) => ({
    xs: range(size, () => '2020-02-29T23:59:59.123456789+14:00'),
  })),
  onLists('addresses', 'xs: [ip]', 'some x in payload.xs (x in "10.0.0.0/8")', (size) => ({
    xs: range(size, (at) => `2001:db8::${(at % 65_536).toString(16)}`),
  })),
  onLists('keys that nobody declared', 'text: string', 'payload.text == "x"', (size) => ({
    text: '',
    ...Object.fromEntries(range(size, (at) => [`key${at}`, 1])),
  })),
  onLists('elements of the wrong type', 'xs: [number]', 'some x in payload.xs (x < 0)', (size) => ({
    xs: range(size, () => 'x'),
  })),
];

export const worstCases: readonly WorstCase[] = [...nested, ...searches, ...texts, ...shapes];
