/**
 * Finds the web links in a text, in order and unchanged: absolute URLs (`scheme://...`) and bare addresses
 * that begin with `www.`. A link that a reader's program might follow is found even when it is no valid URL,
 * so misspelling a link does not get past a guard over the links of a text.
 */

import { canonicalWebAddress } from './url.ts';

const linkStart = /:\/\/|www\./gi;
const schemeCharacter = /[A-Za-z0-9+.-]/;
const letter = /[A-Za-z]/;
const joinedBefore = /[A-Za-z0-9_@.-]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters end a link
const linkEnd = /[\s\u0000-\u001f\u007f-\u009f<>"]/;
const trailing = new Set('.,;:!?\'"');
const openers = '([{';
const closers = ')]}';

/** Returns every link of the text: web addresses in canonical form, other links unchanged. */
export function canonicalLinks(text: string): string[] {
  return links(text).map((link) => canonicalWebAddress(link) ?? link);
}

/**
 * Returns every link of the text. A link ends at white space, a control character, `<`, `>`, `"`, or a
 * closing bracket that the link did not open. Punctuation at its end is not part of a link.
 */
export function links(text: string): string[] {
  const found: string[] = [];
  let done = 0;
  for (const match of text.matchAll(linkStart)) {
    if (match.index < done) continue;
    const start = match[0] === '://' ? schemeStart(text, match.index, done) : bareStart(text, match.index);
    if (start === null) continue;
    const end = endOfLink(text, match.index + match[0].length);
    if (end === match.index + match[0].length) continue;
    found.push(text.slice(start, end));
    done = end;
  }
  return found;
}

/** The start of the scheme before `://`, no earlier than `from`; null when there is no scheme. */
function schemeStart(text: string, colon: number, from: number): number | null {
  let start = colon;
  while (start > from && schemeCharacter.test(text[start - 1] ?? '')) start -= 1;
  while (start < colon && !letter.test(text[start] ?? '')) start += 1;
  return start < colon ? start : null;
}

/**
 * The start of a link that begins with `www.`; null when `www.` continues a word, a host or an e-mail
 * address.
 */
function bareStart(text: string, at: number): number | null {
  return at > 0 && joinedBefore.test(text[at - 1] ?? '') ? null : at;
}

function isLinkEnd(code: number): boolean {
  if (code > 0x9f) return linkEnd.test(String.fromCharCode(code));
  return code <= 0x20 || code >= 0x7f || code === 0x22 || code === 0x3c || code === 0x3e;
}

function isBracket(code: number): boolean {
  return code === 0x28 || code === 0x29 || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d;
}

function endOfLink(text: string, from: number): number {
  const depths = [0, 0, 0];
  let end = from;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (isLinkEnd(code)) break;
    if (!isBracket(code)) continue;
    const character = text[end]!;
    const opened = openers.indexOf(character);
    if (opened >= 0) depths[opened] = (depths[opened] ?? 0) + 1;
    const closed = closers.indexOf(character);
    if (closed < 0) continue;
    const depth = depths[closed] ?? 0;
    if (depth === 0) break;
    depths[closed] = depth - 1;
  }
  while (end > from && trailing.has(text[end - 1] ?? '')) end -= 1;
  return end;
}
