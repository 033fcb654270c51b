/** Which links a text holds, and where they end. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalLinks, links } from '../../../src/language/value/links.ts';
import { parseWebAddress } from '../../../src/language/value/url.ts';

test.each([
  ['see https://a.example.com/1 for more', ['https://a.example.com/1']],
  ['https://a.example.com/1 and http://b.example.com', ['https://a.example.com/1', 'http://b.example.com']],
  ['Visit www.example.com/x.', ['www.example.com/x']],
  ['WWW.EXAMPLE.COM, HTTPS://EXAMPLE.COM!', ['WWW.EXAMPLE.COM', 'HTTPS://EXAMPLE.COM']],
  ['(https://a.example.com/x), then', ['https://a.example.com/x']],
  [
    '[text](https://a.example.com)[b](https://b.example.com/)',
    ['https://a.example.com', 'https://b.example.com/'],
  ],
  ['https://example.com/wiki/Foo_(bar)', ['https://example.com/wiki/Foo_(bar)']],
  ['http://[::1]:80/x', ['http://[::1]:80/x']],
  ['<https://a.example.com> "https://b.example.com"', ['https://a.example.com', 'https://b.example.com']],
  ["'https://a.example.com';", ['https://a.example.com']],
  ['a\nhttps://a.example.com\u0000x', ['https://a.example.com']],
  ['ftp://files.example.com/a', ['ftp://files.example.com/a']],
  ['url:https://a.example.com', ['https://a.example.com']],
  ['1https://a.example.com', ['https://a.example.com']],
  ['смотриhttps://a.example.com', ['https://a.example.com']],
  ['https://a.example.com/?u=https://b.example.com', ['https://a.example.com/?u=https://b.example.com']],
  ['https://user@evil.example.com', ['https://user@evil.example.com']],
  ['awww.example.com me@www.example.com', ['awww.example.com', 'me@www.example.com']],
  ['https:// www. ://x', []],
  ['example.com/path and mail@example.com', ['example.com/path', 'mail@example.com']],
  ['', []],
])('%j', (text, expected) => {
  expect(links(text)).toEqual(expected);
});

/** Spellings that programs turn into a link to evil.example.com. */
const forms = [
  'evil.example.com',
  'evil.example.com/login',
  '//evil.example.com/login',
  'http:evil.example.com',
  'https:/evil.example.com',
  'https:\\\\evil.example.com',
  'HTTPS://EVIL.EXAMPLE.COM',
  'hxxp://evil.example.com',
  'https\u200b://evil.example.com',
  'evil.exam\u00adple.com',
  'e\u2060vil.example.com/x',
  'ｅｖｉｌ．ｅｘａｍｐｌｅ．ｃｏｍ',
  'evil。example。com',
  'evil.example.com:8080/x',
  'evil.example.com?q',
  'evil.example.com#x',
  'https://own.com@evil.example.com',
  'own.com:80@evil.example.com/x',
  'https://own.com\\@evil.example.com',
  'mailto:ann@evil.example.com',
  'ann@evil.example.com',
  'mailto:ann@own.com?bcc=x@evil.example.com',
  'evil&#46;example&#x2e;com',
  'https&colon;&sol;&sol;evil.example.com',
  'java&Tab;script:location="//evil.example.com"',
  'javascript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  'file://evil.example.com/x',
  'ftp:evil.example.com',
  'tel:+4912345',
  '\\\\evil.example.com\\share',
  'evil.<b>example</b>.com',
  '<a href=//evil.example.com>own.com</a>',
  "<a href='//evil/x'>own</a>",
  '<img src="ht\ntps://evil.example.com/x.png">',
  'https://%65vil.example.com',
  'https://evil.example.com.',
  'http://0x7f.1/',
  '10.1.2.3/a',
  '10.1.2.3:8080/',
  '[2001:db8::1]/x',
  'http://[::1]/x',
  'localhost:8080/x',
  'evil.internal/x',
  'пример.рф',
  'xn--e1afmkfd.xn--p1ai',
  'invoice.zip',
  'user+x@evil.example.com',
];

/** Texts around a link. */
const embeddings: readonly ((link: string) => string)[] = [
  (link) => link,
  (link) => `See ${link} now`,
  (link) => `(${link})`,
  (link) => `[own.com](${link})`,
  (link) => `[x]: ${link}`,
  (link) => `<${link}>`,
  (link) => `**${link}**`,
  (link) => `_${link}_`,
  (link) => `"${link}"`,
  (link) => `'${link}'`,
  (link) => `a,${link}`,
  (link) => `a;${link}`,
  (link) => `see:${link}`,
  (link) => `…${link}`,
  (link) => `a\n\n${link}\nb`,
  (link) => `https://own.com ${link}`,
  (link) => `e.g. v1.2.3 | ${link}|`,
  (link) => `\u200b${link}\u200b`,
  (link) => `«${link}»`,
];

test.each(forms)('%j is found in every text', (form) => {
  const missed = embeddings.map((embed) => embed(form)).filter((text) => canonicalLinks(text).every(isOwn));
  expect(missed).toEqual([]);
});

function isOwn(link: string): boolean {
  return parseWebAddress(link)?.host === 'own.com';
}

test.each([
  'e.g. version v1.2.3, i.e. 10.20.30.40 and 3.14',
  'file.ts, Node.js and src/app/main.rs or dir\\run.sh',
  'U.S. at 5 p.m.; note: this; 12:30; a/b; and/or',
  'x@y and @ann, #1, $5.00, 50%, C++, .env, ...',
  'key=value; a.b(c); foo.bar.baz; std::string; ratio 1:2',
  'TODO: tell Ann (see above).Then go',
])('%j has no link', (text) => {
  expect(canonicalLinks(text)).toEqual([]);
});

test('an e-mail address has the host of its domain', () => {
  const [link = ''] = canonicalLinks('write to Ann@Own.COM, please');
  expect(link).toBe('mailto:Ann@own.com');
  expect(parseWebAddress(link)).toEqual({ scheme: 'mailto', host: 'own.com', port: null });
  expect(parseWebAddress('mailto:ann@own.com?bcc=x@evil.com')).toBeNull();
  expect(parseWebAddress('mailto:ann@own.com,x@evil.com')).toBeNull();
});

test('a link that is found in two ways is listed once', () => {
  expect(canonicalLinks('<b>https://a.example.com</b>\u200b &#33;')).toEqual(['https://a.example.com/']);
  expect(canonicalLinks('a.example.com a.example.com')).toHaveLength(2);
});

test('links stand in the text in order and never overlap', () => {
  const unit = fc.constantFrom('http://', 'www.', '://', 'a', '.', '/', ' ', '(', ')', '"', ']', ',', 'é');
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      let from = 0;
      for (const link of links(text)) {
        const at = text.indexOf(link, from);
        expect(at).toBeGreaterThanOrEqual(from);
        from = at + link.length;
      }
    }),
  );
});

test('a URL between spaces is found as it stands', () => {
  fc.assert(
    fc.property(fc.webUrl(), (url) => {
      fc.pre(!/[)\]}]|[.,;:!?'"]$/.test(url));
      expect(links(`see ${url} now`)).toEqual([url]);
    }),
  );
});

test.each([
  '://',
  'www.',
  'a://',
  '://((',
  'x.',
  'http',
  'a@',
  'a+',
  '.-',
  '-',
  '&#',
  '<a',
  '[1',
  '\u200b',
  'a.com@',
  'é.',
])('a long text of %j takes no long time', (piece) => {
  const started = performance.now();
  links(piece.repeat(200_000));
  expect(performance.now() - started).toBeLessThan(2_000);
});
