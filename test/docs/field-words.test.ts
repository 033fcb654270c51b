// The names of the HTTP API and of the command line are the field's terms: no operation, path, parameter,
// field, command or option goes by a word that a term has replaced.

import { expect, it } from 'vitest';
import { openApiDocument } from '../../src/service/http/contract/openapi.ts';
import { describedRoutes } from '../../src/service/http/resources/all-routes.ts';
import { writ } from '../cli/writ.ts';

type Kind = 'operation' | 'path' | 'parameter' | 'field' | 'command';

interface Name {
  readonly kind: Kind;
  readonly name: string;
}

interface Replaced {
  /** Matches the replaced word in a name in kebab case. */
  readonly word: RegExp;
  readonly use: string;
  /** The kinds of names that it is about; all if absent. */
  readonly kinds?: readonly Kind[];
}

const operation = ['operation'] as const;
const data = ['field', 'parameter'] as const;

const replaced: readonly Replaced[] = [
  { word: /\bnews\b/, use: 'events, the event stream' },
  { word: /^(list-|get-)?changes$/, use: 'audit log', kinds: operation },
  { word: /\bcompar(e|ed|ison)\b/, use: 'diff', kinds: ['operation', 'path', 'parameter', 'field'] },
  { word: /\bchanged-sentences\b|^sentences$/, use: 'a diff of summaries', kinds: ['operation', 'path'] },
  { word: /(?<!kill-)\bswitch(es)?\b/, use: 'kill switch' },
  { word: /^(list-|take-)?claims?(-request)?$/, use: 'review lock, clause, or claim of a token' },
  {
    word: /\bpoints?\b(?<!(enforcement|decision)-points?)/,
    use: 'enforcement point',
    kinds: ['operation', 'path'],
  },
  { word: /\blook-alikes?\b|\blooks-like\b/, use: 'confusable' },
  { word: /\bhandling\b/, use: 'assignment' },
  { word: /\btells?-change\b/, use: 'refusal hints' },
  { word: /\bput-off\b/, use: 'snooze' },
  { word: /\btake-back\b/, use: 'revoke approval' },
  { word: /\bgive\b/, use: 'release', kinds: ['operation', 'path'] },
  { word: /^(ask|offer)-/, use: 'get … challenge, get … options, start … setup', kinds: operation },
  { word: /^hook-/, use: 'a noun, such as claude code hook', kinds: operation },
  { word: /^make-/, use: 'create', kinds: operation },
  { word: /^change-(?!password$)/, use: 'update', kinds: operation },
  { word: /^remove-/, use: 'delete', kinds: operation },
  { word: /^look-at-|^look$/, use: 'get, preview', kinds: ['operation', 'path'] },
  { word: /-(on|off)$|^turn-/, use: 'active, create, deactivate', kinds: operation },
  {
    word: /-of-(person|agent|point|request)$/,
    use: 'the noun in front: list person sessions',
    kinds: operation,
  },
  { word: /-by-passkey$/, use: 'with', kinds: operation },
  { word: /^may$/, use: 'allowed actions, permissions' },
  { word: /^why(-not)?$/, use: 'reason' },
  { word: /\bfell-away\b/, use: 'invalidated, invalid reason' },
  { word: /^is-on$/, use: 'active' },
  { word: /^is-whole$/, use: 'is complete' },
  { word: /^is-shipped$/, use: 'is built in' },
  { word: /^is-this-one$/, use: 'is current' },
  { word: /^has-read$/, use: 'directory digest' },
  { word: /-because$/, use: '… reason' },
  { word: /^(began|over)-at$/, use: 'started at, ended at' },
  { word: /^at-once$/, use: 'immediately', kinds: data },
  { word: /-a-(vote|day|hour|minute|second|request)$/, use: '… per …' },
  { word: /-of-all$/, use: 'total …' },
  { word: /-others$/, use: '… omitted' },
  {
    word: /^(come|gone|left|way|said|told|shown|known|made|found)$/,
    use: 'added, removed, remaining, method, …',
    kinds: data,
  },
];

/** `listAlertRules`, `mail_roles` and `--dry-run` as words joined by hyphens. */
function kebab(name: string): string {
  return name
    .replace(/^-+/, '')
    .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

function replacedIn(names: readonly Name[]): readonly string[] {
  return names.flatMap(({ kind, name }) =>
    replaced
      .filter(({ word, kinds }) => (kinds === undefined || kinds.includes(kind)) && word.test(kebab(name)))
      .map(({ use }) => `${kind} ${name}: ${use}`),
  );
}

/** The names of fields anywhere in a part of the document, without those in examples. */
function fieldsIn(part: unknown): readonly string[] {
  if (Array.isArray(part)) return part.flatMap(fieldsIn);
  if (typeof part !== 'object' || part === null) return [];
  return Object.entries(part).flatMap(([key, value]) => {
    if (key === 'example' || key === 'examples') return [];
    if (key !== 'properties' || typeof value !== 'object' || value === null) return fieldsIn(value);
    return Object.entries(value).flatMap(([name, schema]) => [name, ...fieldsIn(schema)]);
  });
}

function namesOfApi(): readonly Name[] {
  const { paths } = openApiDocument(describedRoutes(1_000));
  return Object.entries(paths).flatMap(([path, methods]) => [
    ...path
      .split('/')
      .filter((step) => step !== '' && !step.startsWith('{'))
      .map((name): Name => ({ kind: 'path', name })),
    ...Object.values(methods).flatMap(({ operationId, ...parts }): readonly Name[] => [
      { kind: 'operation', name: operationId },
      ...parts.parameters.map(({ name }): Name => ({ kind: 'parameter', name: String(name) })),
      ...fieldsIn(parts).map((name): Name => ({ kind: 'field', name })),
    ]),
  ]);
}

async function namesOfCommandLine(): Promise<readonly Name[]> {
  const { stdout } = await writ(['completion', 'bash']);
  const offered = [...stdout.matchAll(/'writ[^']*'\) echo '([^']*)'/g)].flatMap(([, words = '']) =>
    words.split(' '),
  );
  return [...new Set(offered)].map((name) => ({ kind: 'command', name }));
}

it('holds for the HTTP API', () => {
  const names = namesOfApi();
  expect(names.length).toBeGreaterThan(1_000);
  expect(replacedIn(names)).toEqual([]);
});

it('holds for the command line', async () => {
  const names = await namesOfCommandLine();
  expect(names.length).toBeGreaterThan(150);
  expect(replacedIn(names)).toEqual([]);
});

it.each<[Kind, string]>([
  ['operation', 'giveRequestBack'],
  ['operation', 'listAlertsOn'],
  ['operation', 'turnSwitchOn'],
  ['operation', 'listSessionsOfPerson'],
  ['path', 'points'],
  ['field', 'fell_away'],
  ['field', 'minutes_a_vote'],
  ['command', 'tell-change'],
])('notices the %s %s', (kind, name) => expect(replacedIn([{ kind, name }])).not.toEqual([]));

it.each<[Kind, string]>([
  ['operation', 'changePassword'],
  ['operation', 'createKillSwitch'],
  ['path', 'enforcement-points'],
  ['command', '--sso-groups-claim'],
  ['command', 'kill-switch'],
])('lets the %s %s pass', (kind, name) => expect(replacedIn([{ kind, name }])).toEqual([]));
