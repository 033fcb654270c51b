// Turns words that agents and people chose into words that no mail or chat program turns into a link, a mention, an
// image or a format: Slack, Mattermost, Microsoft Teams, Discord and Google Chat read the same message in different
// languages, so no language's own escapes would do. Characters that one of them reads become wide forms that look
// alike. INVARIANT: what is inert stays inert when it is made so again.

import { links } from '../../language/value/links.ts';

const unseen = /\p{Default_Ignorable_Code_Point}|\p{Cf}/gu;
const controls = /[\p{Cc}\p{Zl}\p{Zp}]/gu;
const names = /[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)+/gu;

/**
 * The text in one line, without invisible characters, in which mail programs find no link: the dots of host names
 * and the colons behind schemes are wide.
 */
export function sanitizeForMail(text: string): string {
  return text
    .replaceAll(controls, ' ')
    .replaceAll(unseen, '')
    .replaceAll(names, (name: string, at: number, whole: string) => {
      const isAddress = /[/\\@:]$/.test(whole.slice(0, at)) || /^[/\\:@]/.test(whole.slice(at + name.length));
      return isAddress || links(name).length > 0 ? name.replaceAll('.', '．') : name;
    })
    .replaceAll(/(?<=[A-Za-z]):(?=[^\s\d])/g, '：')
    .replaceAll(/\\(?=\\)/g, '＼');
}

/** What some chat reads as a mention, a channel, an image, or a format that hides or changes characters. */
const wide: Readonly<Record<string, string>> = {
  '@': '＠',
  '#': '＃',
  '*': '＊',
  '~': '～',
  '`': "'",
  '[': '［',
  ']': '］',
  '|': '｜',
  '\\': '＼',
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  $$: '＄＄',
};
const read = /\$\$|[@#*~`[\]|\\<>&]/g;
/** A `_` that is not within a word, and the first colon of a picture's name. */
const underscore = /(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu;
const picture = /:(?=[\d+-]*[A-Za-z_][\w+-]*:)/g;
/** What makes a heading, a list or a line of a line that begins so. */
const lineStart = /^\s*(?:(?:[-+=]|\d+[.)])(?=\s|[-+=]|$)\s*)+/;

/** The text as `sanitizeForMail` gives it, in which chats find no link, mention, image or format either. */
export function sanitizeForChat(text: string): string {
  return sanitizeForMail(text)
    .replaceAll(read, (character) => wide[character]!)
    .replaceAll(underscore, '＿')
    .replaceAll(picture, '：')
    .replace(lineStart, (start) => `\u2060${start.trim()} `);
}
