// Fills for the bars of an agent's activity: the overview's colours and patterns for the same outcomes, so
// that outcomes differ without colour too. A fill is defined once in the drawing, and shapes refer to it by
// its name.

import { outcomes as styles } from '../overview/series.ts';
import type { Outcome } from './activity-bars.ts';

const marks = {
  plain: <rect width="6" height="6" fill="currentColor" fill-opacity="0.62" />,
  stripes: marked('M-1.5 1.5L1.5 -1.5M-1.5 7.5L7.5 -1.5M4.5 7.5L7.5 4.5'),
  'back-stripes': marked('M-1.5 4.5L1.5 7.5M-1.5 -1.5L7.5 7.5M4.5 -1.5L7.5 1.5'),
  bars: marked('M3 -1V7'),
  // A line of almost no length with round ends is a dot.
  dots: marked('M3 3h.01', 3.6),
} satisfies Readonly<Record<(typeof styles)[number]['style'], unknown>>;

function marked(path: string, width = 2.1) {
  return (
    <>
      <rect width="6" height="6" fill="currentColor" fill-opacity="0.28" />
      <path class="agent-fill-mark" d={path} stroke-width={width} />
    </>
  );
}

/** Defines the fills; must come before the shapes that use them. */
export function ActivityFills() {
  return (
    <defs>
      {styles.map(({ key, color, style }) => (
        <pattern
          key={key}
          id={idOf(key)}
          class="agent-fill"
          style={{ '--mark': `var(--${color})` }}
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
        >
          <rect class="agent-fill-ground" width="6" height="6" />
          {marks[style]}
        </pattern>
      ))}
    </defs>
  );
}

export function fillOf(outcome: Outcome): string {
  return `url(#${idOf(outcome)})`;
}

/** A small sample of a fill, for the legend. */
export function FillSwatch({ outcome }: { readonly outcome: Outcome }) {
  return (
    <svg width="14" height="14" aria-hidden="true">
      <rect width="14" height="14" rx="2" fill={fillOf(outcome)} />
    </svg>
  );
}

function idOf(outcome: Outcome): string {
  return `agent-fill-${outcome}`;
}
