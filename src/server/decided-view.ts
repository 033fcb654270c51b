// What becomes of a request by somebody's word, as replies: how it stands afterwards, or why nothing was changed.

import type { Role } from '../people/operations.ts';
import { type Actor, recordName } from '../people/person.ts';
import type { Approver, Changed, Refused } from '../requests/decisions.ts';
import { type RequestDetail, requestDetail } from '../requests/reply.ts';
import type { Stepping } from '../requests/step-up.ts';
import { notAllowed } from './manage.ts';
import { ProblemError } from './problem.ts';

export function detailOf(changed: Changed, nowMs: number): RequestDetail {
  if (changed.kind !== 'changed') throw refused(changed);
  return requestDetail(changed.standing, nowMs);
}

export function refused(result: Refused): ProblemError {
  switch (result.kind) {
    case 'unknown':
      return requestNotFound();
    case 'conflict':
      return new ProblemError('conflict', result.detail);
    case 'not-allowed':
      return notAllowed(result.detail);
    case 'stopped':
      return new ProblemError('stopped', result.detail);
    case 'which-group': {
      const detail = `say for which group: ${result.groups.map((group) => `\`${group}\``).join(', ')}`;
      return new ProblemError('invalid_body', detail, { errors: [{ pointer: '/group', detail }] });
    }
  }
}

export function requestNotFound(): ProblemError {
  return new ProblemError('request_not_found', 'there is no request with this id, or not for you');
}

/** Who steps up. */
export function steppingOf({ person }: Actor): Stepping {
  return { id: person.id, email: person.email, who: recordName(person) };
}

/** Groups count for who approves, by the roles that count now. */
export function groupsOf({ person, roles }: Actor): readonly string[] {
  return approvingRoles.some((role) => roles.includes(role)) ? person.groups : [];
}

const approvingRoles: readonly Role[] = ['approver', 'admin'];

export function approverOf(actor: Actor, isOfAll: boolean): Approver {
  return { ...steppingOf(actor), groups: groupsOf(actor), isOfAll };
}
