// The choice of the stretch of time: ranges up to now, or a zoomed part with a way back.

import { setQuery } from '../../navigation/navigation.ts';
import { Button } from '../../parts/layout/button.tsx';
import { stretchText } from './axes.ts';
import { type Range, type RangeName, rangeNames, ranges } from './range.ts';

interface RangeChoiceProps {
  readonly query: URLSearchParams;
  /** Null when zoomed into a part. */
  readonly name: RangeName | null;
}

export function RangeChoice({ query, name }: RangeChoiceProps) {
  const addressOf = (one: RangeName): string => {
    const next = new URLSearchParams(query);
    next.delete('from');
    next.delete('to');
    next.set('range', one);
    return `/overview?${next}`;
  };
  return (
    <nav class="overview-ranges" aria-label="Time shown">
      {rangeNames.map((one) => (
        <a key={one} href={addressOf(one)} aria-current={one === name ? 'true' : undefined}>
          <span class="visually-hidden">The last </span>
          {ranges[one].word}
        </a>
      ))}
    </nav>
  );
}

export function Zoomed({ range: { fromMs, untilMs } }: { readonly range: Range }) {
  return (
    <p class="overview-zoomed" role="status">
      <span>{stretchText(fromMs, untilMs)}</span>
      <Button icon="close" onClick={() => setQuery({ from: null, to: null })}>
        Zoom out
      </Button>
    </p>
  );
}
