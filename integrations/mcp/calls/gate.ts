// What all conversations of one proxy share: its settings, what was reviewed, and the tasks that wait for people.

import type { LockedServer } from '../review/lock.ts';
import type { Authority } from './authority.ts';
import type { RefusalSettings } from './refusals.ts';
import { createRequestStates, type RequestStates } from './request-state.ts';
import { createTasks, type Tasks } from './tasks.ts';

export interface GateSettings extends RefusalSettings {
  /** The name of the server: actions begin with it. */
  readonly as: string;
  readonly locked: LockedServer | null;
  /** How long a reply is held while people decide, in milliseconds. */
  readonly holdMs: number;
  /** Methods that are forwarded though nobody here knows them. */
  readonly pass: ReadonlySet<string>;
  /** One line for the operator. */
  readonly warn: (line: string) => void;
}

export interface Gate {
  readonly settings: GateSettings;
  readonly states: RequestStates;
  readonly tasks: Tasks;
  /** The turns of granted calls that were taken: each is one try. */
  readonly turns: TakenTurns;
}

/** Who calls: one agent, with what decides about it. */
export interface Caller {
  /** Distinguishes callers from one another, and says nothing else. */
  readonly id: string;
  readonly authority: Authority;
}

export interface TakenTurns {
  /** Whether it is taken for the first time. */
  take(turn: string): boolean;
}

export function createGate(settings: GateSettings): Gate {
  return { settings, states: createRequestStates(), tasks: createTasks(), turns: createTakenTurns() };
}

/** Turns end with their states, so the oldest of many may be forgotten only together with the memory of this process. */
function createTakenTurns(): TakenTurns {
  const open = new Set<string>();
  return {
    take(turn) {
      if (open.has(turn) || open.size >= turnsMax) return false;
      open.add(turn);
      return true;
    },
  };
}

/** More than a process is asked back in its life; then further tries are refused. */
const turnsMax = 1_000_000;
