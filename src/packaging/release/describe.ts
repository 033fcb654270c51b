// Describes a folder of published files: notes, bill of materials, licences, provenance, and the checksums of
// all files. INVARIANT: the checksums name every file in the folder.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCarried, licenseReport } from './licenses.ts';
import { bomOf } from './sbom.ts';
import { readLock, type ShippedPackage, shippedPackages } from './shipped.ts';

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
    `what is under Apache-2.0 cannot carry ${named.join(', ')}: do without, or see what its author grants`,
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
