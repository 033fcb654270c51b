// The names of a plot's series, each with a sample of its colour and pattern.

import type { Series } from './series.ts';
import { Swatch } from './swatch.tsx';

export function Legend({ series }: { readonly series: readonly Series[] }) {
  return (
    <ul class="overview-names">
      {series.map(({ key, name, color, look }) => (
        <li key={key}>
          <Swatch color={color} look={look} /> {name}
        </li>
      ))}
    </ul>
  );
}
