// A real, small SMTP server that keeps the accepted mail and its recipients.

import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

interface Taken {
  readonly to: readonly string[];
  readonly text: string;
}

/** Accepts every message, or refuses the first `refusals` messages. */
export async function startMailServer(
  refusals = 0,
): Promise<{ readonly url: string; readonly taken: Taken[] }> {
  const taken: Taken[] = [];
  const sockets = new Set<Socket>();
  let left = refusals;
  const server = createServer((socket) => {
    sockets.add(socket);
    let [buffer, text, isData]: [string, string, boolean] = ['', '', false];
    let to: string[] = [];
    socket.write('220 test\r\n');
    socket.setEncoding('utf8').on('data', (chunk) => {
      buffer += chunk;
      for (let end = buffer.indexOf('\r\n'); end >= 0; end = buffer.indexOf('\r\n')) {
        const line = buffer.slice(0, end);
        buffer = buffer.slice(end + 2);
        if (isData && line === '.') {
          isData = false;
          taken.push({ to, text: readable(text) });
          [to, text] = [[], ''];
          socket.write('250 taken\r\n');
        } else if (isData) text += `${line}\n`;
        else if (line === 'DATA') {
          isData = true;
          socket.write('354 go on\r\n');
        } else if (line.startsWith('RCPT') && left > 0) {
          left--;
          socket.write(`451 later: ${line}\r\n`);
        } else {
          if (line.startsWith('RCPT')) to.push(line);
          socket.write('250 good\r\n');
        }
      }
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, taken };
}

/** The text with its encoded words (RFC 2047) and soft line breaks (RFC 2045) read. */
function readable(text: string): string {
  const bytesOf = (quoted: string) =>
    Buffer.from(
      quoted.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      'latin1',
    ).toString('utf8');
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([BQ])\?([^?]*)\?=/gi, (_, kind: string, body: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(body, 'base64').toString('utf8')
        : bytesOf(body.replaceAll('_', ' ')),
    )
    .replace(/=\r?\n/g, '');
}
