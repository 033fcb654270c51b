// The size of answers: whatever is left out is counted, and reading on gets all of it.

import { describe, expect, test } from 'vitest';
import {
  boundedAnswer,
  contentBytesMax,
  type Entry,
  textBytesMax,
} from '../../../src/cli/author/tool/answer.ts';
import { emptyFolder, put, startAuthor } from './server.ts';

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
