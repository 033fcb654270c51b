// A session as the management API shows it.

import type { OperationReply } from './operation.ts';
import { personExample, personSchema } from './person-view.ts';
import { objectSchema, textList } from './schemas.ts';

const sessionExample = {
  person: personExample,
  roles: ['approver'],
  may: { 'requests.view': 'own', 'requests.approve': 'own' },
  csrf_token: 'AbC',
  ends_at: '2026-03-02T22:00:00.000Z',
};

export function sessionView(description: string): OperationReply {
  const schema = objectSchema({
    person: personSchema,
    roles: textList,
    may: {
      ...{ type: 'object', additionalProperties: { type: 'string', enum: ['yes', 'own'] } },
      description: 'Operations of the table of roles; what is not named is refused.',
    },
    csrf_token: { type: ['string', 'null'] },
    ends_at: { type: ['string', 'null'], format: 'date-time' },
  });
  return { description, schema, example: sessionExample, headers: ['Set-Cookie'] };
}
