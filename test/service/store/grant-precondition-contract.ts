// The store compares what a grant rests on in the transaction of the write. A change of any part, by any
// process, keeps the write from being stored, and nothing else does.

import { describe, expect, onTestFinished, test } from 'vitest';
import type { GrantPrecondition } from '../../../src/service/store/contract/grant-precondition.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import type { Place } from './contract.ts';
import { agentRow, keyRow, pendingRow, requestRow, startMs } from './rows.ts';

const document = { name: null, parent: null, createdAtMs: startMs, endsAtMs: null, json: '{}' };
const change = { atMs: startMs, who: 'ann', what: 'changed', subject: 'x', before: null, after: null };

async function put({ documents }: Pick<Store, 'documents'>, kind: string, id: string, seen: number) {
  expect(await documents.write([{ ...document, kind, id, seen }], change)).toBe('changed');
}

type Change = (store: Store, agentId: string) => Promise<unknown>;

const changes: Readonly<Record<string, Change>> = {
  'its status': (store, agentId) => store.agents.setStatus({ agentId, status: 'disabled', atMs: startMs }),
  'its tier': async (store, agentId) => {
    const found = (await store.agents.find(agentId)) ?? agentRow();
    const { name, controlOwner, tags, ratePerMinute, burst, tellsChange } = found;
    const described = { name, controlOwner, tags, ratePerMinute, burst, tellsChange };
    return await store.agents.describe({ agentId, atMs: startMs, riskTier: 'high', ...described });
  },
  'its signing': (store, agentId) =>
    store.agents.setSigning({ agentId, signing: 'required', newSealedSecret: 'v1.x', atMs: startMs }),
  'its keys': (store, agentId) =>
    store.agents.rotateKey({ key: keyRow(agentId), othersNotAfterMs: startMs + 9 }),
  'a switch': (store) => put(store, 'switch', 's1', 0),
  'a person': (store) => put(store, 'person', 'p1', 1),
  'a person who was not there': (store) => put(store, 'person', 'nobody', 0),
};

export function describeGrantPrecondition(name: string, createPlace: () => Promise<Place>): void {
  describe(`${name}: what a grant rests on`, () => {
    async function setUp() {
      const place = await createPlace();
      const [store, other] = [await place.open(), await place.open()];
      onTestFinished(async () => {
        await store.close();
        await other.close();
        await place.remove();
      });
      const agent = agentRow();
      await store.agents.add(agent, keyRow(agent.id));
      await put(store, 'person', 'p1', 0);
      const precondition: GrantPrecondition = {
        agentId: agent.id,
        agentVersion: 1,
        keyNotAfterMs: startMs + 1,
        switchGeneration: 0,
        documents: [
          { kind: 'person', id: 'p1', version: 1 },
          { kind: 'person', id: 'nobody', version: 0 },
        ],
      };
      return { store, other, agent, precondition };
    }

    test.each(Object.keys(changes))(
      'after a change of %s nothing is stored, here and by another process',
      async (name) => {
        for (const by of ['store', 'other'] as const) {
          const { precondition, agent, ...stores } = await setUp();
          const { requests } = stores.store;
          const waiting = pendingRow({ agentId: agent.id });
          expect(await requests.append(waiting, { openMax: 9, precondition })).toBe('stored');
          await changes[name]?.(stores[by], agent.id);
          const before = await stores.store.chain.latestAtMs();
          const entry = { definition: 'd', key: 'k', isCertain: true, value: '1' };
          const row = requestRow({ agentId: agent.id });
          expect(await requests.append(row, { openMax: 9, precondition }, [entry])).toBe(
            'precondition-failed',
          );
          expect(await requests.find(row.id)).toBeNull();
          expect(await stores.store.meters.enteredBy(row.id)).toEqual([]);
          const state = { status: 'approved', decidedAtMs: startMs, expiresAtMs: startMs + 9 } as const;
          const events = [{ atMs: startMs, who: 'ann', what: 'decided', state, detail: null }] as const;
          const asked = { requestId: waiting.id, events, from: ['pending'], seen: 0 } as const;
          expect(await requests.change({ ...asked, precondition })).toBe('precondition-failed');
          expect(await requests.events(waiting.id)).toEqual([]);
          expect(await stores.store.chain.latestAtMs()).toBe(before);
        }
      },
    );

    test('a change that comes with the request in one batch is seen, in the order in which both were asked for', async () => {
      const { store, agent, precondition } = await setUp();
      const grant = () =>
        store.requests.append(requestRow({ agentId: agent.id }), { openMax: 9, precondition });
      const results = await Promise.all([
        grant(),
        store.agents.setStatus({ agentId: agent.id, status: 'disabled', atMs: startMs }),
        grant(),
      ]);
      expect(results).toEqual(['stored', 'changed', 'precondition-failed']);
    });

    test('what has no part in it changes nothing: another agent, another kind of document, a use that is not on record', async () => {
      const { store, agent, precondition } = await setUp();
      const another = agentRow();
      await store.agents.add(another, keyRow(another.id));
      await store.agents.setStatus({ agentId: another.id, status: 'disabled', atMs: startMs });
      await put(store, 'token', 't1', 0);
      await store.documents.write([{ ...document, kind: 'switch', id: 'seen', seen: 0 }], null);
      const row = requestRow({ agentId: agent.id });
      expect(await store.requests.append(row, { openMax: 9, precondition })).toBe('stored');
    });

    test('a key must be good at the moment of the decision', async () => {
      const { store, agent, precondition } = await setUp();
      const at = (createdAtMs: number) =>
        store.requests.append(requestRow({ agentId: agent.id, createdAtMs }), { openMax: 9, precondition });
      expect(await at(startMs)).toBe('stored');
      expect(await at(startMs + 1)).toBe('precondition-failed');
      const waiting = pendingRow({ agentId: agent.id });
      expect(await store.requests.append(waiting, { openMax: 9, precondition })).toBe('stored');
      const approve = (atMs: number) => {
        const state = { status: 'approved', decidedAtMs: atMs, expiresAtMs: startMs + 9 } as const;
        const events = [{ atMs, who: 'ann', what: 'decided', state, detail: null }] as const;
        return store.requests.change({
          requestId: waiting.id,
          events,
          from: ['pending'],
          seen: 0,
          precondition,
        });
      };
      expect(await approve(startMs + 1)).toBe('precondition-failed');
      expect(await approve(startMs)).toBe('changed');
    });

    test('an agent that is not there has no grants', async () => {
      const { store, precondition } = await setUp();
      const row = requestRow({ agentId: 'nobody' });
      expect(
        await store.requests.append(row, {
          openMax: 9,
          precondition: { ...precondition, agentId: 'nobody' },
        }),
      ).toBe('precondition-failed');
      const none = { ...precondition, agentId: 'nobody', agentVersion: 0 };
      expect(await store.requests.append(row, { openMax: 9, precondition: none })).toBe(
        'precondition-failed',
      );
    });
  });
}
