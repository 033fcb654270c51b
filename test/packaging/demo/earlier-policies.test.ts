// The policies with which the week of a demo begins.

import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writePreviousPolicies } from '../../../src/packaging/demo/previous-policies.ts';
import { createFolder } from '../../service/policies/folder.ts';

const limit = 'payload.amount > small_limit';

function copyOfShipped() {
  const folder = createFolder({});
  cpSync('policies', folder, { recursive: true });
  const file = join(folder, 'payments', 'payments.policy');
  return { folder, file, text: () => readFileSync(file, 'utf8') };
}

test('ask one person from a higher amount on, until the shipped ones are put back', () => {
  const { folder, text } = copyOfShipped();
  const shipped = text();
  const putBack = writePreviousPolicies(folder);
  for (const one of ['to finance within 4h', 'payload.amount > 2_500 USD', 'Payments over 2,500 USD'])
    expect(text()).toContain(one);
  putBack();
  expect(text()).toBe(shipped);
});

test('keep what somebody has edited in a checkout', () => {
  const { folder, file, text } = copyOfShipped();
  const edited = text().replace(limit, 'payload.amount > 100 USD');
  writeFileSync(file, edited);
  const putBack = writePreviousPolicies(folder);
  expect(text()).toContain('payload.amount > 100 USD');
  expect(text()).toContain('to finance within 4h');
  putBack();
  expect(text()).toBe(edited);
});
