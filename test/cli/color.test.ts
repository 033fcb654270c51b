// When commands print colours: on terminals, with FORCE_COLOR also elsewhere, and with NO_COLOR nowhere.

import { expect, test } from 'vitest';
import { createFolder } from '../service/policies/folder.ts';
import { writProcess } from './writ.ts';

test.each([
  [{}, false],
  [{ FORCE_COLOR: '1' }, true],
  [{ FORCE_COLOR: '' }, true],
  [{ FORCE_COLOR: '0' }, false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false],
])('into a pipe with %j: %s', async (env, isColored) => {
  const folder = createFolder({ 'a.policy': 'action a {\n' });
  const { stdout, stderr } = await writProcess(['check', folder], { env });
  expect((stdout + stderr).includes('\u001b[')).toBe(isColored);
});
