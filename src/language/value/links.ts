// Finds what mail and chat programs turn into links: URLs, addresses of web pages without a scheme, and e-mail
// addresses. The text is read as those programs show it: without invisible characters, in compatibility forms
// (`．` is `.`), also with its character references decoded, and also without its tags. INVARIANT: a link that a
// reader's program might follow is found even when it is no valid URL, so misspelling a link does not get past a
// guard over the links of a text; the time is linear in the length of the text.

import { canonicalEmail } from './email.ts';
import { topLevelDomains } from './top-level-domains.ts';
import { canonicalWebAddress } from './url.ts';

const invisible = /\p{Default_Ignorable_Code_Point}|\p{Cf}/gu;
/** Full stops of other scripts, which browsers read as dots. */
const fullStops = /[\u3002\uff61]/g;
const reference =
  /&(?:#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6})|(colon|sol|bsol|period|commat|num|quest|Tab|NewLine|lpar|rpar));?/g;
const named: Readonly<Record<string, string>> = {
  colon: ':',
  sol: '/',
  bsol: '\\',
  period: '.',
  commat: '@',
  num: '#',
  quest: '?',
  Tab: '',
  NewLine: '',
  lpar: '(',
  rpar: ')',
};
const tag = /<\/?[A-Za-z][^<>]*>/g;

/** Letters, digits, dots and hyphens in a row, or an IPv6 address in brackets with something behind it. */
const run = /\[[0-9A-Fa-f:.]{2,45}\](?=[/:])|[\p{L}\p{M}\p{N}.-]+/gu;
const schemeCharacter = /[A-Za-z0-9+.-]/;
const letter = /[A-Za-z]/;
/** Schemes that programs follow without `//`, and with a slash in either direction. */
const loose: ReadonlySet<string> = new Set([
  'http',
  'https',
  'ftp',
  'ws',
  'wss',
  'file',
  'javascript',
  'vbscript',
  'mailto',
]);
/** Schemes that are followed by something of this form. */
const opaque: ReadonlyMap<string, RegExp> = new Map([
  ['data', /[^,\s<>"]{0,200},/y],
  ['tel', /[+\d(]/y],
  ['sms', /[+\d(]/y],
  ['magnet', /\?/y],
]);
const labelForm = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}])?$/u;
const lastLabelForm = /^\p{L}[\p{L}\p{M}-]+$/u;
const fourNumbers = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const localCharacter = /[A-Za-z0-9_.!#$%&'*+/=?^`{|}~-]/;
const localLengthMax = 64;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters end a link
const linkEnd = /[\s\u0000-\u001f\u007f-\u009f<>"]/;
const trailing = new Set('.,;:!?\'"');
const openers = '([{';
const closers = ')]}';

/**
 * Returns every link of the text: web addresses in canonical form, e-mail addresses as `mailto:` and their
 * canonical form, and other links as they are read.
 */
export function canonicalLinks(text: string): string[] {
  return linksAs(text, canonicalLink);
}

function canonicalLink(link: string): string {
  const email = canonicalEmail(link.replace(/^mailto:/i, ''));
  return email === null ? (canonicalWebAddress(link) ?? link) : `mailto:${email}`;
}

/**
 * Returns every link of the text. A link ends at white space, a control character, `<`, `>`, `"`, or a
 * closing bracket that the link did not open. Punctuation at its end is not part of a link. What is found only
 * when the text is read in another way comes last, once.
 */
export function links(text: string): string[] {
  return linksAs(text, (link) => link);
}

function linksAs(text: string, form: (link: string) => string): string[] {
  const [first = '', ...others] = readingsOf(text);
  const canonical = linksIn(first).map(form);
  const seen = new Set(canonical);
  for (const link of others.flatMap(linksIn).map(form)) {
    if (!seen.has(link)) canonical.push(link);
    seen.add(link);
  }
  return canonical;
}

/** The text in the ways in which programs read it. */
function readingsOf(text: string): readonly string[] {
  const plain = text.replaceAll(invisible, '');
  const readings = new Set([compatible(plain)]);
  // Some programs end a link at a character that others do not show.
  if (plain !== text) readings.add(compatible(text.replaceAll(invisible, ' ')));
  for (const reading of [...readings]) {
    if (reading.includes('&')) readings.add(compatible(decoded(reading).replaceAll(invisible, '')));
  }
  for (const reading of [...readings]) {
    if (!reading.includes('<')) continue;
    readings.add(reading.replaceAll(tag, ''));
    // Browsers leave line ends and tabs out of an address in an attribute.
    readings.add(reading.replaceAll(tag, (text) => text.replaceAll(/[\t\r\n]/g, '')));
  }
  return [...readings];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is looked for
const ascii = /^[\u0000-\u007f]*$/;

function compatible(text: string): string {
  return ascii.test(text) ? text : text.normalize('NFKC').replaceAll(fullStops, '.');
}

function decoded(text: string): string {
  return text.replaceAll(reference, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return named[name]!;
    const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
    return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? whole : String.fromCodePoint(code);
  });
}

function linksIn(text: string): readonly string[] {
  const texts: string[] = [];
  let done = 0;
  for (const match of text.matchAll(run)) {
    const end = match.index + match[0].length;
    if (end <= done) continue;
    const from = Math.max(match.index, done);
    const link = schemeLink(text, end, done) ?? emailLink(text, end, done) ?? bareLink(text, from, end);
    if (link === null) continue;
    texts.push(text.slice(link.start, link.end));
    done = link.end;
  }
  return texts;
}

interface LinkRange {
  readonly start: number;
  readonly end: number;
}

/** A link whose scheme ends at a colon. */
function schemeLink(text: string, colon: number, done: number): LinkRange | null {
  if (text[colon] !== ':') return null;
  const start = schemeStart(text, colon, done);
  if (start === null) return null;
  const scheme = text.slice(start, colon).toLowerCase();
  const head = text.startsWith('//', colon + 1) ? colon + 3 : colon + 1;
  const form = opaque.get(scheme);
  if (form !== undefined) form.lastIndex = head;
  const isFollowed =
    head === colon + 3 || text[head] === '\\' || loose.has(lastPart(scheme)) || form?.test(text) === true;
  const end = isFollowed ? endOfLink(text, head) : head;
  return end === head ? null : { start, end };
}

/** What behind a `+`, `.` or `-` could be a scheme by itself, as in `see.https:`. */
function lastPart(scheme: string): string {
  return /[a-z]*$/.exec(scheme)![0];
}

/** The start of the scheme before a colon, no earlier than `from`; null when there is no scheme. */
function schemeStart(text: string, colon: number, from: number): number | null {
  let start = colon;
  while (start > from && colon - start < schemeLengthMax && schemeCharacter.test(text[start - 1] ?? ''))
    start -= 1;
  while (start < colon && !letter.test(text[start] ?? '')) start += 1;
  return start < colon ? start : null;
}

const schemeLengthMax = 64;

/** An e-mail address whose local part ends at an `@`. */
function emailLink(text: string, at: number, done: number): LinkRange | null {
  if (text[at] !== '@') return null;
  const host = hostAt(text, at + 1);
  if (host === null || !isDomain(host)) return null;
  let start = at;
  while (start > done && at - start < localLengthMax && localCharacter.test(text[start - 1] ?? ''))
    start -= 1;
  // A quote or bracket of Markdown around an address is no part of it.
  while (start < at && !/[\p{L}\p{N}_]/u.test(text[start]!)) start += 1;
  return start === at ? null : { start, end: behindHost(text, at + 1 + host.length) };
}

const hostRun = /[\p{L}\p{M}\p{N}.-]+/uy;

/** The host that begins here, without dots and hyphens at its end; null when none does. */
function hostAt(text: string, at: number): string | null {
  hostRun.lastIndex = at;
  const host = hostRun.exec(text)?.[0].replace(trailingDots, '') ?? '';
  return host === '' ? null : host;
}

const trailingDots = /(?<![.-])[.-]+$/;
const leadingDots = /^[.-]+/;

/** A link without a scheme. */
function bareLink(text: string, from: number, runEnd: number): LinkRange | null {
  const whole = text.slice(from, runEnd);
  const host = whole.replace(leadingDots, '').replace(trailingDots, '');
  if (host === '') return null;
  const start = from + whole.replace(/(?<![.-])[.-]+$/, '').length - host.length;
  const behind = start + host.length;
  const before = text.slice(Math.max(0, start - 3), start);
  if (before.endsWith('\\\\') && text[behind] === '\\')
    return { start: start - 2, end: endOfLink(text, behind) };
  const isRooted = /(?:\/|\\){2}$|:\/$/.test(before);
  // The name of a file in a folder is no link.
  if (!isRooted && /[/\\]$/.test(before) && !host.startsWith('www.')) return null;
  if (host.startsWith('[')) return { start, end: endOfLink(text, behind) };
  if (/^www\./i.test(host) && host.length > 4) return { start, end: endOfLink(text, behind) };
  const isAttribute = isRooted && /^[="'(]/.test(before);
  const isFollowed = /[/?#]/.test(text[behind] ?? '') || /^:\d/.test(text.slice(behind, behind + 2));
  const hasPath =
    (text[behind] === '/' && !/^[\s<>"]?$/.test(text[behind + 1] ?? '')) ||
    /^:\d/.test(text.slice(behind, behind + 2));
  const isHost =
    isDomain(host) ||
    (isAttribute && host.split('.').every((label) => labelForm.test(label))) ||
    (isFollowed && fourNumbers.test(host)) ||
    (hasPath && (host === 'localhost' || isName(host)));
  return isHost ? { start, end: behindHost(text, behind) } : null;
}

/** The end of a link whose host ends here. */
function behindHost(text: string, at: number): number {
  return /[/?#\\@]/.test(text[at] ?? '') || /^:\d/.test(text.slice(at, at + 2)) ? endOfLink(text, at) : at;
}

/** Whether the host ends in a top-level domain. */
function isDomain(host: string): boolean {
  const labels = host.split('.');
  return labels.length > 1 && labels.every((label) => labelForm.test(label)) && isTopLevel(labels.at(-1)!);
}

function isTopLevel(label: string): boolean {
  const name = label.toLowerCase();
  return topLevelDomains.has(name) || /^xn--[a-z0-9-]+$/.test(name);
}

/** Whether the host looks like one that only some network knows. */
function isName(host: string): boolean {
  const labels = host.split('.');
  return (
    labels.length > 1 && labels.every((label) => labelForm.test(label)) && lastLabelForm.test(labels.at(-1)!)
  );
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
