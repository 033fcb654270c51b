// What every command needs of the terminal: exit codes, colours, JSON output, and the handling of a reader
// that closes the pipe.

import { styleText } from 'node:util';
import type { Marks } from '../../testing/report.ts';

/** The exit codes of all commands, which docs/CLI.md documents. */
export const exitCodes = {
  ok: 0,
  /** The command found something wrong: diagnostics, failed tests, an unknown agent. */
  wrong: 1,
  usage: 2,
  /** Exit code of `decide` when the decision is not ALLOW. */
  notAllowed: 3,
  internal: 70,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The command line is wrong; the message is printed. A class because it is thrown through the command's parser. */
export class UsageError extends Error {}

export function print(text: string): void {
  process.stdout.write(text);
}

export function printError(text: string): void {
  process.stderr.write(text);
}

/** Prints one JSON value on standard output. Big integers become text, maps become objects. */
export function printJson(value: unknown): void {
  print(`${JSON.stringify(value, plain, 2)}\n`);
}

/** Whether to use colours: on terminals, never with NO_COLOR, and always with FORCE_COLOR, as the log of a CI takes them. */
export function useColor(stream: NodeJS.WriteStream = process.stdout): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = process.env;
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return stream.isTTY === true && TERM !== 'dumb';
}

export function createMarks(stream: NodeJS.WriteStream = process.stdout): Marks {
  const isColored = useColor(stream);
  const marked = (style: 'green' | 'red' | 'dim') => (text: string) =>
    isColored ? styleText(style, text, { validateStream: false }) : text;
  return { good: marked('green'), bad: marked('red'), faint: marked('dim') };
}

/** Sets what a command does when its reader, such as `head`, closes the pipe: end silently, or go on. */
export function whenReaderLeaves(action: 'end' | 'go on'): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      if (action === 'end') process.exit(process.exitCode ?? exitCodes.ok);
    });
  }
}

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return value;
}
