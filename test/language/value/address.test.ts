/**
 * URLs, web addresses, host names and e-mail addresses: which are accepted, which are refused, and that they
 * agree with the runtime's own URL.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalEmail, domain } from '../../../src/language/value/email.ts';
import { canonicalHost, isHostName } from '../../../src/language/value/host-name.ts';
import {
  canonicalUrl,
  canonicalWebAddress,
  parseUrl,
  parseWebAddress,
} from '../../../src/language/value/url.ts';

describe('urls', () => {
  test.each([
    ['https://api.example.com/v1', 'https', 'api.example.com', 443],
    ['HTTP://API.Example.COM', 'http', 'api.example.com', 80],
    ['https://example.com.:8443/', 'https', 'example.com', 8443],
    ['ws://example.com?x', 'ws', 'example.com', 80],
    ['wss://example.com#x', 'wss', 'example.com', 443],
    ['ftp://example.com/a', 'ftp', 'example.com', 21],
    ['git+ssh://example.com/a', 'git+ssh', 'example.com', null],
    ['http://localhost:0/x', 'http', 'localhost', 0],
    ['http://example.com:/', 'http', 'example.com', 80],
    ['http://127.0.0.1/', 'http', '127.0.0.1', 80],
    ['http://127.0.0.1./', 'http', '127.0.0.1', 80],
    ['http://[2001:DB8:0::1]:81/', 'http', '[2001:db8::1]', 81],
    ['http://[::ffff:127.0.0.1]/', 'http', '127.0.0.1', 80],
    ['https://example.com/a%20b?c=d/e?f#g/h?i', 'https', 'example.com', 443],
    ['https://1.example.com', 'https', '1.example.com', 443],
    ['https://xn--bcher-kva.example', 'https', 'xn--bcher-kva.example', 443],
    ['https://BÜCHER。example/', 'https', 'xn--bcher-kva.example', 443],
  ])('%s', (text, scheme, host, port) => {
    expect(parseUrl(text)).toEqual({ scheme, host, port });
    expect(parseWebAddress(text)).toEqual({ scheme, host, port });
  });

  test.each([
    'https://api.example.com@evil.test/v1',
    'https://user:pass@example.com/',
    'https://example.com\\@evil.test/',
    'https:\\\\example.com',
    'https://exa mple.com',
    'https://example.com/a b',
    'https://example.com/\n',
    'https://faß.example/',
    'https://a\u200db.example/',
    'https://１２７.0.0.1/',
    'https://example.com/ü',
    'https://example.com/%zz',
    'https://example.com/%2',
    'https://example.com/a#b#c',
    'https://',
    'https:///path',
    'https://.',
    'https://..',
    'https://example..com',
    'https://example.com..',
    'https://-a.com',
    'https://a-.com',
    'https://a_b.example',
    'https://%65xample.com',
    'https://example.com:65536',
    'https://example.com:8x',
    'https://example.com:-1',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://127.0.0.01/',
    'http://1.2.3.4.5/',
    'http://256.1.1.1/',
    'http://a.0x7f/',
    'http://[::1',
    'http://::1/',
    'http://[1.2.3.4]/',
    'http://[::1%25eth0]/',
    'http://[v1.x]/',
    'http://[::1]x/',
    '1http://example.com',
    '://example.com',
    ' https://example.com',
    'https://example.com/<x>',
    'https://example.com/?a[]=1',
    ...[
      'https://[a]b]/',
      `https://${'a'.repeat(64)}.com`,
      `https://${'a.'.repeat(127)}com`,
      '\u0000https://example.com',
    ],
  ])('%j is none', (text) => {
    expect(parseUrl(text)).toBeNull();
    expect(parseWebAddress(text)).toBeNull();
  });

  test('scheme, host and port agree with the URL of the runtime', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (text) => {
        const url = parseUrl(text);
        const known = new URL(text);
        expect(url?.host).toBe(known.hostname);
        expect(`${url?.scheme}:`).toBe(known.protocol);
      }),
    );
  });

  test('what the runtime takes for a numeric address is refused or the same address', () => {
    const hosts = fc.array(fc.constantFrom('0', '1', '127', '0x7f', '0177', '256', '1a', 'f', ''), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(hosts, (labels) => {
        const text = `http://${labels.join('.')}/`;
        const url = parseUrl(text);
        if (url !== null) expect(url.host).toBe(new URL(text).hostname.replace(/\.$/, ''));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('web addresses', () => {
  test.each([
    ['www.informations.com', 'https', 'www.informations.com', 443],
    ['localhost:8080/x', 'https', 'localhost', 8080],
    ['localhost', 'https', 'localhost', 443],
    ['example.com/?next=http://other.example', 'https', 'example.com', 443],
    ['10.0.0.1:80', 'https', '10.0.0.1', 80],
    ['[::1]:80/x', 'https', '[::1]', 80],
    // As links in a text give it.
    ['mailto:a@example.com', 'mailto', 'example.com', null],
  ])('%s', (text, scheme, host, port) => {
    expect(parseWebAddress(text)).toEqual({ scheme, host, port });
    expect(parseUrl(text)).toBeNull();
  });

  test.each([
    'example',
    'example.',
    'foo/bar',
    'javascript:80/alert(1)',
    'mailto:A@example.com?subject=x',
    'mailto:nobody',
    'http:example.com',
    '',
    '/x',
    '//example.com',
    'user@example.com',
    'example.com\\x',
    'http:/example.com',
    '#',
    '2130706433',
  ])('%j is none', (text) => {
    expect(parseWebAddress(text)).toBeNull();
  });
});

test.each([
  ['HTTPS://Example.COM.:443', 'https://example.com/'],
  ['https://example.com:0443/a', 'https://example.com/a'],
  ['http://example.com:443/', 'http://example.com:443/'],
  ['https://example.com:/?', 'https://example.com/'],
  ['https://example.com/a?#', 'https://example.com/a'],
  ['https://example.com/a?b#', 'https://example.com/a?b'],
  ['https://example.com/a?#b?', 'https://example.com/a#b?'],
  ['https://example.com/a/./b/../c', 'https://example.com/a/c'],
  ['https://example.com/a/%2e%2E/%61dmin', 'https://example.com/admin'],
  ['https://example.com/../..', 'https://example.com/'],
  ['https://example.com/a/..', 'https://example.com/'],
  ['https://example.com/a/.', 'https://example.com/a/'],
  ['https://example.com//a//../b', 'https://example.com//a/b'],
  ['https://example.com/a%2fb%3a?%7E=%3d#%41', 'https://example.com/a%2Fb%3A?~=%3D#A'],
  ['https://example.com/%252e', 'https://example.com/%252e'],
  ['http://[2001:DB8:0:0::1]:80', 'http://[2001:db8::1]/'],
  ['http://[::ffff:7f00:1]/', 'http://127.0.0.1/'],
])('%j is %j', (text, canonical) => {
  expect(canonicalUrl(text)).toBe(canonical);
  expect(canonicalWebAddress(text)).toBe(canonical);
  expect(canonicalUrl(canonical)).toBe(canonical);
});

test('a web address has the canonical form of its URL', () => {
  expect(canonicalWebAddress('WWW.Example.com.:443/a/../b')).toBe('https://www.example.com/b');
  expect(canonicalWebAddress('[::1]:80/x')).toBe('https://[::1]:80/x');
});

test('canonical URLs are those of the runtime', () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (text) => {
      const canonical = canonicalUrl(text);
      expect(canonicalUrl(canonical ?? '')).toBe(canonical);
      // The runtime leaves percent-encodings and empty queries unchanged, and encodes apostrophes in queries.
      if (canonical !== null && !/[%']/.test(text))
        expect(canonical).toBe(new URL(text.replace(/#$/, '').replace(/^([^?#]*)\?(?=#|$)/, '$1')).href);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['Example.COM.', 'example.com'],
  ['localhost', 'localhost'],
  ['127.0.0.1.', '127.0.0.1'],
  ['2001:DB8::0:1', '[2001:db8::1]'],
  ['[::ffff:10.0.0.1]', '10.0.0.1'],
  ['bücher.example', 'xn--bcher-kva.example'],
])('%j as a host is %j', (text, canonical) => {
  expect(canonicalHost(text)).toBe(canonical);
});

test.each(['127.1', '0x7f.1', '0177.0.0.1', '2130706433', '', '.', 'a b', 'a/b', 'a:1', '[::1', '[a.b]'])(
  '%j is no host',
  (text) => {
    expect(canonicalHost(text)).toBeNull();
  },
);

test.each([
  ['example.com', true],
  ['EXAMPLE', true],
  ['a.b-c.d', true],
  ['example.com.', false],
  ['', false],
  ['example.1', false],
  ['1.example', true],
])('%j as a host name: %s', (text, expected) => {
  expect(isHostName(text)).toBe(expected);
});

describe('e-mail addresses', () => {
  test.each([
    'bob@example.com',
    "o'brien+tag@mail.example.co.uk",
    'a.b_c-d@x-y.example',
    '1@2.example',
    'A@EXAMPLE.COM',
  ])('%s', (text) => {
    expect(canonicalEmail(text)).not.toBeNull();
  });

  test.each([
    '',
    'bob',
    '@example.com',
    'bob@',
    'bob@localhost',
    'bob@@example.com',
    'a@b@example.com',
    '.bob@example.com',
    'bob.@example.com',
    'b..b@example.com',
    '"bob"@example.com',
    'bob @example.com',
    'bob@example.com.',
    'bob@example.com\n',
    'bob@-example.com',
    'bob@exam_ple.com',
    'bob@10.0.0.1',
    'bob@[10.0.0.1]',
    'böb@example.com',
    'bob@faß.example',
    ...[
      `${'a'.repeat(65)}@example.com`,
      `a@${'b'.repeat(60).concat('.').repeat(4)}${'c'.repeat(10)}.com`,
      'Bob <bob@example.com>',
    ],
  ])('%j is none', (text) => {
    expect(canonicalEmail(text)).toBeNull();
  });

  test.each([
    ['Bob@Mail.Example.COM', 'Bob@mail.example.com'],
    ['bob@Bücher.example', 'bob@xn--bcher-kva.example'],
  ])('%j is %j', (text, canonical) => {
    expect(canonicalEmail(text)).toBe(canonical);
    expect(domain(canonical)).toBe(canonical.split('@')[1]);
  });
});
