// The size of answers, and how fast they come: whatever is left out is counted, and reading on gets all of it.

import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  boundedAnswer,
  contentBytesMax,
  type Entry,
  textBytesMax,
} from '../../../src/cli/author/tool/answer.ts';
import { commit, emptyFolder, put, startAuthor } from './server.ts';

const entry = (text: string, data: Entry['data'] = text): Entry => ({ list: 'entries', text, data });
const answer = (entries: readonly Entry[], lead = 'lead') => ({
  lead,
  data: { ok: true },
  lists: ['entries'],
  entries,
});

describe('an answer', () => {
  test('is read completely in parts, each within the limits', () => {
    const entries = Array.from({ length: 300 }, (_, at) => entry(`${at} ${'é'.repeat(at)}`));
    const read: unknown[] = [];
    for (let from: number | null = 0; from !== null; ) {
      const { text, structured } = boundedAnswer(answer(entries), from);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(textBytesMax);
      expect(Buffer.byteLength(JSON.stringify(structured))).toBeLessThanOrEqual(contentBytesMax);
      const shown = structured.entries as readonly string[];
      expect(structured.left_out).toBe(300 - from - shown.length);
      expect(text.includes('left out')).toBe(structured.left_out !== 0);
      read.push(...shown);
      from = structured.next_from as number | null;
    }
    expect(read).toEqual(entries.map(({ data }) => data));
  });

  test('shortens a part that is too long, and returns how much is missing', () => {
    const huge = entry('x'.repeat(50_000), { text: 'y'.repeat(50_000), list: Array(5_000).fill('z') });
    const { text, structured } = boundedAnswer(answer([huge, entry('next')], 'l'.repeat(9_000)));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(textBytesMax);
    expect(Buffer.byteLength(JSON.stringify(structured))).toBeLessThanOrEqual(contentBytesMax);
    expect(text).toMatch(/x… \([\d,]+ more bytes\)/);
    expect(structured).toMatchObject({ left_out: 1, next_from: 1 });
  });

  test('has no entry after the last', () => {
    expect(() => boundedAnswer(answer([entry('a')]), 1)).toThrow('less than 1');
    expect(boundedAnswer(answer([]), 0).structured).toEqual({
      ok: true,
      entries: [],
      left_out: 0,
      next_from: null,
    });
  });
});

test('the errors of a set are returned in parts, in their order', async () => {
  const folder = emptyFolder();
  const broken = Array.from({ length: 200 }, (_, at) => `action a.b${at} { n: strng }`).join('\n');
  put(folder, 'a.policy', `${broken}\n`);
  const { call } = await startAuthor(folder);
  const first = await call('check');
  expect(first.data).toMatchObject({ ok: false, errors: 200 });
  expect(first.text).toContain(`call again with \`"from": ${first.data.next_from}\``);
  const second = await call('check', { from: first.data.next_from });
  expect(second.data.diagnostics[0].line).toBe(first.data.diagnostics.at(-1).line + 1);
});

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
