// Icons by their meaning in the dashboard. Icons only decorate: the same meaning is always there as text. Their shapes are
// those of Lucide (licence: icons-license.txt), copied so that nobody has to install 34 MB for a few of them. To add one,
// write `"name": ["NameInLucide", []]` into icons.json and run
// `UPDATE_GOLDEN=1 npm run test:dashboard -- icons`, which fills in its shapes.

import { h } from 'preact';
import icons from './icons.json' with { type: 'json' };

export type IconName = keyof typeof icons;

/** SVG elements: tag and attributes. */
type Shape = readonly [string, Readonly<Record<string, string>>];

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  const shapes = icons[name][1] as unknown as readonly Shape[];
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {shapes.map(([tag, attributes], index) => h(tag, { key: index, ...attributes }))}
    </svg>
  );
}
