// What a start keeps for the next start: the same set is active with it and without it, and a damaged copy
// costs only time.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../../src/language/value/random.ts';
import {
  openPolicies,
  type PolicyHost,
  type PolicyOptions,
} from '../../../src/service/policies/policy-host.ts';
import { type ReadSources, readPolicies } from '../../../src/service/policies/read-policies.ts';
import { type CompiledContent, createSetCompiler } from '../../../src/service/policies/set-compiler.ts';
import { findCachedSet, readCacheFile, writeCachedSet } from '../../../src/service/policies/startup-cache.ts';
import { randomSet } from '../../laws/policies.ts';
import { tries } from '../../support/tries.ts';
import { createFolder, pause, until, writeFiles } from './folder.ts';
import { allows, limit } from './limit-policy.ts';

const failing = new URL('./failing-compiler.ts', import.meta.url);

interface Made {
  readonly read: ReadSources;
  readonly compiled: CompiledContent;
}

async function compileFolder(folder: string): Promise<Made> {
  const read = await readPolicies(folder);
  return { read, compiled: createSetCompiler()(read) };
}

/** Keeps a compiled set as if it had been made from these sources. */
async function keepAs(
  file: string,
  { compiled: { result, listFiles } }: Made,
  read: ReadSources,
): Promise<boolean> {
  if (result.kind === 'failed') throw new Error(result.failure.text);
  return await writeCachedSet(file, {
    ...result.set,
    content: { hash: read.contentHash(listFiles), listFiles },
  });
}

describe('a set that was kept', () => {
  it('is what compiling the same texts gives: program, digest, titles, names and texts', async () => {
    let kept = 0;
    for (let seed = 0; seed < tries(15); seed += 1) {
      const { files, lists } = randomSet(createRandom(seed));
      const texts = files.map(({ path, text }) => [path, text] as const);
      const folder = createFolder({ ...Object.fromEntries(texts), ...lists });
      const made = await compileFolder(folder);
      const file = join(folder, 'kept');
      if (made.compiled.result.kind === 'failed') continue;
      kept += 1;
      expect(await keepAs(file, made, made.read)).toBe(false);
      expect(await findCachedSet(await readCacheFile(file), await readPolicies(folder))).toEqual(
        made.compiled,
      );
      expect(await keepAs(file, await compileFolder(folder), made.read)).toBe(true);
    }
    expect(kept).toBeGreaterThan(tries(8));
  });

  it('with one other bit is not there, wherever it is', async () => {
    const folder = createFolder({ 'a.policy': limit(10) });
    const made = await compileFolder(folder);
    const file = join(folder, 'kept');
    await keepAs(file, made, made.read);
    const bytes = readFileSync(file);
    const random = createRandom(1);
    const places = Array.from({ length: 200 }, () => random.below(bytes.length));
    for (const at of [...Array.from({ length: 20 }, (_, first) => first), ...places, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1 << random.below(8);
      writeFileSync(file, changed);
      expect(await findCachedSet(await readCacheFile(file), made.read), `at ${at}`).toBeNull();
    }
    for (const end of [0, 7, 13, 60, bytes.length - 1]) {
      writeFileSync(file, bytes.subarray(0, end));
      expect(await findCachedSet(await readCacheFile(file), made.read)).toBeNull();
    }
    writeFileSync(file, bytes);
    expect(await findCachedSet(await readCacheFile(file), made.read)).toEqual(made.compiled);
  });

  it('is not there for another text, another list file, or a file that cannot be read', async () => {
    const listed = `list numbers: integer from "n.yaml"\n${limit(10)}`;
    const folder = createFolder({ 'a.policy': listed, 'n.yaml': '- 1\n' });
    const made = await compileFolder(folder);
    const file = join(folder, 'kept');
    await keepAs(file, made, made.read);
    const changes = [
      { 'n.yaml': '- 2\n' },
      { 'a.policy': limit(11) },
      { 'b.policy': '# more\n' },
      { 'b.policy': Buffer.of(255) },
    ];
    for (const change of changes) {
      writeFiles(folder, { 'a.policy': listed, 'n.yaml': '- 1\n', ...change });
      expect(await findCachedSet(await readCacheFile(file), await readPolicies(folder))).toBeNull();
    }
  });
});

interface Started {
  readonly folder: string;
  readonly keptIn: string;
  readonly open: (options?: Partial<PolicyOptions>) => Promise<PolicyHost>;
}

/** A directory whose set was kept by an earlier start. */
async function started(text: string): Promise<Started> {
  const folder = createFolder({ 'a.policy': text });
  const keptIn = join(createFolder(), 'data', 'compiled.writ');
  const open: Started['open'] = async (options) => {
    const host = await openPolicies({ directory: folder, keptIn, ...options });
    onTestFinished(() => host.close());
    return host;
  };
  const first = await open();
  await until(() => existsSync(keptIn));
  await first.close();
  return { folder, keptIn, open };
}

describe('a start', () => {
  it('has the set that was kept active before anything is compiled', async () => {
    const flag = join(createFolder(), 'flag');
    const { folder, open } = await started(`# fault: exit while ${flag}\n${limit(10)}`);
    writeFileSync(flag, '');
    const host = await open({ compilerScript: failing });
    expect([allows(host, 10), allows(host, 11)]).toEqual([true, false]);
    await until(() => host.state().failure?.cause === 'compiler');
    expect([allows(host, 10), allows(host, 11)]).toEqual([true, false]);
    writeFiles(folder, { 'a.policy': limit(20) });
    await until(() => allows(host, 20));
  });

  it('compiles what was kept all the same: what the texts say takes over from anything else', async () => {
    const { folder, keptIn, open } = await started(limit(10));
    const right = readFileSync(keptIn);
    await keepAs(
      keptIn,
      await compileFolder(createFolder({ 'a.policy': limit(99) })),
      await readPolicies(folder),
    );
    const host = await open();
    await until(() => !allows(host, 99));
    expect([allows(host, 10), host.state().status]).toEqual([true, 'current']);
    await host.close();
    await until(() => readFileSync(keptIn).equals(right));
  });

  it('refuses texts in error, whatever was kept; what claims to be made from them is deleted', async () => {
    const { folder, keptIn, open } = await started(limit(10));
    const good = await compileFolder(folder);
    writeFiles(folder, { 'a.policy': 'policy p on a.b { alow x }\n' });
    await expect(open()).rejects.toThrow(/cannot be used/);
    await keepAs(keptIn, good, await readPolicies(folder));
    const host = await open();
    await until(() => host.state().failure?.cause === 'policies');
    await host.close();
    await expect(open()).rejects.toThrow(/cannot be used/);
  });

  it('continues if nothing can be cached', async () => {
    const folder = createFolder({ 'a.policy': limit(10), file: '' });
    mkdirSync(join(folder, 'taken.writ'));
    for (const keptIn of [join(folder, 'file', 'compiled.writ'), join(folder, 'taken.writ')]) {
      const host = await openPolicies({ directory: folder, keptIn });
      onTestFinished(() => host.close());
      await pause(50);
      writeFiles(folder, { 'a.policy': limit(20) });
      await until(() => allows(host, 20));
      expect(host.state().status).toBe('current');
      writeFiles(folder, { 'a.policy': limit(10) });
      await host.close();
    }
  });
});
