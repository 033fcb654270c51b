// The dashboard has the words of the HTTP API: no text, address, file, component or style goes by a word that a term
// has replaced. `field-words.test.ts` is the same law for the API and the command line.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vite';
import { expect, it } from 'vitest';

type Kind = 'text' | 'name' | 'address';

interface Word {
  readonly kind: Kind;
  /** A text as people read it, or a name in kebab case. */
  readonly text: string;
}

interface Replaced {
  readonly word: RegExp;
  readonly use: string;
  /** The kinds of words that it is about; all if absent. */
  readonly kinds?: readonly Kind[];
}

const replaced: readonly Replaced[] = [
  { word: /(?<!\btoken[ -])\bclaim(s|ed|ing)?\b/i, use: 'review lock, clause, or claim of a token' },
  { word: /\blooking at\b|\bclaims-looking\b/i, use: 'reviewing' },
  { word: /\bgiv(e|es|en)( it)? back\b/i, use: 'end the review', kinds: ['text'] },
  { word: /\bput(s|ting)?[- ]((it|this|them) )?off\b/i, use: 'snooze' },
  { word: /\b(bring|brings|brought)( it)? back\b/i, use: 'unsnooze', kinds: ['text'] },
  { word: /\bcomparisons?\b|\bcompared?\b(?! with\b)|\bwhat chang/i, use: 'diff' },
  { word: /\bnews\b|\bchange[- ]feed\b/i, use: 'event stream' },
  { word: /(?<!kill[- ])\bswitch(es)?\b(?! to\b)/i, use: 'kill switch' },
  // In sentences only: `point` is a field of a request.
  { word: /^(?=.* ).*(?<!enforcement |code )\bpoints?\b/i, use: 'enforcement point', kinds: ['text'] },
  { word: /^points?$/, use: 'enforcement point', kinds: ['address'] },
  { word: /\blook-?alikes?\b/i, use: 'confusable' },
  { word: /\bhandling\b/i, use: 'assignment' },
];

const folder = join(import.meta.dirname, '../../src/dashboard');
const files = globSync('**/*.{ts,tsx,css}', { cwd: folder, exclude: ['dist', '.dist-*'] });

/** Attributes and properties whose texts nobody reads. */
const unread = new Set(['class', 'href', 'icon', 'key', 'name', 'access', 'data-row', 'dateTime', 'path']);

function wordsIn(file: string): readonly Word[] {
  const source = readFileSync(join(folder, file), 'utf8');
  const ofPath = file
    .replace(/\.\w+$/, '')
    .split('/')
    .map(nameOf);
  if (file.endsWith('.css'))
    return [...ofPath, ...[...source.matchAll(/\.([a-z][\w-]*)/g)].map(([, name = '']) => nameOf(name))];
  return [...ofPath, ...wordsOf(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }))];
}

/** Texts and declared names of a syntax tree. */
function wordsOf(node: unknown): readonly Word[] {
  if (Array.isArray(node)) return node.flatMap(wordsOf);
  if (typeof node !== 'object' || node === null) return [];
  const { type, id, key, name, value } = node as Readonly<Record<string, unknown>>;
  switch (type) {
    case 'ImportDeclaration':
    case 'TSLiteralType':
      return [];
    case 'JSXText':
      return [textOf(value)];
    case 'Literal':
      return typeof value === 'string' ? [textOf(value)] : [];
    case 'TemplateElement':
      return [textOf(Object(value).cooked)];
    case 'JSXAttribute':
      return unread.has(Object(name).name) ? [] : wordsOf(value);
    case 'Property':
      return unread.has(Object(key).name) ? [] : wordsOf(value);
    case 'CallExpression':
      if (['useGrant', 'call', 'useResource'].includes(Object(Object(node).callee).name)) return [];
  }
  const declared = typeof Object(id ?? key).name === 'string' ? [nameOf(Object(id ?? key).name)] : [];
  return [...declared, ...Object.values(node).flatMap(wordsOf)];
}

function textOf(text: unknown): Word {
  return { kind: 'text', text: String(text).replaceAll(/\s+/g, ' ').trim() };
}

/** `useKillSwitches` as `use-kill-switches`. */
function nameOf(name: string): Word {
  return { kind: 'name', text: name.replaceAll(/([a-z\d])([A-Z])/g, '$1-$2').toLowerCase() };
}

function replacedIn(words: readonly Word[]): readonly string[] {
  return words.flatMap(({ kind, text }) =>
    replaced
      .filter(({ word, kinds }) => (kinds === undefined || kinds.includes(kind)) && word.test(text))
      .map(({ use }) => `${kind} ${text}: ${use}`),
  );
}

it.each(files)('holds for %s', (file) => expect(replacedIn(wordsIn(file))).toEqual([]));

it('holds for the addresses of pages', () => {
  const source = readFileSync(join(folder, 'pages.ts'), 'utf8');
  const steps = [...source.matchAll(/pattern: '(.*?)'/g)].flatMap(([, pattern = '']) => pattern.split('/'));
  expect(steps.length).toBeGreaterThan(50);
  expect(replacedIn(steps.map((text) => ({ kind: 'address', text })))).toEqual([]);
});

it('reads texts and names of the dashboard', () => {
  const words = files.flatMap(wordsIn);
  expect(words.filter(({ kind }) => kind === 'text').length).toBeGreaterThan(2_000);
  for (const text of ['Start review', 'Snooze…', 'use-kill-switches', 'review-mark', 'Enforcement points'])
    expect(words.map((word) => word.text)).toContain(text);
});

it.each<[Kind, string]>([
  ['text', 'Claimed: others see it'],
  ['text', 'You are looking at it'],
  ['text', 'Put off until'],
  ['text', 'Your copy cannot be compared'],
  ['text', 'Register a point'],
  ['name', 'look-alikes-note'],
  ['name', 'comparison-result'],
  ['address', 'points'],
])('notices the %s %s', (kind, text) => expect(replacedIn([{ kind, text }])).not.toEqual([]));

it.each<[Kind, string]>([
  ['text', 'Kill switch'],
  ['text', 'how it compares with the last'],
  ['text', 'Enforcement points'],
  ['name', 'review-lock-button'],
  ['address', 'enforcement-points'],
])('lets the %s %s pass', (kind, text) => expect(replacedIn([{ kind, text }])).toEqual([]));
