// Starts a server that speaks over its standard streams. The server gets the environment of this process
// without the agent's key, because a secret that is kept from the model is kept from its tools, too.

import { spawn } from 'node:child_process';
import type { Upstream } from '../calls/conversation.ts';
import { readLines } from '../protocol/lines.ts';
import { type Id, type Message, readFromServer, writeMessage } from '../protocol/messages.ts';

export interface UpstreamEvents {
  /** Takes a message; `status` is the HTTP status when the message came over HTTP. */
  readonly onMessage: (message: Message, relatedTo: Id | null, status?: number) => void;
  readonly onEnd: (why: string) => void;
}

export interface ChildOptions extends UpstreamEvents {
  readonly command: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly warn: (line: string) => void;
}

/** Milliseconds after which a server is ended that does not end with its input. */
const endMs = 2_000;

export function startServer(options: ChildOptions): Upstream {
  const { onMessage, onEnd, warn } = options;
  const [file = '', ...args] = options.command;
  const child = spawn(file, args, { env: options.environment, stdio: ['pipe', 'pipe', 'inherit'] });
  let why: string | null = null;
  const end = (reason: string) => {
    if (why !== null) return;
    why = reason;
    onEnd(reason);
  };
  child.on('error', (error) => end(`the server could not be started: ${error.message}`));
  child.on('close', (code, signal) => end(`the server has ended (${signal ?? code})`));
  child.stdin.on('error', () => end('the server takes no more messages'));
  readLines(child.stdout, {
    onLine(line) {
      const message = readFromServer(line.toString());
      if (message === null) warn('the server wrote a line that is no message: it is not forwarded');
      else onMessage(message, null);
    },
    onEnd: () => end('the server has ended'),
  });
  return {
    send(message) {
      if (why !== null) throw new Error(why);
      child.stdin.write(`${writeMessage(message)}\n`);
    },
    close() {
      child.stdin.end();
      setTimeout(() => child.kill(), endMs).unref();
    },
  };
}
