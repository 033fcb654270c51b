// The kill switch: one action of an operator refuses an agent, a risk tier, an area of actions, or everything.
// INVARIANT: what was seen carries its generation, which the store compares when it stores a grant, so nothing is granted
// behind the record of a switch that forbids it; nobody is judged by switches that were looked at over a second ago.

import { randomUUID } from 'node:crypto';
import type { RiskTier } from '../../language/model/request.ts';
import { textProblem } from '../../language/value/visible-text.ts';
import { createCollection } from '../store/contract/collection.ts';
import { switchKind } from '../store/contract/grant-basis.ts';
import type { Invalid } from './access.ts';
import type { Directory } from './directory.ts';
import { type Actor, recordName } from './person.ts';

export type SwitchScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'tier'; readonly tier: RiskTier }
  /** All of an action's key but its last segment. */
  | { readonly kind: 'area'; readonly area: string }
  | { readonly kind: 'agent'; readonly agentId: string };

export interface Switch {
  readonly id: string;
  readonly scope: SwitchScope;
  readonly reason: string;
  readonly createdAtMs: number;
  /** The person's id. */
  readonly createdBy: string;
  /** The person's name at that time. */
  readonly createdByName: string;
}

export interface SwitchSubject {
  readonly agentId: string;
  readonly tier: RiskTier;
  readonly actionKey: string;
}

/** Whether the switch stops this; an area stops the areas within it too. */
export function stops({ scope }: Switch, { agentId, tier, actionKey }: SwitchSubject): boolean {
  switch (scope.kind) {
    case 'all':
      return true;
    case 'tier':
      return scope.tier === tier;
    case 'area':
      return actionKey.startsWith(`${scope.area}.`);
    case 'agent':
      return scope.agentId === agentId;
  }
}

export interface SwitchBoard {
  /** The switches that are on; looks again where the last look is too long ago. */
  seen(): SwitchesSeen | Promise<SwitchesSeen>;
  /** The same, looked at now: the store knows of a change that was not seen. */
  lookAgain(): Promise<SwitchesSeen>;
  /** All that are on, the latest first. */
  list(): Promise<readonly Switch[]>;
  turnOn(actor: Actor, draft: Pick<Switch, 'scope' | 'reason'>): Promise<Turned | Invalid>;
  /** For a reason, as it was turned on. */
  turnOff(actor: Actor, id: string, reason: string): Promise<'off' | 'unknown' | 'conflict' | Invalid>;
}

export interface SwitchesSeen {
  /** Grows with every change of a switch. */
  readonly generation: number;
  /** The switch that stops this; null where none does. */
  readonly stoppedBy: (asked: SwitchSubject) => Switch | null;
}

export interface Turned {
  readonly kind: 'on';
  readonly switch: Switch;
}

export interface SwitchBoardDeps {
  readonly directory: Directory;
  /** Milliseconds from any beginning; never goes back. */
  readonly steadyMs: () => number;
}

/** A look is good for this long, with time left to decide within the second. */
const lookedMaxMs = 500;
/** Switches that may be on; no further one is turned on. More than anybody can keep in mind. */
const switchesMax = 1_000;
/** Switches that are read and count: more than can be on, even where several processes turn on the last one at once. */
const countedMax = 10 * switchesMax;
const reasonLengthMax = 500;

export function createSwitchBoard({ directory, steadyMs }: SwitchBoardDeps): SwitchBoard {
  const switches = createCollection<Switch>(directory.documents, switchKind, () => ({}));
  let seen: SwitchesSeen = { generation: -1, stoppedBy: () => null };
  let seenAtMs = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;

  async function lookOnce(): Promise<void> {
    const atMs = steadyMs();
    // Before the list: of a change in between, the store says that it was not seen.
    const generation = await directory.documents.generation(switchKind);
    const on = (await switches.list({ countMax: countedMax })).map(({ value }) => value);
    // Of two looks at the same time the later one counts.
    if (generation < seen.generation) return;
    seen = { generation, stoppedBy: (asked) => on.find((one) => stops(one, asked)) ?? null };
    seenAtMs = atMs;
  }

  /** Requests that wait share one look. */
  function look(): Promise<void> {
    looking ??= lookOnce().finally(() => {
      looking = null;
    });
    return looking;
  }

  async function countProblem(): Promise<Invalid | null> {
    const on = await switches.list({ countMax: switchesMax });
    if (on.length < switchesMax) return null;
    const detail = `${switchesMax} switches are on: turn one off, or stop \`all\` in place of several`;
    return { kind: 'invalid', problems: [{ field: 'scope', detail }] };
  }

  return {
    seen: () => (steadyMs() - seenAtMs <= lookedMaxMs ? seen : look().then(() => seen)),
    lookAgain: () => lookOnce().then(() => seen),
    list: async () => (await switches.list({ countMax: countedMax })).map(({ value }) => value),
    turnOn: async ({ person }, { scope, reason }) => {
      const invalid = reasonProblem(reason) ?? (await countProblem());
      if (invalid !== null) return invalid;
      const made: Switch = {
        id: randomUUID(),
        scope,
        reason,
        createdAtMs: Math.trunc(directory.clock()),
        createdBy: person.id,
        createdByName: person.name,
      };
      await directory.change([switches.put(made, 0)], {
        who: recordName(person),
        what: 'switch-turned-on',
        subject: made.id,
        before: null,
        after: { scope, reason },
      });
      await lookOnce();
      return { kind: 'on', switch: made };
    },
    turnOff: async ({ person }, id, whyOff) => {
      const invalid = reasonProblem(whyOff);
      if (invalid !== null) return invalid;
      const found = await switches.find(id);
      if (found === null) return 'unknown';
      const { scope, reason } = found.value;
      const result = await directory.change([switches.remove(found.value, found.version)], {
        who: recordName(person),
        what: 'switch-turned-off',
        subject: id,
        after: { reason: whyOff },
        before: { scope, reason },
      });
      await lookOnce();
      return result === 'changed' ? 'off' : 'conflict';
    },
  };
}

function reasonProblem(reason: string): Invalid | null {
  const problem = textProblem(reason, reasonLengthMax);
  if (problem === null) return null;
  return { kind: 'invalid', problems: [{ field: 'reason', detail: `the reason ${problem}` }] };
}
