// Holds what all conversations of one proxy share: its settings, the reviewed tools, the tasks that wait for
// people, and whose the tasks of the server are.

import type { LockedServer } from '../review/lock.ts';
import type { Authority } from './authority.ts';
import type { RefusalSettings } from './refusals.ts';
import { createRequestStates, type RequestStates, stateKeptMs } from './request-state.ts';
import { createServerTasks, type ServerTasks } from './server-tasks.ts';
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
  readonly serverTasks: ServerTasks;
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
  return {
    settings,
    states: createRequestStates(),
    tasks: createTasks(),
    serverTasks: createServerTasks(),
    turns: createTakenTurns(),
  };
}

/**
 * Remembers each taken turn until the state that carried it has ended. When there are too many, further turns
 * are refused, because a forgotten turn could be taken twice.
 */
export function createTakenTurns(clock = () => performance.now(), turnsMax = 1_000_000): TakenTurns {
  const takenAtMs = new Map<string, number>();
  return {
    take(turn) {
      const now = clock();
      for (const [earlier, atMs] of takenAtMs) {
        if (now - atMs < stateKeptMs) break;
        takenAtMs.delete(earlier);
      }
      if (takenAtMs.has(turn) || takenAtMs.size >= turnsMax) return false;
      takenAtMs.set(turn, now);
      return true;
    },
  };
}
