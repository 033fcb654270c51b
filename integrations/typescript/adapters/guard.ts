// What the adapters share: a call of a tool of an agent framework is decided immediately before the tool
// runs, by the payload that the tool runs with. A framework may ask ahead in order to pause; that decision is
// kept for the execution that follows. INVARIANT: a tool runs under `allowed` and under nothing else, and
// each grant serves one execution.

import {
  failedCall,
  type ReturnedCall,
  returnedByTool,
} from '../../../src/language/value/reported-result.ts';
import {
  type AllowedDecision,
  type Decision,
  type DeniedDecision,
  type GrantOutcome,
  type PendingDecision,
  reporting,
  reportReturned,
  UnreachableError,
  type Writ,
} from '../client.ts';
import { refusal, waitingText } from '../decision.ts';

export interface GuardSettings {
  /** The client, made with `connect`, which alone knows the key. */
  readonly writ: Pick<Writ, 'authorize' | 'report'>;
  /** The first word of the tools' actions: with `mail`, the tool `send` is the action `mail.send`. */
  readonly as: string;
  /** Actions of tools that are named in another way, by tool. */
  readonly actions?: Readonly<Record<string, string>>;
  /** Makes the payload that policies read; by default the arguments of the call. */
  readonly payload?: (tool: string, input: unknown) => object;
  /**
   * Makes the fields of the reported result from what a tool returned; by default the fields of that name.
   * Only fields that the action declares are reported.
   */
  readonly result?: (tool: string, returned: unknown) => Readonly<Record<string, unknown>>;
  /** Milliseconds that a call waits for people before it pauses; 0 by default. */
  readonly wait?: number;
  /**
   * Called for each request that waits for people, so that a program can show its link and ask for its state.
   */
  readonly onWait?: (decision: PendingDecision) => void;
}

export interface ToolCall {
  readonly tool: string;
  /** The whole action, in place of `as` and the tool's name. */
  readonly action?: string;
  readonly input: unknown;
  readonly signal?: AbortSignal | undefined;
}

export type Execution<Result> = { readonly kind: 'ran'; readonly result: Result } | NotRun;

/** The result of a call that was not run. */
export interface NotRun {
  readonly kind: 'not-run';
  readonly decision: DeniedDecision | PendingDecision;
  /** The text for the model. */
  readonly message: string;
}

export interface Guard {
  /** Asks ahead of the execution. Null when the execution may begin. */
  ahead(call: ToolCall): Promise<NotRun | null>;
  /** Whether a decision that was asked for ahead waits for the execution of exactly this call. */
  holds(call: ToolCall): boolean;
  execute<Result>(call: ToolCall, work: () => Result | Promise<Result>): Promise<Execution<Result>>;
  /**
   * Reports a grant that was given ahead as used, with what the tool returned, when the framework itself has
   * executed the tool.
   */
  executed(call: ToolCall, returned?: unknown, isError?: boolean): Promise<void>;
}

/** An error for frameworks that tell a model of a tool's failure by an error. */
export class NotRunError extends Error {
  readonly decision: DeniedDecision | PendingDecision;

  constructor({ decision, message }: NotRun) {
    super(message);
    this.name = 'NotRun';
    this.decision = decision;
  }
}

/**
 * Whether the call was not run because the service is away; a paused run can go on when the service is back.
 */
export function isUnavailable({ decision }: NotRun): boolean {
  return decision.kind === 'denied' && decision.requestId === null && decision.policy === unavailable;
}

const unavailable = 'unreachable';

/** Milliseconds for which a decision that was asked for ahead holds for the execution. */
const aheadMsMax = 60_000;

interface EarlyDecision {
  readonly decision: AllowedDecision | DeniedDecision;
  readonly untilMs: number;
}

export function createGuard(settings: GuardSettings): Guard {
  const early = new Map<string, EarlyDecision[]>();

  function keep(key: string, decision: AllowedDecision | DeniedDecision): void {
    const nowMs = Date.now();
    for (const [each, list] of early) if (list.every(({ untilMs }) => untilMs <= nowMs)) early.delete(each);
    const endMs = decision.kind === 'allowed' ? decision.expiresAt.getTime() : Number.POSITIVE_INFINITY;
    const ahead = { decision, untilMs: Math.min(nowMs + aheadMsMax, endMs) };
    early.set(key, [...(early.get(key) ?? []), ahead]);
  }

  /** Takes a kept decision; each is given out once. */
  function take(key: string, nowMs: number): AllowedDecision | DeniedDecision | null {
    const [first, ...others] = (early.get(key) ?? []).filter(({ untilMs }) => untilMs > nowMs);
    early.set(key, others);
    if (others.length === 0) early.delete(key);
    return first?.decision ?? null;
  }

  function held(decision: PendingDecision): NotRun {
    settings.onWait?.(decision);
    return notRun(decision);
  }

  return {
    async ahead(call) {
      const read = readCall(settings, call);
      if ('kind' in read) return notRun(read);
      const decision = await decide(settings, read);
      if (decision.kind === 'waiting') return held(decision);
      keep(read.key, decision);
      return decision.kind === 'allowed' ? null : notRun(decision);
    },

    holds(call) {
      const read = readCall(settings, call);
      return 'key' in read && (early.get(read.key) ?? []).some(({ untilMs }) => untilMs > Date.now());
    },

    async execute(call, work) {
      const read = readCall(settings, call);
      if ('kind' in read) return notRun(read);
      const decision = take(read.key, Date.now()) ?? (await decide(settings, read));
      if (decision.kind === 'waiting') return held(decision);
      if (decision.kind !== 'allowed') return notRun(decision);
      const now = readCall(settings, call);
      if ('kind' in now || now.key !== read.key)
        return notRun(
          refusal('changed', 'the arguments have changed since the decision', decision.requestId),
        );
      const result = await reporting(reportVia(settings), decision, work, (returned) =>
        describeReturned(settings, call, returned),
      );
      return { kind: 'ran', result };
    },

    async executed(call, returned, isError = false) {
      const read = readCall(settings, call);
      if ('kind' in read) return;
      // With 0 an expired grant counts, too: the execution may have taken longer than the grant holds.
      const decision = take(read.key, 0);
      if (decision?.kind !== 'allowed') return;
      await reportReturned(reportVia(settings), decision, () =>
        isError ? failedCall : describeReturned(settings, call, returned),
      );
    },
  };
}

function describeReturned(settings: GuardSettings, { tool }: ToolCall, returned: unknown): ReturnedCall {
  return { ...returnedByTool(returned), mapped: settings.result?.(tool, returned) };
}

function reportVia({ writ }: GuardSettings): (outcome: GrantOutcome) => Promise<void> {
  return ({ requestId, isExecuted, result }) =>
    result === undefined ? writ.report(requestId, isExecuted) : writ.report(requestId, isExecuted, result);
}

interface ReadCall {
  readonly action: string;
  readonly payload: object;
  readonly signal: AbortSignal | undefined;
  /** The action and the payload as text, which identify the call. */
  readonly key: string;
}

/** Reads a call. Returns a refusal when the arguments cannot be sent to the service unchanged. */
function readCall(settings: GuardSettings, call: ToolCall): ReadCall | DeniedDecision {
  const { as, actions, payload } = settings;
  const { tool, input, signal } = call;
  const named = actions !== undefined && Object.hasOwn(actions, tool) ? actions[tool] : call.action;
  const action = named ?? `${as}.${tool}`;
  const payloadValue = payload?.(tool, input) ?? (isPlain(input) ? input : { input });
  const fault = notJson(payloadValue);
  if (fault !== null) return refusal('arguments', `the arguments are not JSON: ${fault}`, null);
  const text = JSON.stringify(payloadValue);
  return { action, payload: JSON.parse(text) as object, signal, key: `${action} ${text}` };
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value) as unknown;
  return prototype === Object.prototype || prototype === null;
}

/**
 * The place of a value that JSON would change or leave out, which policies would not see; null when there is
 * none.
 */
function notJson(value: unknown, path = ''): string | null {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return null;
  if (typeof value === 'number' && Number.isFinite(value)) return null;
  const members = Array.isArray(value) ? [...value.entries()] : isPlain(value) ? Object.entries(value) : null;
  if (members === null) return path === '' ? 'the whole' : path;
  for (const [name, member] of members) {
    if (member === undefined && !Array.isArray(value)) continue;
    const fault = notJson(member, path === '' ? String(name) : `${path}.${name}`);
    if (fault !== null) return fault;
  }
  return null;
}

/** The decision of the service; a refusal when none can be had. */
async function decide(
  { writ, wait = 0 }: GuardSettings,
  { action, payload, signal }: ReadCall,
): Promise<Decision> {
  try {
    // Each call has an idempotency key of its own, so a run that is repeated after a crash is decided again.
    const decision = await writ.authorize(action, payload, {
      wait,
      ...(signal === undefined ? {} : { signal }),
    });
    const { kind } = (decision ?? {}) as Partial<Decision>;
    if (kind === 'allowed' || kind === 'denied' || kind === 'waiting') return decision;
    return refusal('unreadable', 'the reply cannot be read as a decision', null);
  } catch (error) {
    if (error instanceof UnreachableError) return refusal(unavailable, error.message, null);
    throw error;
  }
}

function notRun(decision: DeniedDecision | PendingDecision): NotRun {
  return { kind: 'not-run', decision, message: messageOf(decision) };
}

/**
 * Tells a model what happened, and whether the same call can help. A model that reads of an error would try
 * again.
 */
function messageOf(decision: DeniedDecision | PendingDecision): string {
  if (decision.kind === 'waiting') return waitingText(decision);
  const { requestId, policy, reason, message } = decision;
  return requestId === null
    ? `Not run: there is no decision about this call (${policy}: ${reason}).`
    : message;
}
