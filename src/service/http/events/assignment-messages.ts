// Tells a person by mail that a request has been assigned to them.

import type { Person } from '../../people/person.ts';
import { sanitizeForMail } from '../../webhooks/sanitize-text.ts';
import type { EventDeps } from './event-messages.ts';

/** The request and what it is about; `title` is empty when no short text tells that. */
export interface AssignedRequest {
  readonly requestId: string;
  readonly actionKey: string;
  readonly title: string;
}

type NamedPerson = Pick<Person, 'name' | 'email'>;

export interface AssignmentEvents {
  assigned(request: AssignedRequest, to: NamedPerson, by: NamedPerson): void;
}

export function createAssignmentEvents({
  publicUrl,
  mailer,
}: Pick<EventDeps, 'publicUrl' | 'mailer'>): AssignmentEvents {
  return {
    assigned: ({ requestId, actionKey, title }, { email }, by) => {
      const about = oneLine(title === '' ? actionKey : title);
      const who = oneLine(by.name);
      mailer?.post({
        to: email,
        subject: `Writ: ${who} assigned you ${about}`,
        text: `${about}\n\n${who} has assigned this request to you. It is pending.\n\nReview and decide it:\n${publicUrl}/approvals/${requestId}\n`,
      });
    },
  };
}

/**
 * The text without line breaks, control and invisible characters, and without links, at most 100 characters long.
 * Policies declare action keys, but a key may be quoted and hold anything.
 */
export function oneLine(text: string): string {
  return sanitizeForMail(text).slice(0, 100);
}
