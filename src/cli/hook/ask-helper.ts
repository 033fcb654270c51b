// Has an event decided by the helper of another user, over its socket. INVARIANT: only an answer of a socket that this
// user could not have made is taken; whatever else comes back is a refusal.

import { accessSync, constants, lstatSync, realpathSync, statSync } from 'node:fs';
import { request as ask } from 'node:http';
import { dirname, resolve } from 'node:path';
import { readJson } from '../../language/json/read-json.ts';
import { isJsonObject } from '../../language/model/json.ts';
import { type AnswerForm, type HookAnswer, refusedAnswer } from './answer-hook.ts';
import type { DialectName } from './dialects.ts';
import { hookPath } from './serve-hook.ts';

export interface HelperQuestion extends AnswerForm {
  readonly socket: string;
  readonly dialect: DialectName;
}

/** More bytes than an answer has. */
const answerBytesMax = 64 * 1024;

/** Asks the helper. Rejects when it cannot be asked; whoever waits then refuses. */
export async function askHelper(
  question: HelperQuestion,
  event: Buffer,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const { socket, dialect, waitMs, isDeferring, isApart, isAfter } = question;
  const fault = socketFault(socket);
  if (fault !== null) return refusedAnswer(`Nothing was granted: ${fault}.`);
  const form = new URLSearchParams({
    wait: String(waitMs / 1_000),
    ...(isDeferring ? { defer: '' } : {}),
    ...(isApart ? { apart: '' } : {}),
    ...(isAfter ? { after: '' } : {}),
  });
  const text = await exchanged({ socketPath: socket, path: `${hookPath(dialect)}?${form}` }, event, signal);
  return readAnswer(text) ?? refusedAnswer("Nothing was granted: the helper's answer is not readable.");
}

/**
 * Why the answers of a socket count for nothing, as one sentence in lower case; null when they count. Whoever owns the
 * socket, or a folder on the way to it, can answer in the place of the helper.
 */
export function socketFault(path: string): string | null {
  const userId = process.getuid?.();
  if (userId === undefined) return 'this system does not report the owner of a socket';
  try {
    const { uid, mode } = statSync(path);
    if (!lstatSync(path).isSocket()) return `${path} is not a socket`;
    if (uid === userId)
      return `${path} belongs to the agent's user, who could answer instead of the helper: run \`writ hook serve\` as another user`;
    if ((mode & 0o002) !== 0) return `every user can write to ${path}`;
    const open = [...foldersAbove(resolve(path)), ...foldersAbove(realpathSync(path))].find(isReplaceableIn);
    return open === undefined
      ? null
      : `the agent's user can replace ${path}, because that user can write to ${open}`;
  } catch (error) {
    return `the helper cannot be reached at ${path}: ${(error as Error).message}`;
  }
}

function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}

/** Whether this user can replace what others have put into a folder. */
function isReplaceableIn(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  const isSticky = (mode & 0o1000) !== 0;
  return uid === process.getuid?.() || (!isSticky && mayWrite(folder));
}

function mayWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

interface Target {
  readonly socketPath: string;
  readonly path: string;
}

function exchanged({ socketPath, path }: Target, event: Buffer, signal: AbortSignal): Promise<string> {
  return new Promise((done, failed) => {
    const headers = { 'content-type': 'application/json', 'content-length': event.length };
    const request = ask({ socketPath, path, method: 'POST', headers, signal }, (response) => {
      const parts: Buffer[] = [];
      let length = 0;
      response.on('data', (part: Buffer) => {
        parts.push(part);
        length += part.length;
        if (length > answerBytesMax) response.destroy(new Error("the helper's answer is too long"));
      });
      response.on('error', failed);
      response.on('end', () => {
        if (response.statusCode === 200) done(Buffer.concat(parts).toString('utf8'));
        else failed(new Error(`the helper answered with status ${response.statusCode}`));
      });
    });
    request.on('error', failed);
    request.on('close', () => failed(new Error('the helper ended before it answered')));
    request.end(event);
  });
}

/** The answer of the helper; null when it is none. */
function readAnswer(text: string): HookAnswer | null {
  const read = readJson(Buffer.from(text));
  if (!read.ok || !isJsonObject(read.value)) return null;
  const { code, stdout, stderr, isDecided } = read.value;
  const isWhole = typeof stdout === 'string' && typeof stderr === 'string' && typeof isDecided === 'boolean';
  return isWhole && (code === 0 || code === 2) ? { code, stdout, stderr, isDecided } : null;
}
