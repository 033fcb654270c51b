// Holds what all conversations of one proxy share: its settings, the reviewed tools, the tasks that wait for
// people, and whose the tasks of the server are.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { type CanonicalValue, canonicalJson } from '../../../src/service/store/contract/canonical-json.ts';
import type { JsonObject } from '../protocol/messages.ts';
import type { LockedServer } from '../review/lock.ts';
import type { Authority } from './authority.ts';
import type { Inspect } from './inspection.ts';
import type { RefusalSettings } from './refusals.ts';
import { createServerTasks, type ServerTasks } from './server-tasks.ts';
import { createTasks, type Tasks } from './tasks.ts';

// Seals the state that a client brings back with its next try, in the stateless era. A state is good for one
// caller, for one call, for an hour. INVARIANT: a state that does not open was not given by this process for
// this call, and nothing is carried out on it.

export type CarriedState =
  /** A call that waits for people. */
  | { readonly kind: 'wait'; readonly requestId: string }
  /** A call that was granted, in which the server asks for more. `state` is the server's own state. */
  | {
      readonly kind: 'granted';
      readonly requestId: string;
      /** The fields of the result that the action declares; null when it declares none. */
      readonly resultFields: readonly string[] | null;
      readonly turn: string;
      readonly state: string | null;
    };

/** The caller and the call that a state is good for. */
export interface CarriedScope {
  readonly caller: string;
  readonly method: string;
  readonly params: JsonObject;
}

export interface RequestStates {
  seal(state: CarriedState, scope: CarriedScope): string;
  /** The state; null when the text is not a valid state for this caller and call. */
  open(text: string, scope: CarriedScope): CarriedState | null;
}

const beginning = 'writ1';

/** How long a state is good, in milliseconds. */
export const stateKeptMs = 60 * 60_000;

/** `clock` never goes back: the states are good for this process alone, so it need not be the time of day. */
export function createRequestStates(clock = () => performance.now()): RequestStates {
  const key = randomBytes(32);
  const codeOf = (body: string) => createHmac('sha256', key).update(body).digest('base64url');
  return {
    seal(state, scope) {
      const body = JSON.stringify({ ...state, of: digestOf(scope), until: clock() + stateKeptMs });
      const text = Buffer.from(body).toString('base64url');
      return `${beginning}.${text}.${codeOf(text)}`;
    },
    open(sealed, scope) {
      const [first, text = '', code = '', ...others] = sealed.split('.');
      if (first !== beginning || others.length > 0 || !isEqual(code, codeOf(text))) return null;
      const { of, until, ...state } = JSON.parse(Buffer.from(text, 'base64url').toString());
      return of === digestOf(scope) && clock() < until ? state : null;
    },
  };
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** A digest of the call, without the members that a client adds to its next try. */
function digestOf({ caller, method, params }: CarriedScope): string {
  const { _meta: meta, inputResponses: answers, requestState: state, ...call } = params;
  return createHash('sha256')
    .update(canonicalJson({ caller, method, call } as CanonicalValue))
    .digest('base64url');
}

export interface GateSettings extends RefusalSettings {
  /** The name of the server; its actions begin with this name. */
  readonly as: string;
  readonly locked: LockedServer | null;
  /** Milliseconds for which a reply is held while people decide. */
  readonly holdMs: number;
  /** Methods that are forwarded although the proxy does not know them. */
  readonly pass: ReadonlySet<string>;
  /** Whether clients are offered the tool `writ_plan`; not when absent. */
  readonly arePlansOffered?: boolean;
  /** Labels what tools return; absent when nothing is inspected. */
  readonly inspect?: Inspect;
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
