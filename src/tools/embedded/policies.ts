// Policies that decide inside a program, without a service: from a directory, a file or texts to a function. Nothing is
// recorded and no meter is kept; what the program does not say of a request is unknown. INVARIANT: policies with an error
// never decide; where a change has one, the last good ones go on.

import { stat } from 'node:fs/promises';
import { hasErrors } from '../../language/diagnostic/diagnostic.ts';
import { renderDiagnostics } from '../../language/diagnostic/render.ts';
import type { SourceText } from '../../language/diagnostic/span.ts';
import type { Linked } from '../../language/emit/link.ts';
import { runOfPlace } from '../../language/emit/run.ts';
import type { Decision, Outcome, Requirements } from '../../language/model/decision.ts';
import type { JsonObject } from '../../language/model/json.ts';
import type { AgentFacts, Facts, Reading, RequestFacts, Satisfied } from '../../language/model/request.ts';
import { type TracedRule, tracedRules } from '../../language/model/trace.ts';
import { parseDecimal } from '../../language/value/decimal.ts';
import { compile, createCompileCache } from '../../pipeline.ts';
import { type ReadSources, readPaths, readPolicies } from '../../service/policies/read.ts';
import { watch } from '../../service/policies/watch.ts';

/** A path to a directory or a file, or the texts themselves. */
export type PolicyPlace = string | readonly SourceText[];

/** A number, its digits as text where a number is not exact, or the least and the most that it can be. */
export type ReadingGiven = number | string | readonly [number | string, number | string];

/** What is decided. What is not said is unknown, and what is unknown grants nothing. */
export interface AskedDecision {
  readonly action: string;
  /** As JSON has it. */
  readonly payload: JsonObject;
  readonly agent?: AgentFacts;
  readonly request?: RequestFacts;
  /** By name, with this request in it; an amount of money in the meter's currency. */
  readonly meters?: Readonly<Record<string, ReadingGiven>>;
  /** Ids (`policy/rule`) of the rules whose requirement has been met: by approvals, and by a step-up. */
  readonly satisfied?: Partial<Satisfied>;
  /** Now unless said otherwise. */
  readonly now?: Date;
}

export interface EmbeddedDecision {
  readonly decision: Outcome;
  readonly reason: string;
  readonly matchedPolicy: string;
  /** Id (`policy/rule`) of the rule that decided, or the gate. */
  readonly rule: string;
  /** From 0 to 100. */
  readonly riskScore: number;
  /** How long an ALLOW holds, in seconds; null for the others. */
  readonly validForSeconds: number | null;
  /** Whom ESCALATE and REAUTH_REQUIRED ask; null for the others. */
  readonly requires: Requirements | null;
}

export interface ExplainedDecision extends EmbeddedDecision {
  /** Every rule of the action, with its truth and what it read. */
  readonly rules: readonly TracedRule[];
}

/** What `follow` tells. */
export interface PolicyListener {
  readonly onChange?: () => void;
  /** The last good policies go on. */
  readonly onRefused?: (error: Error) => void;
}

export interface Policies {
  /** Keys of the declared actions. */
  readonly actions: readonly string[];
  /** Throws a TypeError for a question that is not one; what a payload should not hold is a DENY. */
  decide(question: AskedDecision): EmbeddedDecision;
  explain(question: AskedDecision): ExplainedDecision;
  /** Reads the place again. Throws a PolicyError where it cannot be used, and then nothing changes. */
  reload(): Promise<void>;
  /** Reloads after each change of the directory, until it is stopped. Of texts there is nothing to follow. */
  follow(listener?: PolicyListener): Promise<{ readonly stop: () => Promise<void> }>;
}

/** Policies that cannot be used. The message shows each mistake with its place. */
export class PolicyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PolicyError';
  }
}

/** How long a directory rests after a change before it is read, in milliseconds. */
const restMs = 150;

/** Throws a PolicyError for policies with an error. */
export async function loadPolicies(place: PolicyPlace): Promise<Policies> {
  const cache = createCompileCache(runOfPlace());
  const load = async (): Promise<Linked> => {
    const read = await readPlace(place);
    const { engine, diagnostics } = compile(read.sources, cache);
    const all = [...read.diagnostics, ...diagnostics].filter(({ severity }) => severity === 'error');
    if (engine === null || hasErrors(all))
      throw new PolicyError(renderDiagnostics(all, read.sourceOf, { color: false }).trimEnd());
    return engine;
  };
  let engine = await load();
  const reload = async (): Promise<void> => {
    engine = await load();
  };
  return {
    get actions() {
      return [...engine.actions()].toSorted();
    },
    decide: (question) => answerOf(engine.decide(factsOf(question))),
    explain(question) {
      const { decision, trace } = engine.decideTraced(factsOf(question));
      return { ...answerOf(decision), rules: tracedRules(trace) };
    },
    reload,
    follow: (listener = {}) => follow(place, reload, listener),
  };
}

type Read = Pick<ReadSources, 'sources' | 'diagnostics' | 'sourceOf'>;

async function readPlace(place: PolicyPlace): Promise<Read> {
  if (typeof place !== 'string') {
    return {
      sources: {
        files: place,
        readListFile: (path) => ({
          code: 'list-file-missing',
          message: `\`${path}\` is not among the texts`,
        }),
      },
      diagnostics: [],
      sourceOf: (path) => place.find((one) => one.path === path)?.text ?? null,
    };
  }
  const isFile = await stat(place).then(
    (found) => found.isFile(),
    () => false,
  );
  return isFile ? await readPaths([place]) : await readPolicies(place);
}

async function follow(place: PolicyPlace, reload: () => Promise<void>, listener: PolicyListener) {
  if (typeof place !== 'string') throw new TypeError('texts do not change: give a path to follow it');
  let last: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const again = () => {
    last = last
      .then(reload)
      .then(listener.onChange, (error: unknown) => listener.onRefused?.(error as Error));
  };
  const onEvent = () => {
    clearTimeout(timer);
    timer = setTimeout(again, restMs);
  };
  const watching = watch(place, { onEvent, onError: onEvent });
  await watching.ready;
  return {
    async stop() {
      clearTimeout(timer);
      await watching.close();
      await last;
    },
  };
}

function factsOf(question: AskedDecision): Facts {
  const { action, payload, agent = {}, request = {}, meters = {}, satisfied = {}, now } = question;
  if (typeof action !== 'string') throw new TypeError('`action` is the key of an action');
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw new TypeError('`payload` is an object');
  return {
    action,
    payload,
    agent,
    request,
    nowMs: now === undefined ? Date.now() : now.getTime(),
    meters: Object.fromEntries(
      Object.entries(meters).map(([name, given]) => [name, readingOf(name, given)] as const),
    ),
    satisfied: { escalate: satisfied.escalate ?? [], reauth: satisfied.reauth ?? [] },
  };
}

function readingOf(name: string, given: ReadingGiven): Reading {
  const [least, most] = Array.isArray(given) ? (given as readonly [number, number]) : [given, given];
  const [low, high] = [parseDecimal(String(least)), parseDecimal(String(most))];
  if (low !== null && high !== null) return { low, high };
  throw new TypeError(`the reading of \`${name}\` is a number, its digits as text, or two of them`);
}

function answerOf({ outcome, reason, matchedPolicy, by, risk, ...rest }: Decision): EmbeddedDecision {
  const { validForSeconds, requires } = rest;
  return {
    decision: outcome,
    reason,
    matchedPolicy,
    rule: by,
    riskScore: risk.high,
    validForSeconds,
    requires,
  };
}
