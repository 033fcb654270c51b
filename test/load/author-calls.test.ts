// How much processor time a call of a tool of `writ author` takes once the server has read the set.

import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commit, emptyFolder, startAuthor } from '../cli/author/server.ts';

/** The milliseconds of processor time that a process has used: other work may share the machine. */
function busyMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  // `utime` and `stime`, in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

test.runIf(process.platform === 'linux')(
  'a warm call on a shipped pack takes less than a second',
  async () => {
    const folder = emptyFolder();
    cpSync('policies', join(folder, 'policies'), { recursive: true });
    cpSync('examples/packs', join(folder, 'packs'), { recursive: true });
    commit(folder);
    const { call, pid } = await startAuthor(folder);
    const slow: string[] = [];
    const stopped = {
      action: 'payment.create',
      payload: { amount: 120, currency: 'USD', vendor: 'Staples', description: 'paper' },
      agent: { id: 'a-1', name: 'buyer', risk_tier: 'high', control_owner: 'ops@example.com', tags: [] },
      meters: { vendor_24h: '120 USD', agent_24h: '120 USD' },
      now: '2026-03-02T17:00:00-05:00',
    };
    for (const path of ['policies', 'packs/mail'])
      for (const [tool, args] of [
        ...['check', 'format', 'test', 'prove', 'summary', 'diff'].map((one) => [one, {}] as const),
        ...(path === 'policies' ? [['suggest', { ...stopped, path: 'policies/payments' }] as const] : []),
      ]) {
        const times: number[] = [];
        while (times.length < 8 && Math.min(...times) > 1_000) {
          const before = busyMs(pid);
          const { data } = await call(tool, { path, ...args });
          if (tool === 'suggest') expect(data.suggestions.length).toBeGreaterThan(0);
          times.push(busyMs(pid) - before);
        }
        if (Math.min(...times) > 1_000) slow.push(`${tool} ${path}: ${Math.min(...times)} ms`);
      }
    expect(slow).toEqual([]);
  },
);
