// Writes the shipped packages as a software bill of materials, CycloneDX 1.5 in JSON. INVARIANT: the same
// commit gives the same text, because its number and time are made from its content.

import { createHash } from 'node:crypto';
import type { ShippedPackage } from './shipped.ts';

export interface BomOf {
  readonly version: string;
  /** The time of the commit, in ISO 8601. */
  readonly at: string;
  readonly packages: readonly ShippedPackage[];
}

export function bomOf({ version, at, packages }: BomOf): object {
  const components = packages.map(componentOf);
  const own = `pkg:npm/writ@${version}`;
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
        'bom-ref': own,
        name: 'writ',
        version,
        purl: own,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components,
    dependencies: [{ ref: own, dependsOn: components.map((component) => component['bom-ref']) }],
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
    properties: by.map((own) => ({ name: 'writ:in', value: own })),
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
