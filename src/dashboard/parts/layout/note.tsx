// Messages of a page: a failure and what to do about it, why there is nothing to show yet, or that something
// is loading. INVARIANT: a failure is announced, and never removes what was written or seen.

import type { ComponentChildren } from 'preact';
import { errorAddress } from '../../../site/address.ts';
import { ApiProblem } from '../../api/problem.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';
import './note.css';

/** Renders nothing when there is no problem. */
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
        {known !== null && hasPage(known) && (
          <p>
            <a href={errorAddress(known.code)}>About this error</a>
          </p>
        )}
        {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
      </div>
    </div>
  );
}

/** Whether the service itself answered with a code of its table; a form says by its fields what to change. */
function hasPage({ code, status }: ApiProblem): boolean {
  return status > 0 && code !== 'invalid_body' && !/^(?:http_|urn:)/.test(code);
}

/** The service reports problems of a body; on a page that is a form, so the title differs. */
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
  /** What would be shown in this place, and how it gets there. */
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

/** A placeholder for content that is loading. */
export function Loading({
  label = 'Loading',
  lines = 6,
}: {
  readonly label?: string | undefined;
  readonly lines?: number | undefined;
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
