// The guarantees of the copy: what is proved for all requests, and what a request breaks, which can be tried at once.

import { Icon } from '../../parts/layout/icon.tsx';
import { Section } from '../../parts/layout/page.tsx';
import type { TriedClaim } from './marks.ts';

export interface ClaimListProps {
  readonly claims: readonly TriedClaim[];
  readonly onPlace: (claim: TriedClaim) => void;
  readonly onTry: (request: object) => void;
}

const words = {
  proved: 'Proved for all requests',
  refuted: 'Refuted',
  undecided: 'Undecided',
} as const;

const classes = {
  proved: 'verdict-proved',
  refuted: 'verdict-error',
  undecided: 'verdict-warning',
} as const;

const icons = { proved: 'check', refuted: 'deny', undecided: 'warning' } as const;

export function ClaimList({ claims, onPlace, onTry }: ClaimListProps) {
  if (claims.length === 0) return null;
  return (
    <Section title="Guarantees">
      <ul class="playground-diagnostic-list playground-claims">
        {claims.map((claim) => (
          <li key={`${claim.file} ${claim.line} ${claim.column}`} class={classes[claim.result]}>
            <Icon name={icons[claim.result]} />
            <div>
              <button type="button" class="text-button" onClick={() => onPlace(claim)}>
                <code>{claim.claim}</code>
              </button>
              <p>{saidOf(claim)}</p>
              {claim.refuted_by?.request != null && (
                <button type="button" class="button" onClick={() => onTry(claim.refuted_by!.request!)}>
                  Try this request
                </button>
              )}
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function saidOf({ result, why, refuted_by: refuted }: TriedClaim): string {
  if (refuted !== null) {
    const once =
      refuted.met.length === 0 ? '' : `, once it has what is asked for by ${refuted.met.join(', ')}`;
    return `${words[result]}: a request is decided ${refuted.decision} by ${refuted.by}${once}`;
  }
  return why === null ? words[result] : `${words[result]}: ${why}`;
}
