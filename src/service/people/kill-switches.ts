// The kill switch: with one action, an operator stops an agent, a risk tier, an area of actions, or
// everything. INVARIANT: what was seen carries its generation, which the store compares when it stores a
// grant, so nothing is granted after the record of a switch that forbids it; no request is judged by switches
// that were looked up more than a second ago.

import { randomUUID } from 'node:crypto';
import { type RiskTier, riskTiers } from '../../language/model/request.ts';
import { textProblem } from '../../language/value/visible-text.ts';
import { createCollection } from '../store/contract/collection.ts';
import { switchKind } from '../store/contract/grant-precondition.ts';
import { stopMark } from '../store/contract/stop-marks.ts';
import type { InvalidInput } from './access.ts';
import type { Directory } from './directory.ts';
import { type Actor, recordName } from './person.ts';

export type KillSwitchScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'tier'; readonly tier: RiskTier }
  /** An action's key without its last segment. */
  | { readonly kind: 'area'; readonly area: string }
  | { readonly kind: 'agent'; readonly agentId: string };

/** The scope that a text names, which has one of the forms of `scopeText`; an agent may be named. */
export function readScope(text: string): KillSwitchScope {
  const [kind = '', value = ''] = text.split(/:(.*)/s);
  const tier = riskTiers.find((one) => one === value);
  if (kind === 'tier' && tier !== undefined) return { kind, tier };
  if (kind === 'area') return { kind, area: value };
  return kind === 'agent' ? { kind, agentId: value } : { kind: 'all' };
}

export function scopeText(scope: KillSwitchScope): string {
  switch (scope.kind) {
    case 'all':
      return 'all';
    case 'tier':
      return `tier:${scope.tier}`;
    case 'area':
      return `area:${scope.area}`;
    case 'agent':
      return `agent:${scope.agentId}`;
  }
}

/** Who turns a switch: a person of the service, or a user of the machine that holds the store. */
export type SwitchActor = Pick<Actor, 'person'> | { readonly machineUser: string };

interface SwitchAuthor {
  readonly id: string;
  readonly name: string;
  /** The name in records. */
  readonly who: string;
}

function authorOf(actor: SwitchActor): SwitchAuthor {
  if ('person' in actor) {
    const { id, name } = actor.person;
    return { id, name, who: recordName(actor.person) };
  }
  const name = `${actor.machineUser} on the machine of the service`;
  return { id: actor.machineUser, name, who: name };
}

export interface KillSwitch {
  readonly id: string;
  readonly scope: KillSwitchScope;
  readonly reason: string;
  readonly createdAtMs: number;
  /** The person's id, or the user of the machine. */
  readonly createdBy: string;
  /** The name at that time. */
  readonly createdByName: string;
}

export interface KillSwitchSubject {
  readonly agentId: string;
  readonly tier: RiskTier;
  readonly actionKey: string;
}

/** Whether the switch stops the action; a switch for an area also stops the areas inside it. */
export function stops({ scope }: KillSwitch, { agentId, tier, actionKey }: KillSwitchSubject): boolean {
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

/** What to say of a scope that may be misspelt: an area in which none of the actions is. */
export function scopeWarnings(scope: KillSwitchScope, actions: readonly string[]): readonly string[] {
  if (scope.kind !== 'area') return [];
  const isKnown = actions.some((action) => action.startsWith(`${scope.area}.`));
  return isKnown ? [] : [`no action of the active policies is in the area \`${scope.area}\``];
}

export interface KillSwitchBoard {
  /** Returns the switches that are on; looks them up when the last look-up is too old. */
  current(): KillSwitchSnapshot | Promise<KillSwitchSnapshot>;
  /** Reads the switches now, after the store has found a newer change. */
  refresh(): Promise<KillSwitchSnapshot>;
  /** Returns all switches that are on, the latest first. */
  list(): Promise<readonly KillSwitch[]>;
  turnOn(
    actor: SwitchActor,
    draft: Pick<KillSwitch, 'scope' | 'reason'>,
  ): Promise<KillSwitchResult | InvalidInput>;
  /** Turns a switch off; like turning it on, this needs a reason. */
  turnOff(
    actor: SwitchActor,
    id: string,
    reason: string,
  ): Promise<'off' | 'unknown' | 'conflict' | InvalidInput>;
}

export interface KillSwitchSnapshot {
  /** Grows with every change of a switch. */
  readonly generation: number;
  /** Returns the switch that stops the action; null when none does. */
  readonly stoppedBy: (subject: KillSwitchSubject) => KillSwitch | null;
}

export interface KillSwitchResult {
  readonly kind: 'on';
  readonly switch: KillSwitch;
}

export interface KillSwitchBoardDeps {
  readonly directory: Directory;
  /** Milliseconds of a clock with any starting point; never goes back. */
  readonly steadyMs: () => number;
}

/** How long a look-up counts; leaves time to decide within the second. */
const lookedMaxMs = 500;
/** The most switches that may be on: more than anybody can keep in mind. */
const switchesMax = 1_000;
/**
 * The most switches that are read and count: more than can be on, even when several processes turn on the
 * last one at once.
 */
const countedMax = 10 * switchesMax;
const reasonLengthMax = 500;

export function createKillSwitchBoard({ directory, steadyMs }: KillSwitchBoardDeps): KillSwitchBoard {
  const switches = createCollection<KillSwitch>(directory.documents, switchKind, () => ({}));
  let seen: KillSwitchSnapshot = { generation: -1, stoppedBy: () => null };
  let seenAtMs = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;

  async function lookOnce(): Promise<void> {
    const atMs = steadyMs();
    // Read before the list: the store then reports a change in between as unseen.
    const generation = await switches.generation();
    const on = (await switches.list({ countMax: countedMax })).map(({ value }) => value);
    // When look-ups overlap, the result with the later generation counts.
    if (generation < seen.generation) return;
    seen = { generation, stoppedBy: (subject) => on.find((one) => stops(one, subject)) ?? null };
    seenAtMs = atMs;
  }

  /** Requests that wait share one look-up. */
  function reload(): Promise<void> {
    looking ??= lookOnce().finally(() => {
      looking = null;
    });
    return looking;
  }

  async function countProblem(): Promise<InvalidInput | null> {
    const on = await switches.list({ countMax: switchesMax });
    if (on.length < switchesMax) return null;
    const detail = `${switchesMax} kill switches are active: turn one off, or use the scope \`all\` instead of several`;
    return { kind: 'invalid', problems: [{ field: 'scope', detail }] };
  }

  return {
    current: () => (steadyMs() - seenAtMs <= lookedMaxMs ? seen : reload().then(() => seen)),
    refresh: () => lookOnce().then(() => seen),
    list: async () => (await switches.list({ countMax: countedMax })).map(({ value }) => value),
    turnOn: async (actor, { scope, reason }) => {
      const invalid = reasonProblem(reason) ?? (await countProblem());
      if (invalid !== null) return invalid;
      const author = authorOf(actor);
      const killSwitch: KillSwitch = {
        id: randomUUID(),
        scope,
        reason,
        createdAtMs: Math.trunc(directory.clock()),
        createdBy: author.id,
        createdByName: author.name,
      };
      const mark = stopMark(killSwitch.id, scopeText(scope), killSwitch.createdAtMs);
      await directory.change([switches.put(killSwitch, 0), mark], {
        who: author.who,
        what: 'kill-switch-created',
        subject: killSwitch.id,
        before: null,
        after: { scope, reason },
      });
      await lookOnce();
      return { kind: 'on', switch: killSwitch };
    },
    turnOff: async (actor, id, whyOff) => {
      const invalid = reasonProblem(whyOff);
      if (invalid !== null) return invalid;
      const storedSwitch = await switches.find(id);
      if (storedSwitch === null) return 'unknown';
      const { scope, reason } = storedSwitch.value;
      const result = await directory.change([switches.remove(storedSwitch.value, storedSwitch.version)], {
        who: authorOf(actor).who,
        what: 'kill-switch-deactivated',
        subject: id,
        after: { reason: whyOff },
        before: { scope, reason },
      });
      await lookOnce();
      return result === 'changed' ? 'off' : 'conflict';
    },
  };
}

function reasonProblem(reason: string): InvalidInput | null {
  const problem = textProblem(reason, reasonLengthMax);
  if (problem === null) return null;
  return { kind: 'invalid', problems: [{ field: 'reason', detail: `the reason ${problem}` }] };
}
