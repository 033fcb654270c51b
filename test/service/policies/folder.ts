// A folder on disk for one test, and a wait for events in another part of the program.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new folder with these files, by path; removed when the test is over. */
export function createFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'writ-sources-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFiles(folder, files);
  return folder;
}

export function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** Waits until the condition is true; rejects when it does not become true in time. */
export async function until(isTrue: () => boolean, withinMs = 60_000): Promise<number> {
  const start = performance.now();
  while (!isTrue()) {
    if (performance.now() - start > withinMs) throw new Error(`not within ${withinMs} ms`);
    await pause(5);
  }
  return performance.now() - start;
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
