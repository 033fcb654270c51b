// Shows a person as the management API does.

import { isoTime } from '../../../../language/value/iso-time.ts';
import { type Person, personSummary } from '../../../people/person.ts';
import { objectSchema, text, textList, time } from '../../contract/schemas.ts';
import { warningsSchema } from './group-warnings.ts';

export function personView(person: Person) {
  return { ...personSummary(person), created_at: isoTime(person.createdAtMs) };
}

const personFields = {
  id: text(100),
  email: text(254),
  name: text(100),
  roles: textList,
  groups: textList,
  status: { type: 'string', enum: ['active', 'disabled'] },
  has_totp: { type: 'boolean' },
  created_at: time,
};

export const personSchema = objectSchema(personFields);
/** A person in a list. */
export const listedPersonSchema = objectSchema({ ...personFields, has_passkey: { type: 'boolean' } });
export const changedPersonSchema = objectSchema({ ...personFields, warnings: warningsSchema });

export const personExample = {
  id: 'b3f1c2d4-0000-4000-8000-000000000000',
  email: 'ann@example.com',
  name: 'Ann',
  roles: ['approver'],
  groups: ['finance'],
  status: 'active',
  has_totp: true,
  created_at: '2026-03-02T10:00:00.000Z',
};

export const listedPersonExample = { ...personExample, has_passkey: false };
export const changedPersonExample = { ...personExample, warnings: [] };
