// Ids are UUIDs of version 7 that rise in the order in which they are made.

import { expect, test } from 'vitest';
import { createIdSource, createRequestId } from '../../../src/service/requests/record/id.ts';

const startMs = Date.parse('2026-03-02T10:00:00Z');
const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const timeOf = (id: string) => Number.parseInt(id.slice(0, 13).replace('-', ''), 16);

test('an id has the form of version 7 and holds the time', () => {
  for (let count = 0; count < 100; count += 1) expect(createRequestId(Date.now())).toMatch(form);
  expect(timeOf(createIdSource()(startMs))).toBe(startMs);
  expect(timeOf(createIdSource()(startMs + 0.9))).toBe(startMs);
});

test('ids rise within a millisecond, beyond what its counter holds', () => {
  const next = createIdSource();
  const ids = Array.from({ length: 20_000 }, () => next(startMs));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(form);
});

test('ids rise when the clock steps back and afterwards', () => {
  const next = createIdSource();
  const ids = [startMs, startMs - 5000, startMs - 4999, startMs + 1, startMs + 1.5, startMs + 2].map(next);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  expect(timeOf(ids.at(-1) ?? '')).toBe(startMs + 2);
});

test('two sources do not meet', () => {
  const sources = Array.from({ length: 500 }, createIdSource);
  expect(new Set(sources.map((next) => next(startMs))).size).toBe(500);
});
