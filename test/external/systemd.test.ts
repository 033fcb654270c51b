// The unit file, judged by systemd itself.

import { execFileSync, spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { requireProgram } from './programs.ts';

const unit = 'integrations/deploy/systemd/writ.service';

test('the unit is right, and exposes little', () => {
  requireProgram(['systemd-analyze', '--version'], 'systemd');
  const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  expect(verified.stderr.split('\n').filter((line) => line.includes('writ.service'))).toEqual([]);
  const judged = execFileSync('systemd-analyze', ['security', '--offline=true', unit], { encoding: 'utf8' });
  expect(Number(/exposure level for writ.service: ([\d.]+)/.exec(judged)?.[1])).toBeLessThan(2);
});
