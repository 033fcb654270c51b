// Says which kind of text a property of a tool holds, by its format, its name and its description: a path, an
// address, or a secret. A kind decides how rules read the text: as a `path`, `..` cannot lead out of a folder.

import { type Json, type JsonObject, member } from '../protocol/messages.ts';

/** A type of the language for texts with a canonical form. */
export type FieldKind = 'path' | 'url' | 'host' | 'email';

/** What is known of a property besides its schema. */
export interface FieldContext {
  readonly name: string;
  /** The description of the tool, which tells what a `source` is. */
  readonly about: string;
}

/** Returns the kind of a text; null for free text, and for a text that may be of two kinds. */
export function fieldKind(schema: JsonObject, named: FieldContext): FieldKind | null {
  const kinds = possibleKinds(schema, named);
  return kinds.length === 1 ? kinds[0]! : null;
}

/** Returns the kinds that a text may have; several for a `path_or_url`. */
export function possibleKinds(schema: JsonObject, { name, about }: FieldContext): readonly FieldKind[] {
  // A data URI is no address, and the type `url` refuses it.
  if (typeof schema.description === 'string' && /\bdata[ :-]ur[il]s?\b/i.test(schema.description)) return [];
  const byFormat = formats[String(schema.format)];
  if (byFormat !== undefined) return [byFormat];
  // A text of another format is of no kind, however it is called.
  if (typeof schema.format === 'string') return [];
  const description = typeof schema.description === 'string' ? schema.description : '';
  const kinds = new Set([
    ...kindsOfName(name, `${description} ${about}`),
    ...kindsOfDescription(description),
  ]);
  return [...kinds];
}

/** Whether the property holds a secret, as a password or a token does. */
export function isSecret(property: Json, name: string): boolean {
  if (member(property, 'writeOnly') === true || member(property, 'format') === 'password') return true;
  const description = member(property, 'description');
  return isSecretName(name) || (typeof description === 'string' && secretDescription.test(description));
}

const formats: Readonly<Record<string, FieldKind>> = {
  email: 'email',
  'idn-email': 'email',
  uri: 'url',
  'uri-reference': 'url',
  iri: 'url',
  'iri-reference': 'url',
  url: 'url',
  hostname: 'host',
  'idn-hostname': 'host',
  path: 'path',
  'file-path': 'path',
  'directory-path': 'path',
};

const refusalHintOf: Readonly<Record<FieldKind, ReadonlySet<string>>> = {
  path: setOf(`path paths filepath filepaths dirpath pathname file files filename filenames dir dirs dirname
    directory directories folder folders subfolder subdirectory cwd pwd workdir basedir homedir outdir rootdir
    workspace worktree`),
  url: setOf(
    'url urls uri uris iri iris link links href hrefs hyperlink permalink website webpage homepage webhook',
  ),
  host: setOf('host hosts hostname hostnames fqdn'),
  email: setOf('email emails mailto'),
};

/** Words that name a place of files in a tool that speaks of files, and anything elsewhere. */
const places = setOf('source sources src destination dest dst target targets from to root location');
const ofFiles = /\b(?:files?|filesystem|folders?|director(?:y|ies)|paths?)\b/i;
/** Words for the people of a letter in a tool that sends mail, and for anything elsewhere. */
const correspondents = setOf('to cc bcc from sender recipient recipients');
const ofMail = /\be-?mails?\b/i;
/** Words after which another one says what a text holds: `email_address`, `path_name`. */
const fillers = setOf('name names address addresses location string value list');

function kindsOfName(name: string, about: string): readonly FieldKind[] {
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  const isFilled = words.length > 1 && fillers.has(last);
  // A name such as `path_or_url` holds either, and a `mail_to` is written to.
  if (words.length === 3 && words[1] === 'or') return [words[0]!, last].flatMap((word) => kindsOfWord(word));
  if (last === 'to' && /^e?mail$/.test(words.at(-2) ?? '')) return ['email'];
  if (isFilled && /^e?mail$/.test(words.at(-2) ?? '')) return ['email'];
  if (isFilled) return kindsOfWord(words.at(-2)!);
  const kinds = kindsOfWord(last);
  if (kinds.length > 0 || words.length > 2) return kinds;
  const isCorrespondent = correspondents.has(last) && ofMail.test(about);
  const isPlace = places.has(last) && ofFiles.test(about);
  return [...(isPlace ? (['path'] as const) : []), ...(isCorrespondent ? (['email'] as const) : [])];
}

function kindsOfWord(word: string): readonly FieldKind[] {
  return (Object.keys(refusalHintOf) as FieldKind[]).filter((kind) => refusalHintOf[kind].has(word));
}

const lead = String.raw`^(?:(?:the|an?|one|optional|required|absolute|relative|full|complete|local|remote|canonical|new|old|file|input|output|source|target|destination|base|root|working|current|parent|filesystem|file system|path of the|path to the|name of the|location of the|list of|array of)\s+)*`;
const follow = String.raw`(?=\s*(?:$|[.,;:(]|(?:to|of|for|in|into|from|inside|under|on|at|where|which|that|with|within|whose|containing|relative|or|and|being|must|should)\b))`;

const descriptions: Readonly<Record<FieldKind, RegExp>> = {
  path: new RegExp(
    `${lead}(?:paths?|file ?paths?|file ?names?|files?|director(?:y|ies)|folders?)${follow}`,
    'i',
  ),
  url: new RegExp(
    `${lead}(?:https?\\s+|web\\s+)?(?:ur[li]s?|links?|web address(?:es)?|web ?pages?)${follow}`,
    'i',
  ),
  host: new RegExp(`${lead}(?:host ?names?|hosts?|domain names?)${follow}`, 'i'),
  email: new RegExp(`${lead}(?:e-?mail address(?:es)?|e-?mails?(?= (?:of|to)\\b))${follow}`, 'i'),
};
const alternative =
  /\bor\s+(?:an?\s+|the\s+)?(?:https?\s+)?(ur[li]|link|path|file|director|folder|e-?mail|host)/i;

function kindsOfDescription(description: string): readonly FieldKind[] {
  const text = description.trim();
  const first = (Object.keys(descriptions) as FieldKind[]).filter((kind) => descriptions[kind].test(text));
  if (first.length === 0) return [];
  const other = alternative.exec(text)?.[1]?.toLowerCase();
  return other === undefined ? first : [...first, kindOfAlternative(other)];
}

function kindOfAlternative(word: string): FieldKind {
  if (/^(?:ur|link)/.test(word)) return 'url';
  if (/^e-?mail/.test(word)) return 'email';
  return word === 'host' ? 'host' : 'path';
}

const secretWords = setOf(`password passwords passwd pwd passphrase passcode secret secrets token tokens jwt
  credential credentials apikey apitoken authtoken accesstoken otp totp cvv cvc authorization cookie cookies`);
/** Words before `key` that make it a secret; a `key` alone is mostly a name. */
const keyWords = setOf('api access private secret auth signing encryption ssh account service master shared');
/** Words before `token` that make it a place in a list. */
const pageWords = setOf('page next continuation sync cursor previous prev pagination start resume');
const secretDescription =
  /^(?:(?:the|an?|your|user'?s?|optional|new|old|current|login|account|bearer|api|access|auth(?:entication)?|private|secret)\s+)*(?:password|passphrase|secret|(?:(?:api|access|private|secret)[ -]?)key|(?:bearer|access|api|auth(?:entication)?)[ -]token|credentials?)(?=\s*(?:$|[.,;:(]|(?:to|of|for|used|that|which|with)\b))/i;

function isSecretName(name: string): boolean {
  const words = wordsOf(name);
  const last = fillers.has(words.at(-1) ?? '') && words.at(-1) !== 'name' ? words.at(-2) : words.at(-1);
  const before = words[words.lastIndexOf(last ?? '') - 1] ?? '';
  if (last === 'key' || last === 'keys') return keyWords.has(before);
  if (last === 'token' || last === 'tokens') return !pageWords.has(before);
  // `pwd` alone is the folder of a shell.
  if (last === 'pwd') return words.length > 1;
  return last !== undefined && secretWords.has(last);
}

/** Returns the words of a name in lower case: `outputDir`, `output_dir` and `output-dir` have two. */
function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.replace(/(?<=\p{L})\d+$/u, ''));
}

function setOf(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/));
}
