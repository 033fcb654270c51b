// Requests that the service itself refused before any policy, by reason.

import { Section } from '../../parts/layout/page.tsx';
import { RefusalList } from '../../parts/policy/refusal-list.tsx';
import type { Overview } from './series.ts';

export function RefusalsSection({ overview: { refusals } }: { readonly overview: Overview }) {
  return (
    <Section title="Refused before any policy">
      {refusals.length === 0 ? <p>Nothing was refused in this time.</p> : <RefusalList refusals={refusals} />}
    </Section>
  );
}
