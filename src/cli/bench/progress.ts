// Draws a progress bar on standard error. Draws nothing when the stream is no terminal, such as a file or a
// pipe.

export interface Progress {
  /** Draws the bar. `share` is the part that is done, from 0 to 1. */
  readonly show: (share: number, label: string) => void;
  /** Removes the bar. */
  readonly end: () => void;
}

const width = 24;
const clearLine = '\r\u001b[K';

export function createProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  if (stream.isTTY !== true || process.env.TERM === 'dumb') return { show: () => {}, end: () => {} };
  return {
    show: (share, label) => {
      const full = Math.round(Math.min(1, Math.max(0, share)) * width);
      const bar = '█'.repeat(full) + '░'.repeat(width - full);
      stream.write(`${clearLine}${bar} ${Math.round(share * 100)} % ${label}`);
    },
    end: () => {
      stream.write(clearLine);
    },
  };
}
