// What every store must do with documents.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifyChain } from '../../../src/service/audit/verify.ts';
import type {
  DocumentPut,
  DocumentRow,
  ManagementChange,
} from '../../../src/service/store/contract/documents.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import type { Place } from './contract.ts';

function put(id: string, more: Partial<DocumentPut> = {}): DocumentPut {
  return {
    kind: 'person',
    id,
    seen: 0,
    name: null,
    parent: null,
    createdAtMs: 1_000,
    endsAtMs: null,
    json: '{"a":1}',
    ...more,
  };
}

function rowOf({ seen, ...rest }: DocumentPut): DocumentRow {
  return { ...rest, version: seen + 1 };
}

const change: ManagementChange = {
  atMs: 1_000,
  who: 'ann@example.com (p1)',
  what: 'person-invited',
  subject: 'p2',
  before: null,
  after: { name: 'Ben' },
};

export function describeDocuments(name: string, createPlace: () => Promise<Place>): void {
  describe(`${name}: documents`, () => {
    let place: Place;
    let store: Store;
    beforeEach(async () => {
      place = await createPlace();
      store = await place.open();
    });
    afterEach(async () => {
      await store.close();
      await place.remove();
    });

    test('come back as they went in, by id and by name', async () => {
      const one = put('p1', { name: 'Ann@example.com', parent: 'x', endsAtMs: 5 });
      expect(await store.documents.write([one], null)).toBe('changed');
      expect(await store.documents.find('person', 'p1')).toEqual(rowOf(one));
      expect(await store.documents.findByName('person', 'ann@EXAMPLE.com')).toEqual(rowOf(one));
      expect(await store.documents.find('token', 'p1')).toBeNull();
      expect(await store.documents.findByName('token', 'Ann@example.com')).toBeNull();
    });

    test('are changed only by who has seen the latest version', async () => {
      await store.documents.write([put('p1')], null);
      expect(await store.documents.write([put('p1')], null)).toBe('conflict');
      expect(await store.documents.write([put('p1', { seen: 1, json: '{"a":2}' })], null)).toBe('changed');
      expect(await store.documents.write([put('p1', { seen: 1, json: '{"a":3}' })], null)).toBe('conflict');
      expect((await store.documents.find('person', 'p1'))?.json).toBe('{"a":2}');
      expect(await store.documents.write([put('p2', { seen: 1 })], null)).toBe('conflict');
    });

    test('of two who change one at once, one does', async () => {
      await store.documents.write([put('p1')], null);
      const writes = ['{"a":2}', '{"a":3}'].map((json) => [put('p1', { seen: 1, json })]);
      const results = await Promise.all(writes.map((write) => store.documents.write(write, null)));
      expect(results.toSorted()).toEqual(['changed', 'conflict']);
    });

    test('have names of their own, in whatever case', async () => {
      await store.documents.write([put('p1', { name: 'ann' })], null);
      expect(await store.documents.write([put('p2', { name: 'ANN' })], null)).toBe('name-taken');
      expect(await store.documents.write([put('p2', { name: 'ann', kind: 'webhook' })], null)).toBe(
        'changed',
      );
      expect(await store.documents.write([put('p1', { name: 'Ann', seen: 1 })], null)).toBe('changed');
    });

    test('are written together or not at all, the record of the change included', async () => {
      await store.documents.write([put('p1')], null);
      expect(await store.documents.write([put('p2'), put('p1')], change)).toBe('conflict');
      expect(await store.documents.find('person', 'p2')).toBeNull();
      const stretch = () => store.chain.segment(0, 10);
      expect((await stretch()).records).toEqual([]);
      const removal = { kind: 'person', id: 'p1', seen: 1, isRemoval: true } as const;
      expect(await store.documents.write([removal, put('p2')], change)).toBe('changed');
      expect(await store.documents.find('person', 'p1')).toBeNull();
      const { records } = await stretch();
      expect(records).toHaveLength(1);
      expect(records[0]?.entry).toMatchObject({ kind: 'change', who: change.who, what: change.what });
      expect((await verifyChain(store)).kind).toBe('whole');
    });

    test('are listed a page at a time, the latest first', async () => {
      for (const [id, createdAtMs, parent] of [
        ['a', 1, 'x'],
        ['b', 3, 'y'],
        ['c', 2, 'x'],
        ['d', 3, 'x'],
      ] as const) {
        await store.documents.write([put(id, { createdAtMs, parent })], null);
      }
      const ids = async (page: { parent: string | null; after: DocumentRow | null; countMax: number }) =>
        (await store.documents.list({ kind: 'person', ...page })).map(({ id }) => id);
      expect(await ids({ parent: null, after: null, countMax: 10 })).toEqual(['d', 'b', 'c', 'a']);
      expect(await ids({ parent: 'x', after: null, countMax: 2 })).toEqual(['d', 'c']);
      const last = await store.documents.find('person', 'b');
      expect(await ids({ parent: null, after: last, countMax: 10 })).toEqual(['c', 'a']);
      expect(await ids({ parent: 'z', after: null, countMax: 10 })).toEqual([]);
    });

    test('count as changed here before a change can be seen and again after it, kind by kind', async () => {
      const counts = () => [store.documents.changesHere('person'), store.documents.changesHere('token')];
      const before = counts();
      const writing = store.documents.write([put('p1', { endsAtMs: 5 }), put('p2')], null);
      const [during = 0] = counts();
      await writing;
      const [after = 0, ofTokens] = counts();
      expect(during).toBeGreaterThan(before[0] ?? 0);
      expect(after).toBeGreaterThan(during);
      expect(ofTokens).toBe(before[1]);
      await store.documents.removeEnded('person', 10, 1);
      expect(store.documents.changesHere('person')).toBeGreaterThan(after);
    });

    test('that have ended are removed, a few at a time', async () => {
      for (const [id, endsAtMs] of [
        ['a', 10],
        ['b', 20],
        ['c', 30],
        ['d', null],
      ] as const) {
        await store.documents.write([put(id, { endsAtMs })], null);
      }
      expect(await store.documents.removeEnded('token', 100, 10)).toBe(0);
      expect(await store.documents.removeEnded('person', 30, 1)).toBe(1);
      expect(await store.documents.removeEnded('person', 30, 10)).toBe(1);
      expect(await store.documents.find('person', 'c')).not.toBeNull();
      expect(await store.documents.find('person', 'd')).not.toBeNull();
    });
  });
}
