// Shows a session as the management API does.

import { isoTime } from '../../../../language/value/iso-time.ts';
import { type Notice, noticeKinds } from '../../../people/notices.ts';
import type { OperationReply } from '../../contract/operation.ts';
import { objectSchema, text, textList, textOrNull, time, timeOrNull } from '../../contract/schemas.ts';
import { personExample, personSchema } from './person-view.ts';

export const noticeExample = {
  id: '7d1e0000-0000-4000-8000-000000000000',
  kind: 'passkey-added',
  name: 'phone',
  created_at: '2026-03-02T10:00:00.000Z',
};

const sessionExample = {
  person: personExample,
  roles: ['approver'],
  permissions: { 'requests.view': 'own', 'requests.approve': 'own' },
  csrf_token: 'AbC',
  ends_at: '2026-03-02T22:00:00.000Z',
  notices: [noticeExample],
  step_up: { codes_from: '2026-03-02T11:00:00.000Z', passkey_from: null, new_for_seconds: 3600 },
  sends_mail: true,
};

export function noticeView({ id, what, name, createdAtMs }: Notice) {
  return { id, kind: what, name, created_at: isoTime(createdAtMs) };
}

export function sessionView(description: string): OperationReply {
  const schema = objectSchema({
    person: personSchema,
    roles: textList,
    permissions: {
      type: 'object',
      additionalProperties: { type: 'string', enum: ['yes', 'own'] },
      description: 'The permitted operations, from the table of roles. All others are refused.',
    },
    csrf_token: { type: ['string', 'null'] },
    ends_at: { type: ['string', 'null'], format: 'date-time' },
    notices: {
      type: 'array',
      items: objectSchema({
        id: text(100),
        kind: { type: 'string', enum: noticeKinds },
        name: textOrNull,
        created_at: time,
      }),
      description: "Changes of the person's sign-in methods that they have not dismissed; empty for a token.",
    },
    step_up: {
      ...objectSchema({
        codes_from: timeOrNull,
        passkey_from: timeOrNull,
        new_for_seconds: { type: 'number', minimum: 0 },
      }),
      description:
        'From when on the one-time codes and the oldest passkey of the person can be used for a step-up, null without them; and how long a new factor cannot be used.',
    },
    sends_mail: { type: 'boolean', description: 'Whether the service sends mail.' },
  });
  return { description, schema, example: sessionExample, headers: ['Set-Cookie'] };
}
