// Has an external detector look at what a tool returned, such as for prompt injection or personal data, and adds the labels
// that it gives to the result. INVARIANT: a detector adds labels and removes none; when it fails, is late or answers oddly,
// the whole result is unknown, so that guards on its meters have their effect.

import { spawn } from 'node:child_process';
import { readJson } from '../../../src/language/json/read-json.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  type RpcRequest,
  type RpcResponse,
} from '../protocol/messages.ts';

/** What a detector gets, as one JSON object. */
export interface InspectedCall extends Pick<RpcRequest, 'method'> {
  /** The name of the server. */
  readonly server: string;
  /** The name of the tool and its arguments, for `tools/call`. */
  readonly params: JsonObject;
  /** The result, as the client would get it. */
  readonly result: JsonObject;
}

/** The labels of a result. Rejects when they are unknown, with the reason. */
export type Inspect = (call: InspectedCall) => Promise<readonly string[]>;

export interface Detector {
  /** A program that reads the call from standard input and prints its answer, or an address to which the call is posted. */
  readonly target: { readonly command: readonly string[] } | { readonly url: URL };
  /** The environment of the program. */
  readonly environment: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
}

/** Results that are inspected at a time; further ones are unknown. */
const inspectionsMax = 16;
/** More bytes than an answer has. */
const answerBytesMax = 64 * 1024;
const labelsMax = 100;
const labelLengthMax = 200;

export function createInspector({ target, environment, timeoutMs }: Detector): Inspect {
  let underWay = 0;
  return async (call) => {
    if (underWay >= inspectionsMax) throw new Error(`${inspectionsMax} results are being inspected`);
    underWay += 1;
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const text = JSON.stringify(call);
      const answer =
        'url' in target
          ? await answerOfAddress(target.url, text, signal)
          : await answerOfCommand({ ...target, environment }, text, signal);
      return labelsIn(answer);
    } finally {
      underWay -= 1;
    }
  };
}

/** The labels of an answer. Throws when it is anything else than `{"labels": [...]}`. */
function labelsIn(answer: string): readonly string[] {
  const read = readJson(Buffer.from(answer), { bytesMax: answerBytesMax, depthMax: 8 });
  const labels = read.ok && isObject(read.value) ? read.value.labels : undefined;
  const areLabels = Array.isArray(labels) && labels.length <= labelsMax && labels.every(isLabel);
  if (!areLabels) throw new Error('the answer is not `{"labels": ["..."]}`');
  return labels as readonly string[];
}

function isLabel(label: Json): boolean {
  return typeof label === 'string' && label !== '' && label.length <= labelLengthMax;
}

async function answerOfAddress(url: URL, body: string, signal: AbortSignal): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' });
  if (reply.status !== 200) throw new Error(`the detector answered with status ${reply.status}`);
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of reply.body ?? []) {
    parts.push(part);
    length += part.length;
    if (length > answerBytesMax) throw new Error('the answer is too long');
  }
  return Buffer.concat(parts).toString();
}

interface Program {
  readonly command: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

function answerOfCommand(
  { command, environment }: Program,
  input: string,
  signal: AbortSignal,
): Promise<string> {
  const [program = '', ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: environment, stdio: ['pipe', 'pipe', 'ignore'] });
    const parts: Buffer[] = [];
    let length = 0;
    const fail = (error: Error): void => {
      child.kill('SIGKILL');
      reject(error);
    };
    const stop = () => fail(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    child.on('error', fail);
    // A detector may end before it has read everything.
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (part: Buffer) => {
      parts.push(part);
      length += part.length;
      if (length > answerBytesMax) fail(new Error('the answer is too long'));
    });
    child.on('close', (code) => {
      signal.removeEventListener('abort', stop);
      if (code === 0) resolve(Buffer.concat(parts).toString());
      else reject(new Error(`the detector ended with code ${code}`));
    });
    child.stdin.end(input);
  });
}

/** The call whose response came, for a detector. An error is inspected as the result of a tool that failed. */
export function inspectedCall(
  server: string,
  request: RpcRequest,
  { result, error }: RpcResponse,
): InspectedCall {
  const { _meta: meta, ...params } = request.params ?? {};
  const failed = { content: [{ type: 'text', text: error?.message ?? '' }], isError: true };
  return { server, method: request.method, params, result: result ?? failed };
}

/** The fields of a result with the labels of the detector besides its own. Rejects when they are unknown. */
export async function withLabels(fields: object, labels: Promise<readonly string[]>): Promise<object> {
  const given = await labels;
  const { labels: own = [] } = fields as { readonly labels?: Json };
  if (!Array.isArray(own)) throw new Error('the labels of the tool are no list');
  return { ...fields, labels: [...new Set([...own, ...given])] };
}
