// Messages of a page: that something failed and what to do, that there is nothing yet and why, that it is loading. INVARIANT: a failure is announced, and never takes away what was written or seen.

import type { ComponentChildren } from 'preact';
import { ApiProblem } from '../../api/problem.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';
import './note.css';

/** Nothing where there is no problem. */
export function ProblemNote({
  problem,
  onRetry,
}: {
  readonly problem: unknown;
  readonly onRetry?: () => void;
}) {
  if (problem === null || problem === undefined) return null;
  const known = problem instanceof ApiProblem ? problem : null;
  return (
    <div class="note note-deny" role="alert">
      <Icon name="warning" />
      <div>
        <strong>{titleOf(known)}</strong>
        <p>{known?.message ?? 'reload the page'}</p>
        {known !== null && known.places.length > 0 && (
          <ul>
            {known.places.map(({ pointer, detail }) => (
              <li key={pointer}>
                {pointer !== '' && <code>{pointer}</code>} {detail}
              </li>
            ))}
          </ul>
        )}
        {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
      </div>
    </div>
  );
}

/** The page has a form where the service speaks of a body. */
function titleOf(problem: ApiProblem | null): string {
  if (problem?.code === 'invalid_body') return 'Check the marked fields';
  return problem?.title ?? 'Something went wrong in this page';
}

type Tone = 'allow' | 'deny' | 'escalate' | 'unknown';

export function Note({
  tone = 'unknown',
  icon,
  children,
}: {
  tone?: Tone;
  icon?: IconName;
  children: ComponentChildren;
}) {
  return (
    <div class={`note note-${tone}`}>
      {icon !== undefined && <Icon name={icon} />}
      <div>{children}</div>
    </div>
  );
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  /** What would fill the place, and how. */
  readonly children?: ComponentChildren;
}

export function Empty({ icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} size={28} />
      <p class="empty-title">{title}</p>
      <div>{children}</div>
    </div>
  );
}

/** Holds the place of what is coming. */
export function Loading({
  label = 'Loading',
  lines = 6,
}: {
  readonly label?: string;
  readonly lines?: number;
}) {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">{label}</span>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class="loading-line" />
      ))}
    </div>
  );
}
