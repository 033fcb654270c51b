/** Which links a text holds, and where they end. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { links } from '../../src/language/value/links.ts';

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
  ['awww.example.com me@www.example.com', []],
  ['https:// www. ://x', []],
  ['example.com/path and mail@example.com', []],
  ['', []],
])('%j', (text, expected) => {
  expect(links(text)).toEqual(expected);
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

test.each(['://', 'www.', 'a://', '://((', 'x.', 'http'])('a long text of %j takes no long time', (piece) => {
  const started = performance.now();
  links(piece.repeat(200_000));
  expect(performance.now() - started).toBeLessThan(2_000);
});
