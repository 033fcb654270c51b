// The verifier for auditors on a month of a real service: it finds every kind of tampering in the table and any changed
// bit, and raises no alarm on what nobody has touched; what the command prints, and one month after the other.

import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../../../src/language/value/random.ts';
import { checkpointText, createCheckpointSigner } from '../../../../src/service/audit/checkpoint.ts';
import { exportRecords } from '../../../../src/service/audit/export.ts';
import { pruneRecords } from '../../../../src/service/audit/prune.ts';
import { createChainedStore } from '../../../service/audit/chained.ts';
import { shareService } from '../../../service/http/service.ts';
import { startMs, temporaryFolder } from '../../../service/store/rows.ts';
import { tries } from '../../../support/tries.ts';
import { python, requirePython, sources } from '../python.ts';
import { checkpointOf, earlySize, type VerifierInput, type World, worldOf } from './given.ts';
import { packPolicies, recordMonth } from './month.ts';
import { argumentsFor, type Result, runVerifier } from './run-verifier.ts';
import { tampering, untouchedLanes } from './tampering.ts';

const service = shareService({ startsWith: packPolicies() });
let world: World;

beforeAll(async () => {
  requirePython();
  world = worldOf(await recordMonth(service(), 40));
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(...args: readonly string[]): Promise<Ran> {
  const file = join(sources, 'writ_verify.py');
  return await promisify(execFile)(python, ['-B', file, ...args]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (failed: Ran) => failed,
  );
}

test('says what was checked and what was not, with an exit status', async () => {
  const args = argumentsFor(world, world);
  const whole = await run(...args);
  expect(whole).toMatchObject({ code: 0, stderr: '' });
  expect(whole.stdout).toMatch(/^\d+ records, 1 to \d+, .*Z to .*Z\n✓ no problems\nchecked:\n/);
  expect(whole.stdout).toContain('decisions follow from their facts and policies');
  expect(whole.stdout).toMatch(
    /not checked:\n {2}conditions of `shell_lines\/reading`: `commands` \(\d+\)\n/,
  );
  const tampered = { ...world, lines: world.lines.toSpliced(7, 1), evidence: {} };
  const broken = await run(...argumentsFor(tampered, world));
  expect(broken.code).toBe(1);
  expect(broken.stdout).toContain('missing (');
  expect(broken.stdout).toMatch(/not checked:\n[\s\S]*since no checkpoint was given/);
  const json = await run(...args, '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: true, records: world.lines.length });
});

test('refuses what it cannot use, and says why', async () => {
  const [file = ''] = argumentsFor(world, world);
  const unknown = join(temporaryFolder(), 'a.txt');
  writeFileSync(unknown, 'no evidence');
  for (const [args, message] of [
    [['/nowhere'], 'cannot be read'],
    [[file, '--key', 'abc'], 'is no public key'],
    [[file, '--evidence', unknown], 'is no evidence that this program knows'],
    [[file, '--after', unknown], 'is no report of this program'],
    [[file, '--until', 'soon'], 'is not a date'],
  ] as const) {
    const ran = await run(...args);
    expect([ran.code, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toContain(message);
  }
  const help = await run('--help');
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('writ-verify march.jsonl') });
});

test('continues where the report of the month before ends', async () => {
  const folder = temporaryFolder();
  const [early, late] = [world.lines.slice(0, earlySize), world.lines.slice(earlySize)];
  const files = { 'early.json': world.evidence['early.json']!, 'early.txt': world.evidence['early.txt']! };
  const first = await run(...argumentsFor({ ...world, lines: early, evidence: files }, world), '--json');
  expect(first.code).toBe(0);
  const report = join(folder, 'early-report.json');
  writeFileSync(report, first.stdout);
  const [next, gap, alone] = await runVerifier(
    [
      { ...world, lines: late, options: ['--after', report] },
      { ...world, lines: late.slice(1), options: ['--after', report] },
      { ...world, lines: late },
    ],
    world,
  );
  expect(next).toMatchObject({
    ok: true,
    checked: { 'signed roots are those of the records': expect.any(Number) },
  });
  expect(gap).toMatchObject({ ok: false, problems: { counts: { missing: 1 } } });
  // The earlier checkpoint is where this export begins.
  expect(alone).toMatchObject({ ok: true, checked: { 'beginnings are at a checkpoint': 1 } });
  expect(Object.keys(alone!.not_checked)).toContainEqual(expect.stringContaining('give `--after`'));
});

test('reads packed exports, and takes later checkpoints where the export ends on purpose', async () => {
  const month = { ...world, lines: world.lines.slice(0, earlySize) };
  const later = { 'late.json': checkpointOf(world.month, world.records, Date.UTC(2030, 0)) };
  const args = argumentsFor({ ...month, evidence: later }, world);
  const packed = `${args[0]}.gz`;
  writeFileSync(packed, gzipSync(readFileSync(args[0]!)));
  expect((await run(packed, ...args.slice(1))).code).toBe(1);
  expect((await run(packed, ...args.slice(1), '--until', '2029-12-31')).code).toBe(0);
});

test('a pruned export begins at its prune mark', async () => {
  const { store } = await createChainedStore();
  await pruneRecords(store, { beforeMs: startMs + 4000, nowMs: startMs + 1_000_000_000 });
  const lines: string[] = [];
  for await (const line of exportRecords(store, { format: 'jsonl' })) lines.push(line);
  const signer = createCheckpointSigner(store.masterKey);
  const { pruning } = await store.chain.segment(0, 1);
  const given = { ...world, lines, keys: [signer.publicKey], sets: new Map() };
  const mark = checkpointText(pruning!, signer);
  const args = (evidence: Readonly<Record<string, string>>) =>
    argumentsFor({ ...given, evidence, options: ['--whole', '--json', '--tolerance', '1e12'] }, world);
  const counts = async (evidence: Readonly<Record<string, string>>) =>
    (JSON.parse((await run(...args(evidence))).stdout) as { problems: { counts: object } }).problems.counts;
  // The requests of this store have no decision that could be made, so their lines are malformed.
  expect(await counts({})).toMatchObject({ begin: 1 });
  expect(await counts({ 'checkpoints.jsonl': mark })).not.toHaveProperty('begin');
});

test('law: any changed bit of an export is found', { timeout: 600_000 }, async () => {
  const random = createRandom(Number(process.env.SEED ?? 1));
  const text = Buffer.from(world.lines.join(''));
  const program = `
import json, sys
import writ_verify as verifier
given = json.load(sys.stdin)
text, missed = open(given['arguments'][0], 'rb').read(), []
for bit in given['bits']:
    changed = bytearray(text)
    changed[bit // 8] ^= 1 << bit % 8
    open(given['arguments'][0], 'wb').write(changed)
    if verifier.verify(verifier._arguments(given['arguments']))['ok']:
        missed.append(bit)
print(json.dumps(missed))`;
  const [file = ''] = argumentsFor(world, world);
  const bits = [...Array(tries(60))].map(() => random.below(text.length * 8));
  const options = {
    input: JSON.stringify({ arguments: [file], bits }),
    env: { ...process.env, PYTHONPATH: sources },
  };
  expect(JSON.parse(execFileSync(python, ['-B', '-c', program], options).toString())).toEqual([]);
});

test('finds each kind of tampering, and nothing in what is untouched', { timeout: 600_000 }, async () => {
  const genuine = [
    world,
    { ...world, options: ['--whole', '--tolerance', '5'] },
    { ...world, ...untouchedLanes() },
  ];
  const tampered = tampering.map(({ change }): VerifierInput => ({ ...world, ...change(world) }));
  const results = await runVerifier([...genuine, ...tampered], world);
  expect(results).toHaveLength(genuine.length + tampered.length);
  for (const result of results.slice(0, genuine.length))
    expect(result).toMatchObject({ ok: true, problems: { counts: {}, first: [] } });
  const found = tampering.map(({ name, finds }, at) => describe(name, finds, results[genuine.length + at]!));
  expect(found).toEqual(tampering.map(({ name, finds }) => `${name}: ${finds}`));
  expect(new Set(tampering.map(({ name }) => name)).size).toBeGreaterThan(100);
});

/** The expected finding if it is there, else what was found. */
function describe(name: string, finds: string, { ok, problems }: Result): string {
  const isFound = !ok && (problems.counts[finds] ?? 0) > 0;
  return `${name}: ${isFound ? finds : `instead ${JSON.stringify(problems)}`}`;
}
