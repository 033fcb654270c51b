// The manifests of the two published packages. `writ` holds all code, and depends on the packages that the
// language, the command line and the clients need. `writ-service` is the same command with the packages that
// a service needs, too. INVARIANT: each dependency has the version that the checkout is tested with.

import { readFileSync } from 'node:fs';

interface CheckoutManifest {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

const checkout = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as CheckoutManifest;

/** Packages for reading, checking, proving, testing, watching and editing policies. */
const ofPolicies = [
  'chevrotain',
  'chokidar',
  'commander',
  'diff',
  'jose',
  're2js',
  'smol-toml',
  'vscode-languageserver',
  'vscode-languageserver-textdocument',
  'yaml',
] as const;

/** Packages for `writ serve`, and for the commands that open a store. */
const servicePackages = [
  '@fastify/fast-json-stringify-compiler',
  '@levischuck/tiny-cbor',
  '@node-rs/argon2',
  '@zxcvbn-ts/core',
  '@zxcvbn-ts/language-common',
  'better-sqlite3',
  'fastify',
  'nodemailer',
  'openid-client',
  'pino',
  'unhomoglyph',
  'unicode-name',
] as const;

/** Packages for a store in PostgreSQL; people who have one install them. */
export const postgresPackages = ['pg'] as const;

/** Packages that are installed beside `writ` by those who need them. */
const beside = [...servicePackages, ...postgresPackages];

/** The modules that a program can import, by the name that it imports. */
export const moduleEntryPoints: Readonly<Record<string, string>> = {
  '.': 'src/embedded/index',
  './portable': 'src/embedded/portable',
  './testing': 'src/testing/run',
  './client': 'integrations/typescript/client',
  './receipt': 'integrations/typescript/receipt',
  './token-file': 'integrations/typescript/token-file',
  './ai-sdk': 'integrations/typescript/adapters/ai-sdk',
  './claude-agent': 'integrations/typescript/adapters/claude-agent',
  './langchain': 'integrations/typescript/adapters/langchain',
  './mastra': 'integrations/typescript/adapters/mastra',
  './openai-agents': 'integrations/typescript/adapters/openai-agents',
};

const common = {
  version: checkout.version,
  license: checkout.license,
  type: 'module',
  engines: checkout.engines,
};

export const packageManifest = {
  name: 'writ',
  description: checkout.description,
  ...common,
  bin: { writ: 'src/cli/writ.js' },
  exports: Object.fromEntries([
    ...Object.entries(moduleEntryPoints).map(([door, module]) => [
      door,
      { types: `./types/${module}.d.ts`, default: `./${module}.js` },
    ]),
    ['./cli', './src/cli/writ.js'],
    ['./package.json', './package.json'],
  ]),
  dependencies: versionsOf(ofPolicies),
  // A program may have another release of these packages for itself.
  peerDependencies: Object.fromEntries(
    Object.entries(versionsOf(beside)).map(([name, version]) => [name, `^${version}`]),
  ),
  peerDependenciesMeta: Object.fromEntries(beside.map((name) => [name, { optional: true }])),
};

export const serviceManifest = {
  name: 'writ-service',
  description: `${checkout.description}: the service`,
  ...common,
  bin: { writ: 'writ.js' },
  dependencies: { writ: checkout.version, ...versionsOf(servicePackages) },
};

export function versionsOf(names: readonly string[]): Readonly<Record<string, string>> {
  const versions = checkout.dependencies;
  return Object.fromEntries(
    names.map((name) => {
      const version = versions[name];
      if (version === undefined) throw new Error(`package.json has no version of ${name}`);
      return [name, version];
    }),
  );
}
