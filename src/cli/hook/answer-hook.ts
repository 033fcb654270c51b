// Turns one event of a coding agent into the answer of its hook: asks the service, waits for people, and
// refuses when anything is in doubt. INVARIANT: before a tool, the exit code is 0 when the service has granted
// just this call or the run is put off, and 2 in every other case, whatever breaks. Any other code would let
// the tool run. After a tool, the exit code is always 0, and nothing is granted.

import type { Readable } from 'node:stream';
import { connect, type Decision } from '../../../integrations/typescript/client.ts';
import { waitingText } from '../../../integrations/typescript/decision.ts';
import { readJson } from '../../language/json/read-json.ts';
import { isJsonObject, type JsonObject } from '../../language/model/json.ts';
import { hookJsonLimits } from '../../service/http/resources/hooks/claude-code.ts';
import { type Dialect, nothing } from './dialects.ts';
import { type ReportAccess, reportFinished } from './report-hook.ts';

/** How the host wants its answers. */
export interface AnswerForm {
  /** Milliseconds to wait for people. */
  readonly waitMs: number;
  /** Whether a run is put off while people decide, if the dialect has a word for that. */
  readonly isDeferring: boolean;
  /** Whether another hook is installed for the events that the dialect decides apart. */
  readonly isApart: boolean;
  /** Whether the event is one after a tool, also when it cannot be read. */
  readonly isAfter: boolean;
}

export interface HookOptions extends AnswerForm, ReportAccess {
  readonly dialect: Dialect;
  /** Milliseconds within which the hook must answer. */
  readonly withinMs: number;
}

export interface HookAnswer {
  readonly code: 0 | 2;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether the service has decided about the call; false when the refusal has another cause. */
  readonly isDecided: boolean;
}

/** Answers the event that `input` holds. Never rejects. */
export async function answerHook(options: HookOptions, input: Readable): Promise<HookAnswer> {
  return answerInput(options, input, (bytes, signal) => answerEvent(options, bytes, signal));
}

/**
 * Answers the event that `input` holds with what `answer` says to its bytes. An event after a tool is answered by exit code
 * 0, whatever becomes of its report. Never rejects.
 */
export async function answerInput(
  { dialect, isAfter, withinMs }: Pick<HookOptions, 'dialect' | 'isAfter' | 'withinMs'>,
  input: Readable,
  answer: (bytes: Buffer, signal: AbortSignal) => Promise<HookAnswer>,
): Promise<HookAnswer> {
  let isOver = isAfter;
  const answered = await answerWithin(withinMs, async (signal) => {
    const bytes = await bytesOf(input);
    isOver = hasRun(dialect, bytes, isAfter);
    return answer(bytes, signal);
  });
  return isOver ? { ...answered, code: 0, stdout: nothing } : answered;
}

/** Whether the bytes are an event after a tool; `isAfter` when they are no event at all. */
function hasRun(dialect: Dialect, bytes: Buffer, isAfter: boolean): boolean {
  const read = readEvent(bytes);
  if (!read.ok || !isJsonObject(read.value)) return isAfter;
  return isNamedAfter(dialect, read.value) || (isAfter && dialect.read(read.value) === null);
}

function isNamedAfter({ after }: Dialect, { hook_event_name: name }: JsonObject): boolean {
  return typeof name === 'string' && after.names.includes(name);
}

function readEvent(bytes: Buffer) {
  return readJson(withoutMark(bytes), hookJsonLimits);
}

/** Answers one event. Rejects when the service cannot be asked. */
export async function answerEvent(
  options: HookOptions,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const { dialect, url, key, agent, waitMs } = options;
  const read = readEvent(bytes);
  if (!read.ok) return refusedAnswer(`Nothing was granted: the event cannot be read: ${read.issue.detail}.`);
  if (options.isApart && isJsonObject(read.value) && dialect.isDecidedApart(read.value))
    return { code: 0, stdout: dialect.allowed, stderr: '', isDecided: false };
  if (isJsonObject(read.value) && isNamedAfter(dialect, read.value))
    return answerReport(options, read.value, signal);
  const call = isJsonObject(read.value) ? dialect.read(read.value) : null;
  if (call === null)
    return refusedAnswer(
      'Nothing was granted: this is not a known tool-call event, or it does not name the owner of the tool.',
    );
  const { actionKey, payload, idempotencyKey } = call;
  const session = options.session ?? call.session;
  const writ = connect({
    url,
    key,
    wait: waitMs,
    signal,
    ...(agent === undefined ? {} : { agent }),
    ...(session === null ? {} : { session }),
  });
  const idempotency = idempotencyKey === null ? {} : { idempotencyKey };
  return answerOf(options, await writ.authorize(actionKey, payload, idempotency));
}

/** Reports the call of an event after a tool. The reason of a failed report goes to standard error. */
async function answerReport(
  options: HookOptions,
  event: JsonObject,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const answer = { code: 0, stdout: nothing, stderr: '', isDecided: false } as const;
  try {
    const finished = options.dialect.after.read(event);
    if (finished === null) throw new Error('the event is not known');
    await reportFinished(options, finished, signal);
    return answer;
  } catch (error) {
    return { ...answer, stderr: `The result was not reported: ${(error as Error).message}\n` };
  }
}

/**
 * The answer that `answer` gives within the time; a refusal when it rejects or is late. Never rejects.
 */
export async function answerWithin(
  withinMs: number,
  answer: (signal: AbortSignal) => Promise<HookAnswer>,
): Promise<HookAnswer> {
  const over = AbortSignal.timeout(withinMs);
  try {
    return await Promise.race([answer(over), timedOut(over)]);
  } catch (error) {
    return refusedAnswer(`Nothing was granted: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function timedOut(over: AbortSignal): Promise<HookAnswer> {
  return new Promise((resolve) => {
    const late = () => resolve(refusedAnswer('Nothing was granted: the decision did not arrive in time.'));
    over.addEventListener('abort', late, { once: true });
  });
}

const mark = Buffer.from('\ufeff');

/** The event without byte order marks, of which PowerShell may write one or two before what it pipes. */
function withoutMark(bytes: Buffer): Buffer {
  let start = 0;
  while (bytes.subarray(start, start + mark.length).equals(mark)) start += mark.length;
  return bytes.subarray(start);
}

/** The bytes of the event; a part of them when there are too many to be read. */
export async function bytesOf(input: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of input) {
    parts.push(Buffer.from(part));
    length += part.length;
    // The event is too long already, and is refused for that.
    if (length > hookJsonLimits.bytesMax + 2 * mark.length) break;
  }
  return Buffer.concat(parts);
}

function answerOf({ dialect, isDeferring }: HookOptions, decision: Decision): HookAnswer {
  switch (decision.kind) {
    case 'allowed':
      return { code: 0, stdout: dialect.allowed, stderr: '', isDecided: true };
    case 'waiting': {
      const reason = waitingText(decision);
      if (isDeferring && dialect.deferred !== null)
        return { code: 0, stdout: dialect.deferred(reason), stderr: '', isDecided: true };
      return { ...refusedAnswer(reason), isDecided: true };
    }
    case 'denied':
      return {
        ...refusedAnswer(decision.message),
        isDecided: decision.requestId !== null && decision.policy !== 'unreadable',
      };
  }
}

export function refusedAnswer(reason: string): HookAnswer {
  return { code: 2, stdout: '', stderr: `${reason}\n`, isDecided: false };
}
