// Who may do what, compared with the table that the tests keep by hand: a change of any cell fails this test,
// whether it grants more or less.

import { expect, test } from 'vitest';
import {
  grantOf,
  type OperationName,
  operations,
  roles,
  rolesOfAdmins,
  rolesOfSessions,
} from '../../../src/service/people/operations.ts';
import { operationsByHand, rolesByHand } from '../http/access-table.ts';

test('each role has these operations', () => {
  const names = Object.keys(operations) as OperationName[];
  const found = names.map((name) => [
    name,
    Object.fromEntries(rolesByHand.map((role) => [role, grantOf([role], name)])),
  ]);
  expect(Object.fromEntries(found)).toEqual(operationsByHand);
});

test('there are these roles, and these are not given by everybody', () => {
  expect(roles).toEqual(['admin', 'operator', 'approver', 'owner', 'auditor']);
  expect(rolesOfAdmins).toEqual(['admin', 'operator', 'approver']);
  expect(rolesOfSessions).toEqual(['admin', 'operator']);
});
