// The house rules as tests: who may import whom, what is pure, how large a file may grow. They may only tighten.

import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** Part → the parts that it may import besides itself; `docs/ARCHITECTURE.md` shows the same table. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  grammar: [],
  diagnostic: [],
  value: [],
  model: ['diagnostic', 'value'],
  syntax: ['grammar', 'diagnostic'],
  check: ['syntax', 'model', 'diagnostic', 'value'],
  spec: ['model', 'value'],
  reasoning: ['diagnostic', 'model', 'spec', 'value'],
  prove: ['reasoning', 'model', 'spec', 'value'],
  program: ['model', 'value'],
  emit: ['program', 'model', 'value'],
  pipeline: ['syntax', 'check', 'program', 'emit', 'model', 'diagnostic'],
  meters: ['model', 'value'],
  json: ['model'],
  sources: ['pipeline', 'syntax', 'check', 'program', 'emit', 'model', 'diagnostic'],
  playground: [
    ...['grammar', 'pipeline', 'sources', 'syntax', 'check', 'program', 'emit', 'spec', 'prove'],
    ...['requests', 'model', 'diagnostic', 'value'],
  ],
  testing: ['pipeline', 'sources', 'syntax', 'emit', 'spec', 'model', 'diagnostic', 'value', 'json'],
  measure: ['pipeline', 'program', 'emit', 'spec', 'testing', 'model', 'json'],
  store: [],
  agents: ['model', 'store'],
  people: ['model', 'store', 'agents'],
  webhooks: ['store', 'agents', 'people', 'value'],
  audit: ['store', 'agents'],
  requests: ['meters', 'model', 'agents', 'store', 'value'],
  statistics: ['model', 'store', 'requests'],
  dashboard: [],
  server: [
    'json',
    'agents',
    'audit',
    'people',
    'webhooks',
    'requests',
    'statistics',
    'store',
    'playground',
    'sources',
    'model',
    'diagnostic',
  ],
};

/** Packages that one part alone may know; all others may be imported by nobody. */
const packages: Readonly<Record<string, readonly string[]>> = {
  chevrotain: ['grammar', 'syntax'],
  re2js: ['value', 'reasoning'],
  yaml: ['check', 'testing', 'server'],
  'better-sqlite3': ['store'],
  fastify: ['server'],
  chokidar: ['sources'],
  '@node-rs/argon2': ['people'],
  '@simplewebauthn/server': ['people'],
  nodemailer: ['webhooks'],
  commander: ['cli'],
  picocolors: ['cli'],
  '@opentelemetry/api': ['server'],
  '@opentelemetry/sdk-trace': ['server'],
  '@opentelemetry/resources': ['server'],
  '@opentelemetry/exporter-trace-otlp-http': ['server'],
  tsx: ['cli'],
  preact: ['dashboard'],
  lucide: ['dashboard'],
  uplot: ['dashboard'],
  uqr: ['dashboard'],
  vite: ['dashboard'],
  '@simplewebauthn/browser': ['dashboard'],
  '@codemirror/autocomplete': ['dashboard'],
  '@codemirror/commands': ['dashboard'],
  '@codemirror/language': ['dashboard'],
  '@codemirror/lint': ['dashboard'],
  '@codemirror/state': ['dashboard'],
  '@codemirror/view': ['dashboard'],
  '@lezer/highlight': ['dashboard'],
};

/** Parts without clock, randomness, environment or `node:` imports. */
const pure = [
  'grammar',
  'diagnostic',
  'value',
  'model',
  'syntax',
  'check',
  'spec',
  'reasoning',
  'program',
  'emit',
  'pipeline',
  'meters',
];

const linesMax = 420;

const files = globSync(['grammar/*.ts', 'src/**/*.{ts,tsx,js}'], {
  exclude: ['src/dashboard/dist/**'],
}).toSorted();

const imports = files.flatMap((file) =>
  [
    ...readFileSync(file, 'utf8').matchAll(
      /(?:^|\n)(?:import|export)[^;]*?from '([^']+)'|import\('([^']+)'\)/g,
    ),
  ].map((match) => ({ file, part: partOf(file), target: (match[1] ?? match[2]) as string })),
);

describe('the house', () => {
  it('has no part that the table does not name', () => {
    const parts = new Set(files.map(partOf));
    expect([...parts].filter((part) => part !== 'cli' && part !== 'index' && !(part in mayImport))).toEqual(
      [],
    );
  });

  it('imports only as the table says', () => {
    const strangers = imports
      .filter(({ target }) => target.startsWith('.'))
      .map(({ file, part, target }) => ({ file, part, to: partOf(resolve(file, target)) }))
      .filter(
        ({ part, to }) => part !== to && part !== 'cli' && part !== 'index' && !mayImport[part]?.includes(to),
      );
    expect(strangers).toEqual([]);
  });

  it('lets each package be known in one place', () => {
    const strangers = imports
      .filter(({ target }) => !target.startsWith('.') && !target.startsWith('node:'))
      .filter(({ part, target }) => !packages[packageOf(target)]?.includes(part));
    expect(strangers).toEqual([]);
  });

  it('keeps the language pure', () => {
    const impure = imports.filter(
      ({ file, part, target }) =>
        pure.includes(part) && target.startsWith('node:') && file !== 'grammar/generate.ts',
    );
    expect(impure).toEqual([]);
    const ambient = files.filter(
      (file) =>
        pure.includes(partOf(file)) &&
        /\b(Date\.now|Math\.random|process\.|new Date\(\))/.test(readFileSync(file, 'utf8')) &&
        file !== 'grammar/generate.ts',
    );
    expect(ambient).toEqual([]);
  });

  it('makes functions from text in one file', () => {
    expect(files.filter((file) => /new Function|\beval\(/.test(code(file)))).toEqual(['src/emit/link.ts']);
  });

  it('has no file that cannot be read in one sitting', () => {
    expect(files.filter((file) => readFileSync(file, 'utf8').split('\n').length > linesMax)).toEqual([]);
  });

  it('opens each file with what it is', () => {
    expect(files.filter((file) => !/^(#!.*\n)?\s*(\/\/|\/\*\*)/.test(readFileSync(file, 'utf8')))).toEqual(
      [],
    );
  });

  it('names no folder after nothing', () => {
    expect(files.filter((file) => /\/(utils?|common|helpers?|types|misc)\//.test(file))).toEqual([]);
  });

  it('exports through one barrel', () => {
    const barrels = files.filter((file) => file.endsWith('/index.ts'));
    expect(barrels).toEqual(['src/index.ts']);
  });
});

/** The name of a package, its scope included, without a path inside it. */
function packageOf(target: string): string {
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
}

function partOf(file: string): string {
  const [top, next = ''] = file.split('/');
  return top === 'src' ? next.replace(/\.ts$/, '') : (top as string);
}

function resolve(from: string, target: string): string {
  const segments = from.split('/').slice(0, -1);
  for (const segment of target.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '.') segments.push(segment);
  }
  return segments.join('/');
}

/** The file without its comments. */
function code(file: string): string {
  return readFileSync(file, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\/\/.*$/gm, '');
}
