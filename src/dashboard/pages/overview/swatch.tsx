// A small sample of a series' colour and pattern, for legends.

import type { SeriesStyle } from './series.ts';

export function Swatch({ color, style }: { readonly color: string; readonly style: SeriesStyle }) {
  return (
    <svg
      class="overview-swatch"
      style={{ '--mark': `var(--${color})` }}
      width="14"
      height="14"
      viewBox="0 0 14 14"
      aria-hidden="true"
    >
      {marks[style]}
    </svg>
  );
}

const ground = <rect width="14" height="14" rx="2" fill="currentColor" fill-opacity="0.28" />;
const line = { stroke: 'currentColor', 'stroke-width': 2.2, fill: 'none' };

const marks = {
  plain: <rect width="14" height="14" rx="2" fill="currentColor" fill-opacity="0.62" />,
  stripes: (
    <>
      {ground}
      <path d="M0 7L7 0M0 14L14 0M7 14L14 7" {...line} />
    </>
  ),
  'back-stripes': (
    <>
      {ground}
      <path d="M7 0L14 7M0 0L14 14M0 7L7 14" {...line} />
    </>
  ),
  bars: (
    <>
      {ground}
      <path d="M3.5 0V14M10.5 0V14" {...line} />
    </>
  ),
  dots: (
    <>
      {ground}
      <path d="M4 4h.01M10 4h.01M4 10h.01M10 10h.01" {...line} stroke-width="4" stroke-linecap="round" />
    </>
  ),
  solid: <path d="M0 7H14" {...line} />,
  dashed: <path d="M0 7H5M9 7H14" {...line} />,
  dotted: <path d="M0 7H2M4 7H6M8 7H10M12 7H14" {...line} />,
} satisfies Record<SeriesStyle, unknown>;
