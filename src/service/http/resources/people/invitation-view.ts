// Turns invitations into replies, with the roles and groups that each gives. INVARIANT: the token of an
// invitation is shown in the reply that made it and never again.

import { isoTime } from '../../../../language/value/iso-time.ts';
import type { InviteResult, OpenInvitation } from '../../../people/access.ts';
import { type Role, roles } from '../../../people/operations.ts';
import type { Invitation } from '../../../people/person.ts';
import type { JsonSchema } from '../../contract/operation.ts';
import { objectSchema, text, textList, time } from '../../contract/schemas.ts';
import { warningsSchema } from './group-warnings.ts';

export interface RolesBody {
  readonly roles: readonly Role[];
  readonly groups?: readonly string[];
}

export const rolesAndGroups: Readonly<Record<string, JsonSchema>> = {
  roles: { type: 'array', items: { type: 'string', enum: roles }, maxItems: roles.length },
};

export const openInvitationSchema = objectSchema({
  id: text(100),
  email: text(254),
  name: text(100),
  roles: textList,
  groups: textList,
  created_at: time,
  created_by: text(100),
  ends_at: time,
});

export const openInvitationExample = {
  id: '1f7e0000-0000-4000-8000-000000000000',
  email: 'ben@example.com',
  name: 'Ben',
  roles: ['approver'],
  groups: ['finance'],
  created_at: '2026-03-02T10:00:00.000Z',
  created_by: 'b3f1c2d4-0000-4000-8000-000000000000',
  ends_at: '2026-03-09T10:00:00.000Z',
};

/** What a person with the link sees. */
export const invitedSchema = objectSchema({
  email: text(254),
  name: text(100),
  invited_by: text(100),
  roles: textList,
  groups: textList,
  ends_at: time,
});

export const invitedExample = {
  email: 'ben@example.com',
  name: 'Ben',
  invited_by: 'Ann',
  roles: ['approver'],
  groups: ['finance'],
  ends_at: '2026-03-09T10:00:00.000Z',
};

export function invitationPreview({ invitation, inviter }: OpenInvitation) {
  const { email, name, roles: given, groups, endsAtMs } = invitation;
  const ends_at = isoTime(endsAtMs);
  return { email, name, invited_by: inviter.name, roles: [...given], groups: [...groups], ends_at };
}

export function invitationView(description: string) {
  return {
    description,
    schema: objectSchema({
      id: text(100),
      email: text(254),
      token: text(100),
      ends_at: time,
      warnings: warningsSchema,
    }),
    example: {
      id: openInvitationExample.id,
      email: 'ben@example.com',
      token: 'AbC',
      ends_at: '2026-03-09T10:00:00.000Z',
      warnings: [],
    },
  };
}

export function createdInvitationView({ invitation, secret }: InviteResult, warnings: readonly string[]) {
  const { id, email, endsAtMs } = invitation;
  return { id, email, token: secret, ends_at: isoTime(endsAtMs), warnings };
}

/** An open invitation without its token, of which only the digest is stored, and without that digest. */
export function openInvitationView({ id, email, name, roles: given, groups, ...rest }: Invitation) {
  const { createdAtMs, invitedBy, endsAtMs } = rest;
  return {
    id,
    email,
    name,
    roles: [...given],
    groups: [...groups],
    created_at: isoTime(createdAtMs),
    created_by: invitedBy,
    ends_at: isoTime(endsAtMs),
  };
}
