// A session of the debugger: answers the requests of an editor and sends the events between them. The
// decision is made at the launch. The editor then walks through how the decision was reached, so it can go
// back as well as forward.

import { existsSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { type DecisionStep, isUnknownPart } from '../../analysis/decision-steps.ts';
import { hasErrors } from '../../language/diagnostic/diagnostic.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { valueAt } from '../../language/model/request.ts';
import type { Explanation } from '../../language/model/trace.ts';
import { explain } from '../../language/spec/explain-rule.ts';
import { checkSources, createCompileCache, type PolicySources } from '../../pipeline.ts';
import { type LaunchArguments, LaunchError, type LaunchResult, launch } from './launch.ts';
import {
  type Breakpoint,
  capabilities,
  type DapEvent,
  type DapRequest,
  type DapResponse,
  type StackFrame,
} from './protocol.ts';
import { DebugVariables, factVariables, type VariableValue } from './variables.ts';
import {
  enclosingSteps,
  isStepOf,
  nextStop,
  type Stop,
  type Stops,
  stepBack,
  stepOut,
  stepOver,
} from './walk-cursor.ts';

// Evaluates an expression of the language within a decision under way. The language's definition checks and
// evaluates the expression like the condition of a rule for the requested action.

const policy = 'watched_by_a_debugger';

/**
 * A compile cache for sets with a watched expression, of which most stays the same from one expression to the
 * next.
 */
export type WatchCache = ReturnType<typeof createCompileCache>;
const createWatchCache = createCompileCache;

/** The value of the expression, or a text with the reason why it has none. */
function evaluateInWalk(expression: string, launched: LaunchResult, cache: WatchCache): VariableValue {
  const value = pathValue(expression.trim(), launched);
  if (value !== undefined) return value;
  // A value cannot be a condition, so it is compared with itself.
  const asCondition = evaluated(`(${expression}\n)`, launched, cache);
  if (typeof asCondition !== 'string') return plainValue(asCondition);
  const asValue = evaluated(`(${expression}\n) == (${expression}\n)`, launched, cache);
  return typeof asValue === 'string' ? asCondition : plainValue(asValue.parts[0] ?? asValue);
}

function plainValue({ truth, value }: Explanation): VariableValue {
  if (truth === 'true') return true;
  return truth === 'false' ? false : value;
}

/**
 * Follows a path through the shown facts without a rule, because lists and records have no value in
 * conditions. Undefined for any other text.
 */
function pathValue(path: string, launched: LaunchResult): VariableValue | undefined {
  if (!/^(?:payload|agent|request|meters|now)(?:\.\w+)*$/.test(path)) return undefined;
  return valueAt(factVariables(launched), path.split('.')) as VariableValue | undefined;
}

/** The explanation of the condition, or a text with what is wrong with the condition. */
function evaluated(
  condition: string,
  { walked: { facts }, read }: LaunchResult,
  cache: WatchCache,
): Explanation | string {
  const key = JSON.stringify(facts.action);
  const text = `policy ${policy} on ${key} {\n  shadow deny watched when ${condition}\n}\n`;
  const file = `${policy}.policy`;
  const sources: PolicySources = { ...read.sources, files: [...read.sources.files, { path: file, text }] };
  const { set, diagnostics } = checkSources(sources, cache);
  const wrong = diagnostics.find((one) => hasErrors([one]) && one.span.file === file);
  if (wrong !== undefined || set === null)
    return [wrong?.message ?? 'it cannot be read', wrong?.help].filter((one) => one !== undefined).join(': ');
  return explanationIn(set, facts) ?? 'it cannot be evaluated for a request that the gate refuses';
}

function explanationIn(set: PolicySet, facts: LaunchResult['walked']['facts']): Explanation | undefined {
  if (!set.actions.has(facts.action)) return undefined;
  return explain(set, facts).find(({ rule }) => rule === `${policy}/watched`)?.explanation;
}

export type Send = (message: DapResponse | DapEvent) => void;

/** The only thread: the debugger shows one decision at a time, and a decision has no threads. */
const threadId = 1;
/** Id of the stack frame of the request, below the frames of all steps. */
const askedFrame = 1_000_000;

type Arguments = Readonly<Record<string, unknown>>;
type Handler = (args: Arguments) => object | undefined | Promise<object | undefined>;

/** A class because it holds the step at which a person stands. */
export class DebugSession {
  readonly #send: Send;
  /** Called when the editor has gone. */
  readonly #end: () => void;
  #launched: LaunchResult | null = null;
  /** Files of the set in which steps are written, by their real path. */
  #files: ReadonlyMap<string, string> = new Map();
  #given: LaunchArguments = {};
  #at = 0;
  /** Index of the last step that was sent to the editor as output; -1 before the first. */
  #reported = -1;
  #variables = new DebugVariables();
  #watchCache = createWatchCache();
  #lastStop: Stop = { at: 0, reason: 'entry' };
  /**
   * The breakpoint lines that the editor asked for, by path. They become lines of steps only after the
   * launch.
   */
  readonly references = new Map<string, readonly number[]>();
  #rules: readonly string[] = [];
  #atUnknown = false;

  constructor(send: Send, end: () => void) {
    this.#send = send;
    this.#end = end;
  }

  readonly #handlers: Readonly<Record<string, Handler>> = {
    initialize: () => capabilities,
    launch: (given) => this.#launch(given as LaunchArguments),
    restart: ({ arguments: given }) => this.#restart(given as LaunchArguments | undefined),
    configurationDone: () => this.#later(() => this.#start()),
    setBreakpoints: (given) => this.#setBreakpoints(given),
    setFunctionBreakpoints: ({ breakpoints }) => this.#setRules(breakpoints),
    setExceptionBreakpoints: ({ filters }) => {
      this.#atUnknown = Array.isArray(filters) && filters.includes('unknown');
      return {};
    },
    breakpointLocations: (given) => this.#locations(given),
    threads: () => ({ threads: [{ id: threadId, name: 'decision' }] }),
    stackTrace: (given) => this.#stackTrace(given),
    scopes: ({ frameId }) => ({ scopes: this.#variables.scopes(this.#walk, this.#stepOf(frameId)) }),
    variables: ({ variablesReference }) => ({
      variables: this.#variables.variables(Number(variablesReference)),
    }),
    evaluate: ({ expression }) => this.#evaluate(String(expression)),
    exceptionInfo: () => this.#unknownInfo(),
    next: () => this.#go(stepOver(this.#steps, this.#at)),
    stepIn: () => this.#go(this.#at + 1 < this.#steps.length ? this.#at + 1 : null),
    stepOut: () => this.#go(stepOut(this.#steps, this.#at)),
    stepBack: () => this.#go(stepBack(this.#steps, this.#at) ?? 0),
    continue: () => {
      this.#later(() => this.#continue());
      return { allThreadsContinued: true };
    },
    reverseContinue: () =>
      this.#stopLater(nextStop(this.#steps, this.#at, this.#stops, -1) ?? { at: 0, reason: 'entry' }),
    pause: () => this.#stopLater({ at: this.#at, reason: 'step' }),
    terminate: () => this.#later(() => this.#send({ type: 'event', event: 'terminated' })),
    disconnect: () => this.#later(this.#end),
  };

  async take(request: DapRequest): Promise<void> {
    const { seq, command } = request;
    const answer = { type: 'response', request_seq: seq, command } as const;
    const handler = Object.hasOwn(this.#handlers, command) ? this.#handlers[command]! : null;
    try {
      if (handler === null) throw new LaunchError(`\`${command}\` is not supported by this debugger`);
      const body = await handler((request.arguments ?? {}) as Arguments);
      this.#send({ ...answer, success: true, ...(body === undefined ? {} : { body }) });
      if (command === 'launch') this.#send({ type: 'event', event: 'initialized' });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const outputMessage = {
        id: 1,
        format: message.replaceAll('{', '(').replaceAll('}', ')'),
        showUser: true,
      };
      this.#send({ ...answer, success: false, message, body: { error: outputMessage } });
    }
  }

  get #walk(): LaunchResult {
    if (this.#launched === null) throw new LaunchError('no launch yet');
    return this.#launched;
  }

  get #steps(): readonly DecisionStep[] {
    return this.#walk.steps;
  }

  async #launch(given: LaunchArguments): Promise<undefined> {
    this.#given = given;
    this.#launched = await launch(given);
    const written = new Set(
      this.#steps.flatMap(({ location }) => (location === null ? [] : [location.file])),
    );
    this.#files = new Map([...written].map((file) => [realPath(this.#walk.pathOf(file)), file]));
  }

  /** Launches again, with the files that are on disk now. */
  async #restart(given: LaunchArguments | undefined): Promise<undefined> {
    await this.#launch({ ...this.#given, ...given });
    this.#later(() => this.#start());
  }

  /** Runs `act` after the answer to the current request has been sent. */
  #later(act: () => void): undefined {
    setImmediate(act);
  }

  #start(): void {
    this.#reported = -1;
    this.#at = 0;
    if (this.#given.stopOnEntry === false) this.#continue();
    else this.#stop({ at: 0, reason: 'entry' });
  }

  #continue(): void {
    const next = nextStop(this.#steps, this.#at, this.#stops);
    if (next === null) this.#finish();
    else this.#stop(next);
  }

  #go(at: number | null): undefined {
    this.#later(() => (at === null ? this.#finish() : this.#stop({ at, reason: 'step' })));
  }

  #stopLater(stop: Stop): undefined {
    this.#later(() => this.#stop(stop));
  }

  #stop(stop: Stop): void {
    this.#at = stop.at;
    this.#lastStop = stop;
    this.#variables = new DebugVariables();
    this.#tellUntil(stop.at);
    const step = this.#steps[stop.at]!;
    const text = stop.reason === 'exception' ? { text: step.why ?? 'its value is unknown' } : {};
    this.#send({
      type: 'event',
      event: 'stopped',
      body: { reason: stop.reason, description: step.text, ...text, threadId, allThreadsStopped: true },
    });
  }

  #finish(): void {
    this.#tellUntil(this.#steps.length - 1);
    this.#send({ type: 'event', event: 'exited', body: { exitCode: 0 } });
    this.#send({ type: 'event', event: 'terminated' });
  }

  /** Sends the steps up to `last` as output, each once, when it is first passed. */
  #tellUntil(last: number): void {
    for (; this.#reported < last; this.#reported++) {
      const step = this.#steps[this.#reported + 1]!;
      const { location: place } = step;
      const source =
        place === null ? {} : { source: this.#sourceOf(place.file), line: place.line, column: place.column };
      this.#send({
        type: 'event',
        event: 'output',
        body: { category: 'stdout', output: lineOf(step), ...source },
      });
    }
  }

  #sourceOf(file: string): { readonly name: string; readonly path: string } {
    const path = this.#walk.pathOf(file);
    return { name: basename(path), path };
  }

  // ---- where to stop

  get #stops(): Stops {
    const lines = [...this.references].flatMap(([path, asked]) => {
      const file = this.#files.get(path);
      return file === undefined
        ? []
        : [[file, new Set(asked.map((line) => this.#lineNear(file, line) ?? line))] as const];
    });
    return { lines: new Map(lines), rules: this.#rules, atUnknown: this.#atUnknown };
  }

  /**
   * The line itself, or the first line below it on which a step of this decision is written; null when there
   * is none.
   */
  #lineNear(file: string, line: number): number | null {
    return this.#linesOf(file).find((one) => one >= line) ?? null;
  }

  /** The lines of a file on which steps of this decision are written, in order. */
  #linesOf(file: string): readonly number[] {
    const lines = this.#steps.flatMap(({ kind, location: place }) =>
      kind !== 'outcome' && place?.file === file ? [place.line] : [],
    );
    return [...new Set(lines)].sort((a, b) => a - b);
  }

  #setBreakpoints({ source, breakpoints, lines }: Arguments): object {
    const path = String(Object(source).path ?? '');
    const lineNumbers = Array.isArray(breakpoints)
      ? breakpoints.map((one) => Number(Object(one).line))
      : Array.isArray(lines)
        ? lines.map(Number)
        : [];
    const real = realPath(path);
    this.references.set(real, lineNumbers);
    const file = this.#files.get(real);
    return {
      breakpoints: lineNumbers.map((line): Breakpoint => {
        const near = file === undefined ? null : this.#lineNear(file, line);
        return near === null
          ? { verified: false, line, message: "none of the requested action's rules is here" }
          : { verified: true, line: near };
      }),
    };
  }

  #setRules(breakpoints: unknown): object {
    const names = Array.isArray(breakpoints) ? breakpoints.map((one) => String(Object(one).name)) : [];
    this.#rules = names;
    const steps = this.#launched?.steps ?? [];
    return {
      breakpoints: names.map(
        (name): Breakpoint =>
          steps.some((step) => isStepOf(step, name))
            ? { verified: true }
            : { verified: false, message: `the requested action has no rule named \`${name}\`` },
      ),
    };
  }

  #locations({ source, line, endLine = line }: Arguments): object {
    const file = this.#files.get(realPath(String(Object(source).path ?? '')));
    const lines = file === undefined ? [] : this.#linesOf(file);
    const inRange = lines.filter((one) => one >= Number(line) && one <= Number(endLine));
    return { breakpoints: inRange.map((one) => ({ line: one })) };
  }

  // ---- what the editor shows

  #stackTrace({ startFrame = 0, levels }: Arguments): object {
    const { request: asked } = this.#walk;
    const frames: StackFrame[] = enclosingSteps(this.#steps, this.#at).map(
      (at): StackFrame => this.#frameOf(at),
    );
    frames.push({
      id: askedFrame,
      name: asked.name,
      source: asked.source,
      line: asked.line,
      column: asked.line === 0 ? 0 : 1,
    });
    const first = Number(startFrame);
    const count = Number(levels ?? 0) === 0 ? frames.length : Number(levels);
    return { stackFrames: frames.slice(first, first + count), totalFrames: frames.length };
  }

  #frameOf(at: number): StackFrame {
    const { text, location: place } = this.#steps[at]!;
    if (place === null) return { id: at + 1, name: text, line: 0, column: 0, presentationHint: 'label' };
    const { file, line, column, endLine, endColumn } = place;
    return { id: at + 1, name: text, source: this.#sourceOf(file), line, column, endLine, endColumn };
  }

  #stepOf(frameId: unknown): number {
    const at = Number(frameId) - 1;
    return Number.isInteger(at) && at >= 0 && at < this.#steps.length ? at : this.#at;
  }

  #evaluate(expression: string): object {
    const value: VariableValue = evaluateInWalk(expression, this.#walk, this.#watchCache);
    const { value: result, variablesReference } = this.#variables.show(expression, value);
    return { result: typeof value === 'string' ? value : result, variablesReference };
  }

  #unknownInfo(): object {
    const step = this.#steps[this.#lastStop.at]!;
    if (step.kind !== 'condition' || !isUnknownPart(step))
      throw new LaunchError('the value of this step is known');
    return {
      exceptionId: 'unknown',
      description: step.why ?? `\`${step.text}\` is unknown`,
      breakMode: 'always',
    };
  }
}

function lineOf({ depth, text, truth, value }: DecisionStep): string {
  const lineValue = truth ?? value;
  return `${'  '.repeat(depth)}${text}${lineValue === null ? '' : `: ${lineValue}`}\n`;
}

/** Follows links, because editors may name a file by a link. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
