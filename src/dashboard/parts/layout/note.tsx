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
  subject,
  onRetry,
}: {
  readonly problem: unknown;
  /** What the playground's thread was asked for, such as `The diff`; by default the playground. */
  readonly subject?: string;
  readonly onRetry?: () => void;
}) {
  if (problem === null || problem === undefined) return null;
  const apiProblem = problem instanceof ApiProblem ? problem : null;
  const details = detailsOf(apiProblem);
  const title = titleOf(apiProblem, details, subject);
  return (
    <div class="note note-deny" role="alert">
      <Icon name="warning" />
      <div>
        {title !== null && <strong>{title}</strong>}
        {details.map((detail) => (
          <p key={detail}>{detail}</p>
        ))}
        {apiProblem !== null && hasPage(apiProblem) && (
          <p>
            <a href={errorAddress(apiProblem.code)}>About this error</a>
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

/** Each detail once; the service repeats that of the first place. */
function detailsOf(problem: ApiProblem | null): readonly string[] {
  if (problem === null) return ['Reload the page.'];
  const places = problem.errors.map(({ detail }) => detail);
  return [...new Set([problem.message, ...places].map(sentence))];
}

/** Null when the details say the same: a sentence about a body, or about what was typed, says all by itself. */
function titleOf(
  problem: ApiProblem | null,
  details: readonly string[],
  subject: string | undefined,
): string | null {
  if (problem === null) return 'Something went wrong in this page';
  if (problem.code === 'invalid_body' || problem.code === 'wrong_credentials') return null;
  const title =
    subject !== undefined && isOfPlayground(problem) ? `${subject} cannot be computed now` : problem.title;
  return details.includes(sentence(title)) ? null : title;
}

function isOfPlayground({ code }: ApiProblem): boolean {
  return code === 'playground_busy' || code === 'playground_failed';
}

/** A detail of the service as a sentence: it is in lower case and has no period. A name stays as it is. */
export function sentence(detail: string): string {
  const isName = /^\S*[._/`\d]/.test(detail);
  const text = isName ? detail : `${detail.slice(0, 1).toUpperCase()}${detail.slice(1)}`;
  return /[.!?…:]$/.test(text) ? text : `${text}.`;
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
