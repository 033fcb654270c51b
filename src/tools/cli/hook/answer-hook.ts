// Turns one event of a coding agent into the answer of its hook: asks the service, waits for people, and
// refuses when anything is in doubt. INVARIANT: the exit code is 0 when the service has granted just this
// call or the run is put off, and 2 in every other case, whatever breaks. Any other code would let the tool
// run.

import type { Readable } from 'node:stream';
import { connect, type Decision } from '../../../../integrations/typescript/client.ts';
import { toldWaiting } from '../../../../integrations/typescript/decision.ts';
import { jsonLimits, readJson } from '../../../language/json/read.ts';
import { isJsonObject } from '../../../language/model/json.ts';
import type { Dialect } from './dialects.ts';

export interface HookOptions {
  readonly dialect: Dialect;
  readonly url: string;
  /** The key of an agent, or of an enforcement point. */
  readonly key: string;
  /** The agent that an enforcement point asks for; undefined with the key of an agent. */
  readonly agent: string | undefined;
  /** Milliseconds to wait for people. */
  readonly waitMs: number;
  /** Milliseconds within which the hook must answer. */
  readonly withinMs: number;
  /** Whether a run is put off while people decide, if the dialect has a word for that. */
  readonly isDeferring: boolean;
}

export interface HookAnswer {
  readonly code: 0 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

/** Answers the event that `input` holds. Never rejects. */
export async function answerHook(options: HookOptions, input: Readable): Promise<HookAnswer> {
  const over = AbortSignal.timeout(options.withinMs);
  try {
    return await Promise.race([decided(options, input, over), timedOut(over)]);
  } catch (error) {
    return refused(`Nothing was granted: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function timedOut(over: AbortSignal): Promise<HookAnswer> {
  return new Promise((resolve) => {
    const late = () => resolve(refused('Nothing was granted: the decision did not come in time.'));
    over.addEventListener('abort', late, { once: true });
  });
}

async function decided(options: HookOptions, input: Readable, signal: AbortSignal): Promise<HookAnswer> {
  const { dialect, url, key, agent, waitMs } = options;
  const read = readJson(await bytesOf(input));
  if (!read.ok) return refused(`Nothing was granted: the event cannot be read: ${read.issue.detail}.`);
  const call = isJsonObject(read.value) ? dialect.read(read.value) : null;
  if (call === null) return refused('Nothing was granted: this is no event of a tool call that is known.');
  const { actionKey, payload, session, idempotencyKey } = call;
  const writ = connect({
    url,
    key,
    wait: waitMs,
    signal,
    ...(agent === undefined ? {} : { agent }),
    ...(session === null ? {} : { session }),
  });
  const asked = idempotencyKey === null ? {} : { idempotencyKey };
  return answerOf(options, await writ.authorize(actionKey, payload, asked));
}

async function bytesOf(input: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of input) {
    parts.push(Buffer.from(part));
    length += part.length;
    // The event is too long already, and is refused for that.
    if (length > jsonLimits.bytesMax) break;
  }
  return Buffer.concat(parts);
}

function answerOf({ dialect, isDeferring }: HookOptions, decision: Decision): HookAnswer {
  switch (decision.kind) {
    case 'allowed':
      return { code: 0, stdout: dialect.allowed, stderr: '' };
    case 'waiting': {
      const reason = toldWaiting(decision);
      if (isDeferring && dialect.deferred !== null)
        return { code: 0, stdout: dialect.deferred(reason), stderr: '' };
      return refused(reason);
    }
    case 'denied':
      return refused(decision.message);
  }
}

function refused(reason: string): HookAnswer {
  return { code: 2, stdout: '', stderr: `${reason}\n` };
}
