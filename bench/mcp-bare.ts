// The smallest possible proxy in front of an MCP server that asks a service before each call and waits for a
// page on disk. Nothing is checked, decided or recorded, so the time that a call takes longer is what this
// machine needs for the processes and the disk. `node bench/mcp-bare.ts service FILE`; `node
// bench/mcp-bare.ts proxy URL COMMAND...`.

import { spawn } from 'node:child_process';
import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

const [part, place = '', ...command] = process.argv.slice(2);
if (part === 'service') serve(place);
else forward(place, command);

function serve(file: string): void {
  const page = Buffer.alloc(8192);
  const paper = openSync(file, 'w');
  const server = createServer((asked, reply) => {
    asked.resume().on('end', () => {
      writeSync(paper, page);
      fdatasyncSync(paper);
      reply.writeHead(200, { 'content-type': 'application/json' }).end('{"decision":"ALLOW"}');
    });
  });
  server.listen(0, '127.0.0.1', () =>
    console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  );
}

function forward(url: string, [file = '', ...args]: readonly string[]): void {
  const agent = new Agent({ keepAlive: true });
  const child = spawn(file, args, { stdio: ['pipe', 'inherit', 'ignore'] });
  createInterface({ input: process.stdin }).on('line', (line) => {
    const asking = request(url, { method: 'POST', agent }, (reply) => {
      reply.resume().on('end', () => void (reply.statusCode === 200 && child.stdin.write(`${line}\n`)));
    });
    asking.end(line);
  });
  process.on('exit', () => child.kill());
}
