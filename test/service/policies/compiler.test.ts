// The compiling thread fails in every way in which a thread can: the last good set stays active, and the next
// change gets a working thread.

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  BrokenPolicies,
  openPolicies,
  type PolicyHost,
  type PolicyOptions,
  type PolicyState,
} from '../../../src/service/policies/policy-host.ts';
import { createFolder, pause, until, writeFiles } from './folder.ts';
import { allows, limit } from './limit-policy.ts';

const failing = new URL('./failing-compiler.ts', import.meta.url);
/** Enough for a small set on a busy machine. */
const timeoutMs = 4_000;
const limits = { compilerScript: failing, timeoutMs, memoryMegabytes: 128 } as const;

/** A busy machine fills memory slowly, so this fault gets more time. */
function limitsFor(kind: string): Partial<PolicyOptions> {
  return kind === 'hang' ? {} : { timeoutMs: 40_000 };
}

interface Opened {
  readonly host: PolicyHost;
  readonly folder: string;
  /** Error messages in the log. */
  readonly errors: readonly string[];
}

async function open(text: string, options: Partial<PolicyOptions> = {}): Promise<Opened> {
  const folder = createFolder({ 'a.policy': text });
  const errors: string[] = [];
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (_fields: object, message: string) => void errors.push(message),
  };
  const host = await openPolicies({ directory: folder, log, ...limits, ...options });
  onTestFinished(() => host.close());
  return { host, folder, errors };
}

function faulty(kind: string, max: number): string {
  return `# fault: ${kind}\n${limit(max)}`;
}

const deadly = [
  ['hang', /it did not finish within 4 seconds$/],
  ['memory', /it needed more than 128 MB of memory$/],
  ['exit', /it stopped with exit code 3$/],
  ['crash', /it crashed: nobody catches this$/],
  ['unlinkable', /could not link the compiled policies$/],
] as const;
const faults = [...deadly, ['throw', /internal error while compiling: a mistake of ours$/]] as const;

describe('a compiler that fails', () => {
  it.each(faults)(
    '%s: the last good set decides, the state says why, the next change is compiled',
    async (kind, why) => {
      const { host, folder, errors } = await open(limit(10), limitsFor(kind));
      const states: PolicyState[] = [];
      host.onChange((state) => states.push(state));
      const before = host.current();
      writeFiles(folder, { 'a.policy': faulty(kind, 20) });
      await until(() => host.state().status === 'stale');
      expect(host.current()).toBe(before);
      expect([allows(host, 10), allows(host, 20)]).toEqual([true, false]);
      expect(host.state().failure).toMatchObject({
        cause: 'compiler',
        summary: expect.stringMatching(why),
        diagnostics: [],
      });
      expect(errors.length).toBeGreaterThan(0);
      writeFiles(folder, { 'a.policy': limit(30) });
      await until(() => allows(host, 30));
      expect(host.state().status).toBe('current');
      expect(states.map(({ status }) => status)).toEqual(['stale', 'current']);
    },
  );

  it.each(faults)('%s: is a refusal to start', async (kind, why) => {
    const failure = await open(faulty(kind, 10), limitsFor(kind)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BrokenPolicies);
    expect((failure as BrokenPolicies).message).toMatch(why);
    expect((failure as BrokenPolicies).message).toContain('cannot be used');
    expect((failure as BrokenPolicies).text).toBe('');
  });

  it('is not tried again on the same content, except on request', async () => {
    const { host, folder, errors } = await open(limit(10));
    const flag = join(createFolder({ flag: '' }), 'flag');
    writeFiles(folder, { 'a.policy': faulty(`exit while ${flag}`, 20) });
    await until(() => host.state().status === 'stale');
    const told = errors.length;
    // Longer than the interval of the regular look at the directory.
    await pause(2_500);
    expect(errors.length).toBe(told);
    await host.reload();
    expect([host.state().status, errors.length > told]).toEqual(['stale', true]);
    rmSync(flag);
    await host.reload();
    expect([host.state().status, allows(host, 20)]).toEqual(['current', true]);
  });

  it('is forgotten when the directory has the active content again', async () => {
    const { host, folder } = await open(limit(10));
    const before = host.current();
    writeFiles(folder, { 'a.policy': faulty('exit', 20) });
    await until(() => host.state().status === 'stale');
    writeFiles(folder, { 'a.policy': limit(10) });
    await until(() => host.state().status === 'current');
    expect(host.current()).toBe(before);
  });
});

describe('a thread that cannot be started', () => {
  it('is a refusal to start', async () => {
    const compilerScript = new URL('./not-there.ts', import.meta.url);
    const failure = await open(limit(10), { compilerScript }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BrokenPolicies);
    expect((failure as BrokenPolicies).failure).toMatchObject({ cause: 'compiler' });
  });

  it('is tried again while the last good set decides', async () => {
    const scripts = createFolder({ 'start.ts': `import '${failing.href}';\n` });
    const script = join(scripts, 'start.ts');
    const { host, folder } = await open(limit(10), { compilerScript: new URL(`file://${script}`) });
    rmSync(script);
    writeFiles(folder, { 'a.policy': faulty('exit', 20) });
    await until(() => /not-there|start\.ts|it crashed/.test(host.state().failure?.summary ?? ''));
    expect(allows(host, 10)).toBe(true);
    await host.reload();
    expect(host.state().failure).toMatchObject({ cause: 'compiler' });
    writeFileSync(script, `import '${failing.href}';\n`);
    writeFiles(folder, { 'a.policy': limit(30) });
    await until(() => host.state().status === 'current');
    expect(allows(host, 30)).toBe(true);
  });
});

describe('a change while an earlier one is compiled', () => {
  it('comes last: sets take over in the order in which they were there', async () => {
    const { host, folder } = await open(limit(1));
    const active: number[] = [];
    host.onChange(() => {
      active.push([1, 10, 20, 30, 40].findLast((max) => allows(host, max)) ?? 0);
    });
    for (const max of [10, 20, 30, 40]) {
      writeFiles(folder, { 'a.policy': faulty('slow', max) });
      await pause(250);
    }
    await until(() => allows(host, 40));
    expect(active).toEqual(active.toSorted((a, b) => a - b));
    expect(active.at(-1)).toBe(40);
    expect(host.state().status).toBe('current');
  });
});

describe('an end', () => {
  it('comes at once, though the compiler hangs', async () => {
    const { host, folder } = await open(limit(10));
    writeFiles(folder, { 'a.policy': faulty('hang', 20) });
    await pause(500);
    const reloaded = host.reload();
    await host.close();
    await reloaded;
    expect(allows(host, 10)).toBe(true);
  });

  it('during a start', async () => {
    const controller = new AbortController();
    const opened = open(faulty('hang', 10), { signal: controller.signal });
    await pause(100);
    controller.abort();
    await expect(opened).rejects.toThrow('abort');
  });
});
