// Which command installs a package that is missing. The packages of Writ are named by their tarballs: the names
// without a path belong to nobody on the public registry (docs/RELEASING.md).

import manifest from '../../package.json' with { type: 'json' };

/**
 * The command that installs `missing`, a package that cannot be loaded. `pg`, for the store in PostgreSQL, is the
 * only one that `writ-service` does not bring.
 */
export function installCommand(missing: string): string {
  const target = missing === 'pg' ? 'pg' : `./writ-service-${manifest.version}.tgz`;
  return `npm install --ignore-scripts ${target}`;
}
