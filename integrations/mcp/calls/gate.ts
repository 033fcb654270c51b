// Holds what all conversations of one proxy share: its settings, the reviewed tools, and the tasks that wait
// for people.

import type { LockedServer } from '../review/lock.ts';
import type { Authority } from './authority.ts';
import type { RefusalSettings } from './refusals.ts';
import { createRequestStates, type RequestStates } from './request-state.ts';
import { createTasks, type Tasks } from './tasks.ts';

export interface GateSettings extends RefusalSettings {
  /** The name of the server; its actions begin with this name. */
  readonly as: string;
  readonly locked: LockedServer | null;
  /** Milliseconds for which a reply is held while people decide. */
  readonly holdMs: number;
  /** Methods that are forwarded although the proxy does not know them. */
  readonly pass: ReadonlySet<string>;
  /** Writes one line for the operator. */
  readonly warn: (line: string) => void;
}

export interface Gate {
  readonly settings: GateSettings;
  readonly states: RequestStates;
  readonly tasks: Tasks;
  /** The turns of granted calls that were taken; a turn is good for one try. */
  readonly turns: TakenTurns;
}

/** One agent that calls, and the authority that decides about its calls. */
export interface Caller {
  /** Tells callers apart, and holds no other information. */
  readonly id: string;
  readonly authority: Authority;
}

export interface TakenTurns {
  /** Takes a turn. True when the turn is taken for the first time. */
  take(turn: string): boolean;
}

export function createGate(settings: GateSettings): Gate {
  return { settings, states: createRequestStates(), tasks: createTasks(), turns: createTakenTurns() };
}

/**
 * Remembers all taken turns for the life of the process, which also ends the states that carry turns. When
 * there are too many, further turns are refused, because a forgotten turn could be taken twice.
 */
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

/** More turns than a process takes in its life; further tries are refused. */
const turnsMax = 1_000_000;
