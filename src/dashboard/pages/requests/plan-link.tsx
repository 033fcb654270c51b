// The plan that a request is a step of, as facts of its page.

import type { ComponentChildren } from 'preact';
import type { Reply } from '../../../api/operations.ts';
import { PlainText } from '../../parts/text/plain-text.tsx';

export function planFacts({
  plan,
}: Pick<Reply<'getRequest'>, 'plan'>): readonly (readonly [string, ComponentChildren])[] {
  if (plan === null) return [];
  const { id, goal, step, steps } = plan;
  return [
    [
      'Plan',
      <span key="plan">
        <a href={`/plans/${id}`}>
          Step {step} of {steps}
        </a>
        {goal !== null && (
          <>
            : <PlainText text={goal} isShort />
          </>
        )}
      </span>,
    ],
  ];
}
