// Whose approvals a request needs, and how many of them are given: in a row, or as a list on the page of the request.

import type { Reply } from '../../../api/operations.ts';
import { ClockTime } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import './approvers.css';
import { anyOfLabel, approversLabel, personName } from './person-name.ts';

interface ApproversProps {
  readonly request: Pick<Reply<'getRequest'>, 'requires' | 'people'>;
  /** `brief` for a row: "finance 1/2". */
  readonly isBrief?: boolean;
}

export function Approvers({ request: { requires, people }, isBrief = false }: ApproversProps) {
  if (requires === null) return null;
  const { step_up: stepUp, approvals, invalidated } = requires;
  return (
    <ul class="approvers">
      {stepUp && (
        <li>
          {isBrief
            ? `step-up${approvals.length > 0 ? ' first' : ''}`
            : 'First a step-up by the control owner of the agent'}
        </li>
      )}
      {approvals.map(({ needs, given, ...asked }) => (
        <li key={asked.group}>
          {isBrief ? (
            <>
              <PlainText text={approversLabel(asked)} isShort /> {given}/{needs}
            </>
          ) : (
            <>
              <strong>
                <PlainText text={approversLabel(asked)} isShort />
              </strong>
              : {given} of {needs} {needs === 1 ? 'approval' : 'approvals'}
              {asked.fallbacks?.map(({ asked_at: at, any_of: anyOf }) => (
                <>
                  , after <ClockTime at={at} /> also by <PlainText text={anyOfLabel(anyOf)} isShort />
                </>
              ))}
            </>
          )}
        </li>
      ))}
      {invalidated.map(({ by, group, reason }) => (
        <li key={`${by} ${group}`} class="approvers-invalidated" title={by}>
          {!isBrief && 'An approval no longer counts: '}
          <PlainText text={`${personName(by, people)} ${reason}`} isShort />
        </li>
      ))}
    </ul>
  );
}
