// Bundles: their content, who may read which part, and that no bit can be changed unnoticed.

import { generateKeyPairSync, hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { loadBundle } from '../../src/embedded/index.ts';
import { createRandom } from '../../src/language/value/random.ts';
import { BundleError, readBundle, release, writeBundle } from '../../src/service/policies/compiled/bundle.ts';
import { writ } from '../cli/writ.ts';

const folder = mkdtempSync(join(tmpdir(), 'writ-bundle-'));
const policy = `action order.place { amount: number, vendor: string }
list vendors from "vendors.txt"
policy orders on order.place {
  allow small for 10m when payload.amount <= 50 and payload.vendor in vendors because "Small"
}
`;
const question = { action: 'order.place', payload: { amount: 20, vendor: 'Staples' } };
let key: string;

beforeAll(async () => {
  writeFileSync(join(folder, 'a.policy'), policy);
  writeFileSync(join(folder, 'vendors.txt'), 'Staples\n');
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(join(folder, 'key.pem'), privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const { code, stdout } = await writ(['build', '.', '-o', 'signed.writ', '--sign', 'key.pem', '--json'], {
    cwd: folder,
  });
  expect(code).toBe(0);
  key = JSON.parse(stdout).key;
  expect((await writ(['build', '.', '-o', 'plain.writ'], { cwd: folder })).stdout).toContain('not signed');
}, 60_000);

function bytesOf(name: string): Uint8Array {
  return new Uint8Array(readFileSync(join(folder, name)));
}

describe('a bundle', () => {
  test('decides as its policies do, with the key and without one', async () => {
    for (const [bytes, wanted] of [
      [bytesOf('signed.writ'), { key }],
      [readFileSync(join(folder, 'signed.writ')), {}],
      [bytesOf('plain.writ'), {}],
    ] as const) {
      const policies = await loadBundle(bytes, wanted);
      expect(policies.actions).toEqual(['order.place']);
      expect(policies.decide(question)).toMatchObject({
        decision: 'ALLOW',
        reason: 'Small',
        validForSeconds: 600,
      });
      expect(policies.explain({ ...question, payload: { amount: 20, vendor: 'Other' } })).toMatchObject({
        decision: 'DENY',
        rules: [{ rule: 'orders/small', truth: 'false' }],
      });
      expect(policies.madeMs).toBeGreaterThan(0);
    }
  });

  test('is of the release that made it, and of no other', async () => {
    expect(release).toBe(manifest.version);
    const changed = Buffer.from(bytesOf('plain.writ'));
    changed.write('9.9.9', changed.indexOf(release));
    const contents = changed.subarray(0, -32);
    changed.set(hash('sha256', contents, 'buffer'), contents.length);
    await expect(readBundle(changed)).rejects.toThrow(`from release 9.9.9, but this is ${release}`);
  });

  test('holds the texts', async () => {
    const { texts } = await readBundle(bytesOf('plain.writ'));
    expect(texts).toEqual([
      { path: 'a.policy', kind: 'policy', text: policy },
      { path: 'vendors.txt', kind: 'list', text: 'Staples\n' },
    ]);
  });

  test('with one other bit is refused, wherever it is', async () => {
    const random = createRandom(1);
    for (const name of ['signed.writ', 'plain.writ']) {
      const bytes = bytesOf(name);
      const places = Array.from({ length: 300 }, () => random.below(bytes.length));
      for (const at of [...Array.from({ length: 20 }, (_, first) => first), ...places, bytes.length - 1]) {
        const bit = 1 << random.below(8);
        bytes[at]! ^= bit;
        await expect(readBundle(bytes), `${name} at ${at}`).rejects.toThrow(BundleError);
        bytes[at]! ^= bit;
      }
      for (const end of [0, 7, 13, 60, bytes.length - 64, bytes.length - 1])
        await expect(readBundle(bytes.subarray(0, end))).rejects.toThrow(BundleError);
      await expect(readBundle(bytes)).resolves.toBeDefined();
    }
  });

  test('is refused without the signature that is asked for', async () => {
    const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x!;
    await expect(loadBundle(bytesOf('signed.writ'), { key: other })).rejects.toThrow(/another key/);
    await expect(loadBundle(bytesOf('plain.writ'), { key })).rejects.toThrow(/not signed/);
    const { texts, program, madeMs } = await readBundle(bytesOf('signed.writ'));
    const forged = await writeBundle(
      { texts, program, madeMs, commit: null },
      { key, sign: (bytes) => new Uint8Array(64).fill(bytes[0]!) },
    );
    await expect(loadBundle(forged, { key })).rejects.toThrow(/signature is not valid/);
  });
});

describe('writ verify-bundle', () => {
  const verify = (...args: readonly string[]) => writ(['verify-bundle', ...args], { cwd: folder });

  test('compiles the texts again', async () => {
    expect(await verify('signed.writ', '--key', key)).toMatchObject({ code: 0 });
    const { texts, program, madeMs } = await readBundle(bytesOf('plain.writ'));
    const wider = texts.map((one) => ({ ...one, text: one.text.replace('<= 50', '<= 5') }));
    writeFileSync(
      join(folder, 'other.writ'),
      await writeBundle({ texts: wider, program, madeMs, commit: null }, null),
    );
    const { code, stderr } = await verify('other.writ');
    expect([code, stderr]).toEqual([1, 'other.writ: its program does not match its sources\n']);
  });

  test('compares what it says of its policies, too', async () => {
    const { facts, ...bundle } = await readBundle(bytesOf('plain.writ'));
    expect(facts).toMatchObject({
      actions: 1,
      rules: 1,
      content: { listFiles: ['owners.yaml', 'vendors.txt'] },
    });
    for (const lie of [
      { digest: 'a'.repeat(64) },
      { about: new TextEncoder().encode('{}') },
      { titles: [['order.place', []]] as never },
    ]) {
      const told = await writeBundle({ ...bundle, facts: { ...facts!, ...lie } }, null);
      writeFileSync(join(folder, 'told.writ'), told);
      expect((await verify('told.writ')).code).toBe(1);
    }
  });

  test.each([
    [['verify-bundle', 'plain.writ', '--key', 'A'.repeat(43)], 1, /not signed/],
    [['verify-bundle', 'a.policy'], 1, /not a policy bundle/],
    [['verify-bundle', 'nowhere.writ'], 2, /cannot read nowhere\.writ/],
    [['build', 'a.policy', '-o', 'nowhere/b.writ'], 2, /cannot write nowhere/],
    [['build', 'a.policy', '-o', 'b.writ', '--sign', 'vendors.txt'], 2, /is not a private Ed25519 key/],
    [['build', 'vendors.txt', '-o', 'b.writ'], 1, /./],
    [['build', '.'], 2, /--output/],
  ])('says what is wrong: %j', async (args, expected, message) => {
    const { code, stderr } = await writ(args, { cwd: folder });
    expect([code, stderr]).toEqual([expected, expect.stringMatching(message)]);
  });
});

describe('commands take a bundle where they take policies', () => {
  const run = (...args: readonly string[]) => writ(args, { cwd: folder });

  test('check, decide and build say what they say of its texts', async () => {
    const [given, bundled] = [await run('check', '.', '--json'), await run('check', 'plain.writ', '--json')];
    expect(JSON.parse(bundled.stdout).diagnostics).toEqual(JSON.parse(given.stdout).diagnostics);
    const decided = ['--action', 'order.place', '--payload', JSON.stringify(question.payload)];
    const decisions = [
      await run('decide', '--policies', '.', ...decided),
      await run('decide', '--policies', 'plain.writ', ...decided),
    ];
    expect(decisions[0]).toMatchObject({ code: 0, stdout: expect.stringContaining('ALLOW') });
    expect(decisions[1]).toEqual(decisions[0]);
    expect((await run('build', 'plain.writ', '-o', 'again.writ')).code).toBe(0);
    const [again, before] = [
      await readBundle(bytesOf('again.writ')),
      await readBundle(bytesOf('plain.writ')),
    ];
    expect(again.texts).toEqual(before.texts);
  });

  test('diff compares one with what it was made from, and with other policies', async () => {
    expect(await run('diff', '--old', 'signed.writ', '--new', '.')).toMatchObject({ code: 0 });
    const other = join(folder, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'a.policy'), policy.replace('<= 50', '<= 60'));
    writeFileSync(join(other, 'vendors.txt'), 'Staples\n');
    const changed = await run('diff', '--old', 'signed.writ', '--new', 'other');
    expect(changed.stdout).toMatch(/DENY.*ALLOW/s);
  });

  test('test runs the cases of test files on it', async () => {
    const tests = join(folder, 'tested');
    mkdirSync(tests);
    writeFileSync(join(tests, 'a.policy'), policy.replace('<= 50', '<= 60').replace('vendors.txt', 'v.txt'));
    writeFileSync(join(tests, 'v.txt'), 'Staples\n');
    writeFileSync(
      join(tests, 'a.test.yaml'),
      `tests:
  - name: small
    action: order.place
    payload: { amount: 55, vendor: Staples }
    expect: ALLOW
`,
    );
    expect(await run('test', 'tested')).toMatchObject({ code: 0 });
    const tested = await run('test', 'tested', '--bundle', 'plain.writ', '--coverage');
    expect([tested.code, tested.stdout]).toEqual([1, expect.stringContaining('DENY')]);
    expect(tested.stdout).toContain('orders/small');
  });

  test('a damaged one is refused with the reason', async () => {
    writeFileSync(join(folder, 'cut.writ'), bytesOf('plain.writ').slice(0, -40));
    for (const args of [
      ['check', 'cut.writ'],
      ['diff', '--old', 'plain.writ', '--new', 'cut.writ'],
      ['test', 'tested', '--bundle', 'cut.writ'],
    ]) {
      const { code, stdout, stderr } = await run(...args);
      expect(code, args[0]).toBeGreaterThan(0);
      expect(stdout + stderr).toContain('the bundle is damaged');
    }
  });

  test('none is fixed: `check --fix` says so', async () => {
    expect(await run('check', 'plain.writ', '--fix')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a bundle cannot be fixed'),
    });
  });
});
