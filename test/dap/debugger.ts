// A client of the debugger: either of the real command in a process of its own, or of its code in this
// process.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { type Message, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { serveDebugger } from '../../src/cli/dap/serve.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into what it got
export type Got = any;

export interface Debugger {
  readonly folder: string;
  write(file: string, text: string): void;
  /** Resolves with the whole response, whether the request succeeded or not. */
  ask(command: string, given?: object): Promise<Got>;
  /** The next event of this kind that was not returned before. */
  event(name: string): Promise<Got>;
  /** All output for the person so far. */
  readonly output: () => string;
  /** The text of each frame with its line, the innermost first. */
  frames(): Promise<readonly string[]>;
  readonly ended: Promise<number | null>;
}

const entry = join(import.meta.dirname, '../../src/cli/writ.js');

interface Side {
  readonly input: NodeJS.WritableStream;
  readonly output: NodeJS.ReadableStream;
  readonly ended: Promise<number | null>;
  readonly stop: () => void;
}

function startProcess(cwd: string): Side {
  const child = spawn(process.execPath, [entry, 'dap'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { input: child.stdin, output: child.stdout, ended, stop: () => void child.kill() };
}

function startHere(): Side {
  const [input, output] = [new PassThrough(), new PassThrough()];
  return { input, output, ended: serveDebugger(input, output).then(() => 0), stop: () => void input.end() };
}

export function openDebugger(files: Readonly<Record<string, string>>, isProcess = false): Debugger {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-dap-')));
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  for (const [file, text] of Object.entries(files)) write(file, text);
  const { input, output, ended, stop } = isProcess ? startProcess(folder) : startHere();
  onTestFinished(async () => {
    stop();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const writer = new StreamMessageWriter(input);
  const answers = new Map<number, (answer: Got) => void>();
  const events: Got[] = [];
  const waiting: { readonly name: string; readonly take: (event: Got) => void }[] = [];
  let told = '';
  new StreamMessageReader(output).listen((message: Got) => {
    if (message.type === 'response') return answers.get(message.request_seq)?.(message);
    if (message.event === 'output') told += message.body.output;
    const at = waiting.findIndex(({ name }) => name === message.event);
    if (at < 0) events.push(message);
    else waiting.splice(at, 1)[0]!.take(message);
  });
  let seq = 0;
  const ask = (command: string, given: object = {}): Promise<Got> => {
    seq += 1;
    const answered = new Promise<Got>((resolve) => answers.set(seq, resolve));
    // A separate process has its own working directory.
    const placed = command === 'launch' && !isProcess ? { cwd: folder, ...given } : given;
    void writer.write({ seq, type: 'request', command, arguments: placed } as unknown as Message);
    return answered;
  };
  return {
    folder,
    write,
    ask,
    ended,
    output: () => told,
    event(name) {
      const at = events.findIndex((one) => one.event === name);
      if (at >= 0) return Promise.resolve(events.splice(at, 1)[0]);
      return new Promise((take) => waiting.push({ name, take }));
    },
    async frames() {
      const { body } = await ask('stackTrace', { threadId: 1 });
      return body.stackFrames.map(({ name, line }: Got) => (line === 0 ? name : `${line}: ${name}`));
    },
  };
}
