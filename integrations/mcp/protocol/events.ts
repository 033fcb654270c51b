// Turns a stream of bytes into server-sent events, as the HTML standard reads them.

import type { Readable } from 'node:stream';

export interface SentEvent {
  /** The id of the event; null when it has none. */
  readonly id: string | null;
  readonly retryMs: number | null;
  readonly data: string;
}

export interface EventEvents {
  readonly onEvent: (event: SentEvent) => void;
  /** Called once, however the stream ends; with the error that has ended it. */
  readonly onEnd: (error: Error | null) => void;
}

const eventCharactersMax = 16 * 1024 * 1024;

export function readEvents(stream: Readable, { onEvent, onEnd }: EventEvents): void {
  const decoder = new TextDecoder();
  let rest = '';
  let fields: string[] = [];
  let size = 0;
  let hasEnded = false;
  const end = (error: Error | null) => {
    if (!hasEnded) onEnd(error);
    hasEnded = true;
  };
  stream.on('data', (part: Buffer) => {
    rest += decoder.decode(part, { stream: true });
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      size += line.length;
      if (line !== '') fields.push(line);
      else if (fields.length > 0) {
        onEvent(eventOf(fields));
        fields = [];
        size = 0;
      }
    }
    if (size + rest.length > eventCharactersMax) stream.destroy();
  });
  stream.on('end', () => end(null));
  stream.on('close', () => end(null));
  stream.on('error', end);
}

function eventOf(lines: readonly string[]): SentEvent {
  let id: string | null = null;
  let retryMs: number | null = null;
  const data: string[] = [];
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === 'data') data.push(value);
    if (name === 'id') id = value;
    if (name === 'retry' && /^\d+$/.test(value)) retryMs = Number(value);
  }
  return { id, retryMs, data: data.join('\n') };
}
