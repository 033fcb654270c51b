// Describes a folder of published files: notes, bill of materials, licences, provenance, and the checksums of
// all files. INVARIANT: the checksums name every file in the folder.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLock, type ShippedPackage, shippedPackages } from './shipped.ts';

// Decides which licences may be in packages that are published under Apache-2.0: those that ask for no more
// than notices. INVARIANT: an unknown or missing licence is refused.

/** The allowed licences, by their SPDX names. */
const carried: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unicode-3.0',
  'Unlicense',
  'Zlib',
]);

/**
 * Whether an SPDX expression allows publishing: one side of an `OR` is enough, both sides of an `AND` are
 * needed.
 */
export function isCarried(expression: string | null): boolean {
  if (expression === null) return false;
  const text = withoutOuterParentheses(expression.trim());
  const either = splitOutside(text, ' OR ');
  if (either.length > 1) return either.some(isCarried);
  const both = splitOutside(text, ' AND ');
  return both.length > 1 ? both.every(isCarried) : carried.has(text);
}

function withoutOuterParentheses(text: string): string {
  if (!text.startsWith('(') || !text.endsWith(')')) return text;
  const inner = text.slice(1, -1);
  return isBalanced(inner) ? withoutOuterParentheses(inner.trim()) : text;
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth++;
    else if (character === ')') depth--;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** Splits a text at a word that stands outside of parentheses. */
function splitOutside(text: string, word: string): readonly string[] {
  const parts: string[] = [];
  for (const piece of text.split(word)) {
    const last = parts.at(-1);
    if (last !== undefined && !isBalanced(last)) parts[parts.length - 1] = last + word + piece;
    else parts.push(piece);
  }
  return parts;
}

/** A table of the packages by licence, in Markdown. */
function licenseReport(packages: readonly ShippedPackage[]): string {
  const groups = Map.groupBy(packages, ({ license }) => license ?? 'none');
  const rows = [...groups]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([license, those]) =>
        `| ${license} | ${those.map(({ name, version }) => `${name} ${version}`).join(', ')} |`,
    );
  return ['| licence | packages |', '|---|---|', ...rows, ''].join('\n');
}

export interface Source {
  readonly version: string;
  /** The full hash of the commit that the release is made from. */
  readonly commit: string;
  /** The time of the commit, in ISO 8601. */
  readonly at: string;
}

/** Writes the descriptions into the folder. Throws when a package's licence cannot be carried. */
export function describeRelease(folder: string, source: Source): void {
  const packages = shippedPackages(readLock());
  refuseLicenses(packages);
  const { version, at } = source;
  const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
  put('NOTES.md', notesOf(version));
  put('LICENSES.md', licenseReport(packages));
  put(`writ-${version}.cdx.json`, jsonText(bomOf({ version, at, packages })));
  put('provenance.json', jsonText(provenanceOf(folder, source)));
  const lines = filesIn(folder).map((name) => `${digestOf(join(folder, name))}  ${name}\n`);
  put(checksums, lines.join(''));
}

const checksums = 'SHA256SUMS';

function refuseLicenses(packages: readonly ShippedPackage[]): void {
  const strange = packages.filter(({ license }) => !isCarried(license));
  if (strange.length === 0) return;
  const named = strange.map(({ name, license }) => `${name} (${license ?? 'no licence'})`);
  throw new Error(
    `Apache-2.0 software cannot include ${named.join(', ')}: remove it, or ask its author for a licence`,
  );
}

/** The section of the changelog for a version. Throws when there is none. */
export function notesOf(version: string): string {
  const text = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8');
  const section = text.split(/^(?=## )/m).find((one) => one.startsWith(`## ${version}\n`));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section \`## ${version}\``);
  return section;
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name !== checksums)
    .toSorted();
}

/** How the files were made and from what: an in-toto statement with the predicate of SLSA 1.0. */
function provenanceOf(folder: string, { commit, at }: Source): object {
  const subject = filesIn(folder)
    .filter((name) => name !== 'provenance.json')
    .map((name) => ({ name, digest: { sha256: digestOf(join(folder, name)) } }));
  const lockFile = new URL('../../../package-lock.json', import.meta.url);
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'npm run release',
        externalParameters: { commit },
        internalParameters: { node: process.versions.node, platform: `${process.platform}-${process.arch}` },
        resolvedDependencies: [
          { name: 'the checkout', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: digestOf(lockFile) } },
        ],
      },
      runDetails: { builder: { id: 'npm run release' }, metadata: { startedOn: at } },
    },
  };
}

function digestOf(path: string | URL): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * Writes the shipped packages as a software bill of materials, CycloneDX 1.5 in JSON. INVARIANT: the same
 * commit gives the same text, because its number and time are made from its content.
 */
export interface BomOf {
  readonly version: string;
  /** The time of the commit, in ISO 8601. */
  readonly at: string;
  readonly packages: readonly ShippedPackage[];
}

function bomOf({ version, at, packages }: BomOf): object {
  const components = packages.map(componentOf);
  const packageUrl = `pkg:npm/writ@${version}`;
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([version, at, components]))}`,
    version: 1,
    metadata: {
      timestamp: at,
      component: {
        type: 'application',
        'bom-ref': packageUrl,
        name: 'writ',
        version,
        purl: packageUrl,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components,
    dependencies: [{ ref: packageUrl, dependsOn: components.map((component) => component['bom-ref']) }],
  };
}

function componentOf({ name, version, license, integrity, by }: ShippedPackage) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    hashes: [
      { alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') },
    ],
    licenses: license === null ? [] : [{ expression: license }],
    properties: by.map((part) => ({ name: 'writ:in', value: part })),
  };
}

/** A UUID of version 8 (RFC 9562) from the digest of a text. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
