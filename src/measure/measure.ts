// Measures one policy set, or two side by side, on the same requests: the time of a decision, the decisions
// in a second, the time until the policies are ready, and the memory that they keep. Two sets are measured in
// alternating rounds, so that a disturbance of the machine affects both.

import { isDeepStrictEqual } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { LinkedFunctions } from '../language/emit/link.ts';
import type { Decision } from '../language/model/decision.ts';
import type { PolicySet } from '../language/model/policy.ts';
import type { Facts } from '../language/model/request.ts';
import type { Program } from '../language/program/program.ts';
import { authorize } from '../language/spec/authorize.ts';
import { compile, type PolicySources } from '../pipeline.ts';
import { timeCalls, timeEach } from './clock.ts';
import { type Percentiles, percentilesOf } from './figure.ts';

// Compares the compiled function with the language's definition before anything is timed: a fast but wrong
// function is not worth measuring.

export interface AgreeingEngine {
  readonly set: PolicySet;
  readonly decide: (facts: Facts) => Decision;
}

/** The least number of requests that the definition decides, however slow it is. */
const checkedMin = 10;

/**
 * Decides requests by the language's definition, too: spread evenly over all requests, as many as `ms`
 * milliseconds allow. Returns their number. Throws when a decision differs, which is a bug in Writ.
 */
function checkAgreement({ set, decide }: AgreeingEngine, requests: readonly Facts[], ms: number): number {
  const until = performance.now() + ms;
  let checked = 0;
  for (const at of evenOrder(requests.length)) {
    if (checked >= checkedMin && performance.now() > until) break;
    const facts = requests[at]!;
    if (!isDeepStrictEqual(decide(facts), authorize(set, facts))) {
      throw new Error(
        `the compiled policies and the definition disagree on request ${at + 1}, for ${facts.action}`,
      );
    }
    checked += 1;
  }
  return checked;
}

/** Yields every index once, in an order in which each beginning is spread evenly over the whole. */
export function* evenOrder(length: number): Generator<number> {
  let step = 1;
  while (step < length) step *= 2;
  // First index 0, then the middle, then the quarters, and so on.
  for (let stride = step; stride >= 1; stride /= 2) {
    for (let at = stride === step ? 0 : stride; at < length; at += stride === step ? step : 2 * stride)
      yield at;
  }
}

/**
 * Makes a value and measures its bytes, array buffers included. Memory that `make` leaves in use elsewhere
 * counts, too.
 */
function measureKept<T>(make: () => T): { readonly value: T; readonly bytes: number } {
  const before = heapBytes();
  const value = make();
  return { value, bytes: heapBytes() - before };
}

/** The bytes that are in use now, after garbage collection. */
export function heapBytes(): number {
  const collect = garbageCollector();
  // Finalizers and weak references may keep memory that one collection frees until the next.
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

let collector: (() => void) | undefined;

function garbageCollector(): () => void {
  if (globalThis.gc !== undefined) return globalThis.gc as () => void;
  if (collector === undefined) {
    setFlagsFromString('--expose-gc');
    // A context has the function only if it is made after the flag was set.
    collector = runInNewContext('gc') as () => void;
  }
  return collector;
}

/** Policies without errors, and the requests as facts of these policies. */
export interface MeasuredEngine {
  readonly sources: PolicySources;
  readonly requests: readonly Facts[];
}

export interface Measurement {
  readonly set: PolicySet;
  readonly program: Program;
  readonly engine: LinkedFunctions;
  /** The decision of each request. */
  readonly decisions: readonly Decision[];
  /** The number of requests that the language's definition has decided, too. */
  readonly checked: number;
  /** Milliseconds from the text to the ready policies, one figure a round. */
  readonly ready: readonly number[];
  /** Nanoseconds over all requests, by round; each request counts with the median of its passes. */
  readonly latency: readonly Percentiles[];
  /** Nanoseconds a decision when decisions follow each other without a pause, one figure a round. */
  readonly each: readonly number[];
  /** Nanoseconds of each request: the median of the rounds. */
  readonly byRequest: Float64Array;
  /** Bytes of the compiled policies that stay in use while requests are decided. */
  readonly keptBytes: number;
}

export interface MeasureOptions {
  readonly rounds: number;
  /** Milliseconds for all rounds of one subject together. */
  readonly ms: number;
  /** Called after each step, with the share that is done. */
  readonly onProgress: (share: number) => void;
}

/**
 * The results, in the order of the subjects. Throws when a decision differs from that of the language's
 * definition.
 */
export function measure(
  subjects: readonly MeasuredEngine[],
  options: MeasureOptions,
): readonly Measurement[] {
  const { rounds, ms, onProgress } = options;
  const runs = subjects.map((subject) => prepare(subject, ms));
  const steps = rounds + 1;
  onProgress(1 / steps);
  for (let round = 0; round < rounds; round += 1) {
    for (const run of runs) measureRound(run, ms / rounds);
    onProgress((round + 2) / steps);
  }
  return runs.map(finish);
}

interface Run extends Omit<Measurement, 'byRequest'> {
  readonly subject: MeasuredEngine;
  readonly ready: number[];
  readonly latency: Percentiles[];
  readonly each: number[];
  readonly perRequest: Float64Array[];
}

/**
 * Compiles, checks and warms up a subject. Measuring memory and checking take about `ms` milliseconds each at
 * most, warming up a quarter of that.
 */
function prepare(subject: MeasuredEngine, ms: number): Run {
  const { sources, requests } = subject;
  const keptBytes = keptOf(subject, ms);
  const compiled = compileOnce(sources);
  const { set, program, engine } = compiled;
  const decide = (facts: Facts): Decision => engine.decide(facts);
  const checked = checkAgreement({ set, decide }, requests, ms);
  const decisions = requests.map(decide);
  timeCalls(() => decideAll(engine, requests), requests.length, ms / 4);
  const none = { ready: [], latency: [], each: [], perRequest: [] };
  return { subject, set, program, engine, decisions, checked, keptBytes, ...none };
}

const keptTriesMax = 4;

/**
 * The lower middle of several tries. The first tries also make what a process makes once, such as the tables
 * of the parser. A try in which the memory shrank tells nothing and is left out.
 */
function keptOf({ sources, requests }: MeasuredEngine, ms: number): number {
  const until = performance.now() + ms;
  const tries: number[] = [];
  while (tries.length === 0 || (tries.length < keptTriesMax && performance.now() < until)) {
    tries.push(measureKept(() => engineAlone(sources, requests)).bytes);
  }
  const telling = tries.filter((bytes) => bytes > 0).toSorted((a, b) => a - b);
  return telling[(telling.length - 1) >> 1] ?? 0;
}

/** The engine alone, after it has decided the requests: text, tree and model can be collected. */
function engineAlone(sources: PolicySources, requests: readonly Facts[]): LinkedFunctions {
  const { engine } = compileOnce(sources);
  decideAll(engine, requests);
  return engine;
}

function compileOnce(sources: PolicySources): Pick<Measurement, 'set' | 'program' | 'engine'> {
  const { set, program, engine } = compile(sources);
  if (set === null || program === null || engine === null) throw new Error('the policies have errors');
  return { set, program, engine };
}

function decideAll(engine: LinkedFunctions, requests: readonly Facts[]): void {
  for (const facts of requests) engine.decide(facts);
}

function measureRound(run: Run, ms: number): void {
  const { subject, engine } = run;
  const { sources, requests } = subject;
  const started = performance.now();
  compileOnce(sources);
  run.ready.push(performance.now() - started);
  const times = timeEach((at) => engine.decide(requests[at]!), requests.length, ms / 2);
  run.perRequest.push(times);
  run.latency.push(percentilesOf(times));
  run.each.push(timeCalls(() => decideAll(engine, requests), requests.length, ms / 2));
}

function finish({ perRequest, ...run }: Run): Measurement {
  const byRequest = Float64Array.from(run.decisions, (_, at) => {
    return percentilesOf(perRequest.map((times) => times[at]!)).p50;
  });
  return { ...run, byRequest };
}
