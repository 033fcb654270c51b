// Diagnostics about standing approvals, one function each.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Span } from '../../diagnostic/span.ts';
import type { FieldRead } from '../../model/expression.ts';
import type { DurationLiteral, NumberLiteral, Path, StandingClause } from '../../syntax/tree/tree.ts';
import { spelledPath } from './path-errors.ts';
import { error } from './problem.ts';

export function standingKeyUnknown({ span }: Path): Diagnostic {
  const message = 'a standing approval is per `session`, `user` or payload field';
  return error('standing-unfit', span, message, {
    help: 'write such as `standing per session, payload.vendor for 8h`; the agent is always part of it',
  });
}

export function standingKeyUnfit(field: FieldRead): Diagnostic {
  const message = `\`${spelledPath(field)}\` must be a required single value, not secret`;
  return error('standing-unfit', field.span, message, {
    help: 'a request without the value would be covered by no standing approval',
  });
}

export function standingTooLong({ span }: DurationLiteral): Diagnostic {
  return error('standing-unfit', span, 'a standing approval lasts 31 days at most', {
    help: 'write a shorter time, or a rule that allows it without approval',
  });
}

export function standingTimesUnfit({ span, text }: NumberLiteral): Diagnostic {
  return error('standing-unfit', span, `\`${text}\` is not a number of times`, {
    help: 'write a whole number from 1, or leave out `up to ... times`',
  });
}

export function standingInClaim(span: Span): Diagnostic {
  return error('standing-unfit', span, 'no approval always stands: whoever approves chooses', {
    help: 'write `never standing`',
  });
}

export function standingWithoutApproval({ span }: StandingClause): Diagnostic {
  const message = '`standing` is about approvals, but the rule asks for a step-up';
  return error('standing-unfit', span, message, {
    help: 'remove it: `within` says how long a step-up counts',
  });
}
