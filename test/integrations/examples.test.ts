// The agents of `examples`, each run by its own command, on one service with the policies beside them.
// Allowed calls are sent; calls that people must approve are sent once, after the approval; denied calls are
// not sent.

import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { startExampleService } from '../../examples/service.ts';
import { python, requirePython, sources } from './python/python.ts';

const folder = join(import.meta.dirname, '../../examples');

beforeAll(requirePython);

/** The examples that run without a package of their own. */
const agents = globSync(
  ['frameworks/{ai-sdk,openai-agents,langchain,mastra}.ts', 'http.ts', 'python{,-async}.py'],
  {
    cwd: folder,
  },
);

function start(file: string, env: Readonly<Record<string, string>>) {
  const program = file.endsWith('.py') ? python : process.execPath;
  const child = spawn(program, [join(folder, file)], {
    env: { ...process.env, PYTHONPATH: sources, ...env },
    stdio: 'pipe',
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { file, printed: () => printed, ended };
}

const countIn = (text: string, word: string) => text.split(word).length - 1;

test('each agent sends what is allowed, and what was approved once', async () => {
  const service = await startExampleService();
  try {
    const started = await Promise.all(
      agents.map(async (file) =>
        start(file, { WRIT_URL: service.url, WRIT_API_KEY: await service.addAgent(basename(file)) }),
      ),
    );
    await vi.waitFor(() => {
      for (const { file, printed } of started)
        expect([file, printed()]).toEqual([file, expect.stringContaining('waits')]);
    }, 60_000);
    for (const { printed } of started) expect(countIn(printed(), 'sent to kim@shop.example')).toBe(0);
    expect(await service.approveAll()).toBe(agents.length);
    for (const { file, printed, ended } of started) {
      const code = await ended;
      expect([file, code, printed()]).toEqual([
        file,
        0,
        expect.not.stringContaining('sent to max@rival.example'),
      ]);
      expect(countIn(printed(), 'sent to bo@example.com')).toBe(1);
      expect(countIn(printed(), 'sent to kim@shop.example')).toBe(1);
      expect(countIn(printed(), 'waits for people')).toBe(1);
    }
  } finally {
    await service.stop();
  }
});
