// The kill switch over a real store: what each scope stops, and that all processes on the store notice in
// time.

import { describe, expect, it } from 'vitest';
import { createDirectory } from '../../../src/service/people/directory.ts';
import {
  createKillSwitchBoard,
  type KillSwitch,
  type KillSwitchBoard,
  type KillSwitchScope,
  stops,
} from '../../../src/service/people/kill-switches.ts';
import { createCollection } from '../../../src/service/store/contract/collection.ts';
import { switchKind } from '../../../src/service/store/contract/grant-precondition.ts';
import { startPeople } from './service.ts';

const asked = { agentId: 'a1', tier: 'high', actionKey: 'payment.refund.create' } as const;

describe('a switch', () => {
  it.each<[KillSwitchScope, boolean]>([
    [{ kind: 'all' }, true],
    [{ kind: 'tier', tier: 'high' }, true],
    [{ kind: 'tier', tier: 'critical' }, false],
    [{ kind: 'area', area: 'payment' }, true],
    [{ kind: 'area', area: 'payment.refund' }, true],
    [{ kind: 'area', area: 'payment.refund.create' }, false],
    [{ kind: 'area', area: 'pay' }, false],
    [{ kind: 'agent', agentId: 'a1' }, true],
    [{ kind: 'agent', agentId: 'a2' }, false],
  ])('of %j stops it: %s', (scope, isStopped) => {
    const one = { id: 's', scope, reason: 'r', createdAtMs: 0, createdBy: 'p', createdByName: 'P' };
    expect(stops(one, asked)).toBe(isStopped);
  });
});

const stopping = async (board: KillSwitchBoard) => (await board.current()).stoppedBy(asked);

describe('the board', () => {
  it('takes effect at once here, and within a second in each process of the store', async () => {
    const { directory, admin } = await startPeople();
    let nowMs = 0;
    const steadyMs = () => nowMs;
    const here = createKillSwitchBoard({ directory, steadyMs });
    const there = createKillSwitchBoard({
      directory: createDirectory(directory.documents, () => 0),
      steadyMs,
    });
    expect(await stopping(here)).toBeNull();
    expect(await stopping(there)).toBeNull();
    const turned = await here.turnOn(admin, { scope: { kind: 'tier', tier: 'high' }, reason: 'look' });
    if (turned.kind !== 'on') throw new Error(turned.kind);
    expect(await stopping(here)).toEqual(turned.switch);
    nowMs += 501;
    expect(await stopping(there)).toEqual(turned.switch);
    expect(await here.turnOff(admin, turned.switch.id, 'checked')).toBe('off');
    expect(await stopping(here)).toBeNull();
    expect(await stopping(there)).toEqual(turned.switch);
    nowMs += 501;
    expect(await stopping(there)).toBeNull();
    expect(await here.turnOff(admin, turned.switch.id, 'checked')).toBe('unknown');
  });

  it('keeps every switch: beyond the limit, a new one is refused', async () => {
    const { directory, admin } = await startPeople();
    const board = createKillSwitchBoard({ directory, steadyMs: () => 0 });
    const first = await board.turnOn(admin, { scope: { kind: 'all' }, reason: 'an incident' });
    if (first.kind !== 'on') throw new Error(first.kind);
    const switches = createCollection<KillSwitch>(directory.documents, switchKind, () => ({}));
    const others = Array.from({ length: 999 }, (_, at) => {
      const scope = { kind: 'area', area: `no.such${at}` } as const;
      return switches.put({ ...first.switch, id: `other-${at}`, scope, createdAtMs: at + 1 }, 0);
    });
    const who = 'Ann';
    const change = {
      who,
      what: 'kill-switch-created',
      subject: 'others',
      before: null,
      after: null,
    } as const;
    await directory.change(others, change);
    const draft = { scope: { kind: 'area', area: 'no.more' }, reason: 'one more' } as const;
    expect(await board.turnOn(admin, draft)).toEqual({
      kind: 'invalid',
      problems: [
        { field: 'scope', detail: expect.stringMatching(/^1000 kill switches are active: turn one off/) },
      ],
    });
    await directory.change([switches.put({ ...first.switch, id: 'raced', scope: draft.scope }, 0)], change);
    await board.refresh();
    expect((await board.current()).stoppedBy(asked)?.id).toBe(first.switch.id);
    expect(await board.list()).toHaveLength(1_001);
  });

  it('lets nothing pass when the switches cannot be read', async () => {
    const { directory, store } = await startPeople();
    let nowMs = 0;
    const board = createKillSwitchBoard({ directory, steadyMs: () => nowMs });
    expect(await stopping(board)).toBeNull();
    await store.close();
    expect(await stopping(board)).toBeNull();
    nowMs += 501;
    await expect(stopping(board)).rejects.toThrow('closed');
  });

  it('requires a reason', async () => {
    const { directory, admin } = await startPeople();
    const board = createKillSwitchBoard({ directory, steadyMs: () => 0 });
    expect(await board.turnOn(admin, { scope: { kind: 'all' }, reason: ' ' })).toMatchObject({
      kind: 'invalid',
      problems: [{ field: 'reason' }],
    });
    expect(await board.list()).toEqual([]);
  });
});
