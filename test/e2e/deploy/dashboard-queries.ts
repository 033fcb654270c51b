// The queries of a Grafana dashboard.

import { readFileSync } from 'node:fs';

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
}

export function queriesOf(path: string): readonly string[] {
  const { panels } = JSON.parse(readFileSync(path, 'utf8')) as Dashboard;
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
}
