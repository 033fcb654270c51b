// Makes an example request of an action from the action's declaration. It fits the declared shape whenever
// the types state all their limits.

import type { ActionWords, Vocabulary } from '../../../language/assist/vocabulary.ts';

/** The example as JSON text, as a person would write it. */
export function exampleText(action: ActionWords, { names }: Vocabulary, at: string): string {
  const meters = Object.fromEntries(names.meters.map((name) => [name, 0]));
  const request = {
    action_key: action.key,
    payload: membersBelow(action, 'payload'),
    agent: { name: 'example-agent', risk_tier: 'low', tags: [], control_owner: 'owner@example.com' },
    at,
    ...(names.meters.length === 0 ? {} : { meters }),
  };
  return `${JSON.stringify(request, null, 2)}\n`;
}

type Fields = ActionWords['fields'];

/** Members that may be absent are left out. */
function membersBelow({ fields }: { readonly fields: Fields }, base: string): Record<string, unknown> {
  const members = fields.flatMap(({ path, type }): readonly (readonly [string, unknown])[] => {
    const name = path.startsWith(`${base}.`) ? path.slice(base.length + 1) : '';
    const isOwn = /^(?:\w+|"(?:[^"\\]|\\.)*")$/.test(name);
    if (!isOwn || type.endsWith(' (may be absent)')) return [];
    return [[name.startsWith('"') ? String(JSON.parse(name)) : name, exampleOf(type, path, fields)]];
  });
  return Object.fromEntries(members);
}

function exampleOf(written: string, path: string, fields: Fields): unknown {
  const type = written.replace(/^(?:secret |signed )+/, '').replace(/ \| null$/, '');
  if (type.startsWith('{')) return membersBelow({ fields }, path);
  if (type.startsWith('[')) {
    const end = type.lastIndexOf(']');
    const least = Number(/^ (\d+)\.\./.exec(type.slice(end + 1))?.[1] ?? 1);
    const one = exampleOf(type.slice(1, end), `${path}[]`, fields);
    return Array.from({ length: Math.max(1, least) }, () => one);
  }
  const [text] = /^"(?:[^"\\]|\\.)*"/.exec(type) ?? [];
  if (text !== undefined) return JSON.parse(text);
  const word = /^\w+/.exec(type)?.[0] ?? '';
  const [, low = '', high = ''] = / (\S*?)\.\.(\S*)$/.exec(type) ?? [];
  if (word === 'number' || word === 'integer' || word === 'money') return numberWithin(low, high, word);
  if (word === 'string')
    return textWithin(Number(low), high === '' ? Number.POSITIVE_INFINITY : Number(high));
  const example = examples[word] ?? null;
  // When the type has a bound on times, the bound itself is the example.
  return isTime(word) && (low !== '' || high !== '') ? low || high : example;
}

const examples: Readonly<Record<string, unknown>> = {
  boolean: true,
  ip: '203.0.113.7',
  any: 'anything',
  email: 'someone@example.com',
  url: 'https://example.com/',
  web_address: 'example.com',
  path: '/workspace/file.txt',
  date: '2026-03-02',
  timestamp: '2026-03-02T10:00:00Z',
  datetime: '2026-03-02 10:00',
  duration: '1h',
};

function isTime(word: string): boolean {
  return ['date', 'timestamp', 'datetime', 'duration'].includes(word);
}

function numberWithin(low: string, high: string, word: string): number {
  const usual = word === 'money' ? 100 : 1;
  const least = low === '' ? Number.NEGATIVE_INFINITY : Number(low);
  const most = high === '' ? Number.POSITIVE_INFINITY : Number(high);
  return Math.min(Math.max(usual, least), most);
}

function textWithin(least: number, most: number): string {
  return 'example'.padEnd(least, '.').slice(0, most);
}
