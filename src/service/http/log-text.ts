// Turns lines of the log, which are JSON for programs, into lines for people at a terminal: the local time, the level, the
// message, and the fields that are worth reading. INVARIANT: a line that is not JSON is written as it is.

import { styleText } from 'node:util';
import type { LogFormat } from '../settings/table.ts';

interface LineStream {
  write(line: string): unknown;
}

interface TerminalStream extends LineStream {
  readonly isTTY?: boolean;
}

/** The same stream for JSON; for text, a stream that rewrites each line. `auto` is text on a terminal. */
export function formattedLog(format: LogFormat, stream: TerminalStream): LineStream {
  const isText = format === 'text' || (format === 'auto' && stream.isTTY === true);
  if (!isText) return stream;
  const isColored = stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  return { write: (line) => stream.write(logText(line, isColored)) };
}

const levels: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
};

/** Fields of every line, which say nothing to people. */
const omitted: ReadonlySet<string> = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err']);

/** One line of JSON as text, such as `10:41:00 warn  retrying  detail="no answer"`, with the stack of an error below it. */
export function logText(line: string, isColored: boolean): string {
  const entry = readEntry(line);
  if (entry === null) return line;
  const { level, time, msg, err } = entry;
  const name = levels[Number(level)] ?? String(level);
  const fields = Object.entries(entry)
    .filter(([field]) => !omitted.has(field))
    .map(
      ([field, value]) =>
        `  ${field}=${typeof value === 'string' && /^\S+$/.test(value) ? value : JSON.stringify(value)}`,
    );
  const { text, stack } = errorOf(err, Number(level));
  const head = `${clockTime(Number(time))} ${marked(name.padEnd(5), isColored)} ${String(msg ?? '')}${text}`;
  return `${head}${fields.join('')}${stack}\n`;
}

function readEntry(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' && entry !== null ? (entry as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null;
  }
}

/** The stack helps with an error of the service itself; a warning says enough by its message. */
function errorOf(err: unknown, level: number): { readonly text: string; readonly stack: string } {
  if (typeof err !== 'object' || err === null) return { text: '', stack: '' };
  const { message, stack } = err as { readonly message?: unknown; readonly stack?: unknown };
  const frames = typeof stack === 'string' ? stack.split('\n').filter((frame) => /^\s+at /.test(frame)) : [];
  return {
    text: message === undefined ? '' : `: ${String(message)}`,
    stack: level >= 50 ? frames.map((frame) => `\n${frame}`).join('') : '',
  };
}

function clockTime(ms: number): string {
  const at = new Date(ms);
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
}

function marked(level: string, isColored: boolean): string {
  const name = level.trim();
  if (!isColored || name === 'info') return level;
  const style = name === 'warn' ? 'yellow' : name === 'error' || name === 'fatal' ? 'red' : 'dim';
  return styleText(style, level, { validateStream: false });
}
