// What agents write into titles and names reaches people in chats and mail as words alone.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sanitizeForChat, sanitizeForMail } from '../../../src/service/webhooks/sanitize-text.ts';

/** What each program would make something of. */
const readers: Readonly<Record<string, RegExp>> = {
  'a link':
    /[a-z][a-z0-9+.-]*:(?:\/|\\)|\bwww\.|\b[\w-]+\.(?:com|zip|sh|io)\b|\b\d+\.\d+\.\d+\.\d+\/|mailto:|javascript:|\\\\\w/i,
  'a mention in Slack': /<[@!#]/,
  'a mention in Mattermost or Discord': /@[a-z0-9]/i,
  'a channel or tag': /(?<!&)#\w|~\w/,
  'a link or image of Markdown': /\]\(|\]\[|\]:|!\[/,
  'emphasis, strikethrough, code or a spoiler': /\*|~~|`|\|\||__|(?<!\w)_\w|\w_(?!\w)/,
  'a tag of HTML': /<\/?[a-z!]/i,
  'a picture': /:[\d+-]*[a-z_][\w+-]*:/i,
  'a heading, list or line': /^\s*(?:#|[-+*]\s|\d+[.)]\s|={2,}|-{2,})/,
  'another line': /[\r\n\u2028\u2029\u0085]/,
  'an invisible character': /[\u200b\u202e\u00ad\ufeff]/,
};

const payloads = [
  '[Approve](https://evil.example.com/a)',
  '![x](https://evil.example.com/pixel.png)',
  '[a][b] [b]: https://evil.example.com',
  'https://evil.example.com/login',
  'evil.example.com/login',
  'www.evil.example.com',
  'HTTPS://EVIL.EXAMPLE.COM',
  'http:\\\\evil.example.com',
  'https://intranet/x',
  '10.1.2.3/a',
  'mailto:ann@evil.example.com',
  'javascript:alert(1)',
  '\\\\host\\share',
  'invoice.zip, run.sh and evil.io',
  '<https://evil.example.com|approve>',
  '<!channel> <!here> <@U123> <#C1>',
  '@channel @all @here @everyone @ann',
  '~town-square #secret',
  '<at>ann</at> <b>bold</b> <a href="https://evil.example.com">x</a> <img src=x>',
  '&lt;!channel&gt;',
  '5*0*0 EUR, 1__0__0, ~~not~~, ||1000|| and `code`',
  '*bold* _italic_ **bold** __under__',
  ':white_check_mark: approved :+1:',
  '# Approved',
  '- a list',
  '1. a list',
  '=====',
  '> quoted',
  'a\nSubject: b\r\nBcc: evil@evil.example.com',
  'a\u2028b\u0085c',
  'evil\u200b.example.com/x \u202eabc',
  'ev\u00adil.example.com',
  'ｅvil。example.com',
  '$$x$$',
  '\\[a\\](https://evil.example.com)',
  'ann@example.com',
];
/** Titles, agents' names and actions, each with words of the service around them. */
const places: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `An agent asks for ${text} (\`${text}\`), which needs an approval of finance.`,
  (text) => `Ended: ${text}. It lasted from 2026-03-02T10:00:00.000Z to 2026-03-02T10:05:00.000Z.`,
];

test.each(payloads)('%j is inert in every chat', (payload) => {
  for (const place of places) {
    const words = sanitizeForChat(place(payload));
    const seen = Object.entries(readers).filter(([, reader]) => reader.test(words));
    const isOwn = place !== places[0];
    expect([
      words,
      seen.map(([name]) => name).filter((name) => !isOwn || !name.startsWith('a heading')),
    ]).toEqual([words, []]);
  }
});

test.each(payloads)('%j is one line without links in mail', (payload) => {
  const words = sanitizeForMail(payload);
  const seen = ['a link', 'another line', 'an invisible character'].filter((name) =>
    readers[name]!.test(words),
  );
  expect([words, seen]).toEqual([words, []]);
});

test.each([
  'Pay 40.50 USD to Ann (invoice 12/3), at 10:00:00 on 2026-03-02.',
  "Many refusals: 12 of 30, agent 'payments_bot' v1.2.3",
  'Überweisung an Müller-Lüdenscheidt: 5 €',
])('%j stays as it is', (text) => {
  expect(sanitizeForMail(text)).toBe(text);
  expect(sanitizeForChat(text)).toBe(text);
});

test('what is inert stays so', () => {
  const unit = fc.constantFrom(
    'a',
    '.',
    'com',
    ':',
    '/',
    '\\',
    '@',
    '<',
    '[',
    ']',
    '(',
    '!',
    '*',
    '_',
    '|',
    '#',
    '\n',
    ' ',
    '\u200b',
    '1',
  );
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const words = sanitizeForMail(text);
      expect(sanitizeForMail(words)).toBe(words);
      expect(readers['a link']!.test(words)).toBe(false);
      const chat = sanitizeForChat(text);
      for (const name of [
        'a link',
        'a mention in Slack',
        'a mention in Mattermost or Discord',
        'a link or image of Markdown',
      ])
        expect([chat, readers[name]!.test(chat)]).toEqual([chat, false]);
    }),
  );
});
