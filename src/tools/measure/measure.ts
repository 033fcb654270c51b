// One set of policies, or two side by side, on a set of requests: how long a decision takes, how many there are in a
// second, how long the policies take to be ready and what they keep. Two are measured in alternating rounds, so that
// what disturbs the machine disturbs both.

import type { Linked } from '../../language/emit/link.ts';
import type { Decision } from '../../language/model/decision.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import type { Program } from '../../language/program/program.ts';
import { compile, type PolicySources } from '../../pipeline.ts';
import { checkAgreement } from './agree.ts';
import { timeCalls, timeEach } from './clock.ts';
import { type Percentiles, percentilesOf } from './figure.ts';
import { measureKept } from './memory.ts';

/** Policies without errors, and the requests as they take them. */
export interface MeasuredEngine {
  readonly sources: PolicySources;
  readonly requests: readonly Facts[];
}

export interface Measured {
  readonly set: PolicySet;
  readonly program: Program;
  readonly engine: Linked;
  /** By request. */
  readonly decisions: readonly Decision[];
  /** How many requests the definition has decided too. */
  readonly checked: number;
  /** Milliseconds from text to ready, a figure a round. */
  readonly ready: readonly number[];
  /** By round, in nanoseconds, over all requests; of each request the median of its passes. */
  readonly latency: readonly Percentiles[];
  /** Nanoseconds a decision where they follow each other without a pause, a figure a round. */
  readonly each: readonly number[];
  /** By request, in nanoseconds, the median of the rounds. */
  readonly byRequest: Float64Array;
  /** Bytes kept while requests are decided, by what was compiled of the text. */
  readonly keptBytes: number;
}

export interface MeasureOptions {
  readonly rounds: number;
  /** Milliseconds that the rounds of one subject take together. */
  readonly ms: number;
  /** Told of each step that is done. */
  readonly onProgress: (share: number) => void;
}

/** The results in the order of the subjects. Throws where a decision differs from the definition's. */
export function measure(subjects: readonly MeasuredEngine[], options: MeasureOptions): readonly Measured[] {
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

interface Run extends Omit<Measured, 'byRequest'> {
  readonly subject: MeasuredEngine;
  readonly ready: number[];
  readonly latency: Percentiles[];
  readonly each: number[];
  readonly perRequest: Float64Array[];
}

/** Of the time that is measured, as much again warms up or goes into checking at most. */
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
 * The lower middle of several tries: the first ones also make what a process has once, such as the tables of the parser.
 * A try during which more of something else went than came says nothing.
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

/** What stays alive of compiling once requests have been decided: neither text nor tree nor model. */
function engineAlone(sources: PolicySources, requests: readonly Facts[]): Linked {
  const { engine } = compileOnce(sources);
  decideAll(engine, requests);
  return engine;
}

function compileOnce(sources: PolicySources): Pick<Measured, 'set' | 'program' | 'engine'> {
  const { set, program, engine } = compile(sources);
  if (set === null || program === null || engine === null) throw new Error('the policies have errors');
  return { set, program, engine };
}

function decideAll(engine: Linked, requests: readonly Facts[]): void {
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

function finish({ perRequest, ...run }: Run): Measured {
  const byRequest = Float64Array.from(run.decisions, (_, at) => {
    return percentilesOf(perRequest.map((times) => times[at]!)).p50;
  });
  return { ...run, byRequest };
}
