// `writ replay` on the records of a store and on exports of them, and exports as input of the other commands
// that read requests.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRequestLines } from '../../src/measure/read-requests.ts';
import { digest } from '../../src/service/policies/digest.ts';
import { makeHistory, policyText } from '../analysis/replay/history.ts';
import { compiledOf } from '../analysis/replay/tried.ts';
import { temporaryFolder } from '../service/store/rows.ts';
import { type Ran, writ } from './writ.ts';

const other = policyText
  .replace(
    'escalate large to finance within 1h when payload.amount > 50 USD',
    'escalate large to finance within 1h when payload.amount > 60 USD',
  )
  .replace('spent > 900', 'spent > 400');

const decided = digest(compiledOf(policyText).set);

/** The number of requests under the findings of one pair of decisions. */
function met(findings: readonly Filed[], from: string, to: string): number {
  return findings
    .filter((one) => one.from === from && one.to === to)
    .reduce((sum, { log: { requests } }) => sum + requests, 0);
}

let made: ReturnType<typeof make> | null = null;

/**
 * A store with a history, its export, and two sets of policies, shared by all tests, so no test may write to
 * them.
 */
function setUp(): ReturnType<typeof make> {
  made ??= make();
  return made;
}

async function make() {
  const data = mkdtempSync(join(tmpdir(), 'writ-replay-'));
  const { asked } = await makeHistory(21, 100, { folder: data });
  const folder = mkdtempSync(join(tmpdir(), 'writ-replay-'));
  const [same, changed, log] = ['same.policy', 'changed.policy', 'log.jsonl'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  writeFileSync(same, policyText);
  writeFileSync(changed, other);
  const { stdout } = await writ(['audit', 'export', '--data', data]);
  // The history has a word in place of the digest of its policies.
  writeFileSync(
    log,
    stdout.replaceAll(String.raw`{\"digest\":\"digest\"`, String.raw`{\"digest\":\"${decided}\"`),
  );
  return { data, asked, same, changed, log };
}

interface Filed {
  readonly from: string;
  readonly to: string;
  readonly log: { readonly requests: number; readonly agents: number };
}

const replay = (...args: readonly string[]): Promise<Ran> => writ(['replay', ...args]);

function cells(matrix: Readonly<Record<string, Readonly<Record<string, number>>>>): number {
  return Object.values(matrix).reduce(
    (sum, row) => sum + Object.values(row).reduce((total, one) => total + one, 0),
    0,
  );
}

describe('writ replay', () => {
  it('reports that the same policies decide everything as before', async () => {
    const { data, asked, same } = await setUp();
    const { code, stdout, stderr } = await replay('--policies', same, '--data', data);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`${asked} requests, 2026-`);
    expect(stdout).toContain(', in order, by ');
    expect(stdout).toContain('\nevery decision is the same as before\n');
    expect(stdout).toMatch(/ {2}before \\ now +ALLOW +ESCALATE +REAUTH +DENY\n/);
    expect(stdout).toMatch(
      / {2}finance +\d+ +\d+ +[\d.]+ -> [\d.]+ +\d+ -> \d+ +\d+ -> \d+ +[\d.]+ -> [\d.]+ h\n/,
    );
    expect(stdout).toContain('assumed: 3 minutes per vote');
  });

  it('reports the same for a store and its export, and counts every request', async () => {
    const { data, asked, changed, log } = await setUp();
    const fromStore = await replay('--policies', changed, '--data', data, '--json');
    const fromFile = await replay(log, '--policies', changed, '--json');
    expect([fromStore.code, fromFile.code]).toEqual([0, 0]);
    const result = JSON.parse(fromStore.stdout);
    expect(JSON.parse(fromFile.stdout)).toEqual({ ...result, decided_by: { [decided]: asked } });
    expect(result.decided_by).toEqual({ digest: asked });
    expect(result).toMatchObject({ reading: 'in order', requests: asked, unread: { count: 0 }, withheld: 0 });
    expect(cells(result.matrix)).toBe(asked);
    expect(result.changes.outcome).toBeGreaterThan(0);
    expect(result.minutes_per_vote).toEqual({ minutes: 3, measured: false });
    const asRecorded = await replay(log, '--policies', changed, '--json', '--as-recorded');
    expect(JSON.parse(asRecorded.stdout)).toMatchObject({
      reading: 'as recorded',
      waits: null,
      requests: asked,
    });
  });

  it('writes every request that changes as a table', async () => {
    const { changed, log } = await setUp();
    const csv = join(temporaryFolder(), 'changed.csv');
    const { stdout, stderr } = await replay(log, '--policies', changed, '--csv', csv);
    expect(stderr).toBe(`changed requests are in ${csv}\n`);
    const [, outcomes = '', askedOthers = ''] =
      /(\d+) requests? decided differently, (\d+) with other approvers/.exec(stdout) ?? [];
    const [names, ...rows] = readFileSync(csv, 'utf8').trimEnd().split('\r\n');
    expect(names).toBe(
      'request_id,at,agent_id,agent,action,before,before_by,before_asks,now,now_by,now_asks,finding,incomplete_meters',
    );
    expect(rows).toHaveLength(Number(outcomes) + Number(askedOthers));
    expect(await replay(log, '--policies', changed, '--csv', dirname(csv))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it is a directory'),
    });
  });

  it('names unreadable lines, shows the rest, and exits with 1', async () => {
    const { asked, same, log } = await setUp();
    const lines = readFileSync(log, 'utf8').split('\n');
    const place = lines.findIndex((line) => line.includes('"kind":"request"'));
    lines[place] = '{"sequence":';
    const broken = join(temporaryFolder(), 'broken.jsonl');
    writeFileSync(broken, lines.join('\n'));
    const { code, stdout, stderr } = await replay(broken, '--policies', same);
    expect(code).toBe(1);
    expect(stdout).toContain(`${asked - 1} requests`);
    expect(stderr).toMatch(new RegExp(`^error: ${broken}:${place + 1}: `));
    expect(stderr).toContain('error: 1 unreadable, not in the figures\n');
  });

  it('assigns each request to its finding of the comparison', async () => {
    const { asked, same, changed, log } = await setUp();
    const run = (...args: readonly string[]) => replay(log, '--policies', changed, ...args);
    const csv = join(temporaryFolder(), 'changed.csv');
    const { code, stdout } = await run('--against', same, '--json', '--as-recorded', '--csv', csv);
    expect(code).toBe(0);
    const { against, findings, without_finding, matrix, changes } = JSON.parse(stdout);
    expect(against).toMatchObject({ name: same, requests: asked });
    expect(changes.outcome).toBeGreaterThan(0);
    for (const [from, to] of [
      ['ESCALATE', 'ALLOW'],
      ['ALLOW', 'DENY'],
      ['ESCALATE', 'DENY'],
    ] as const)
      expect([from, to, met(findings, from, to)]).toEqual([from, to, matrix[from][to]]);
    expect(without_finding).toBe(0);
    const filed = readFileSync(csv, 'utf8').trimEnd().split('\r\n').slice(1);
    expect(filed.every((row) => /,\d+,$/.test(row))).toBe(true);
    const text = await run('--against', same);
    expect(text.stdout).toMatch(/changes from .*same\.policy, with their requests: /);
    expect(text.stdout).toMatch(
      /1\. 🔓 ESCALATE → ALLOW[\s\S]* in the log \d+ requests? of [12] agents?\n {3}people: finance \d+ fewer, \d+ → 0, a day [\d.]+ → 0, on the worst \d+ → 0, in the busiest hour \d+ → 0\n/,
    );
  });

  it('compares with HEAD where it decided some of the log, and files these requests alone', async () => {
    const { asked, log } = await setUp();
    const cwd = temporaryFolder();
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd, stdio: 'ignore' });
    const inRepository = (text: string) => writeFileSync(join(cwd, 'a.policy'), text);
    inRepository(policyText);
    git('init', '-q');
    git('add', 'a.policy');
    git('-c', 'user.name=A', '-c', 'user.email=a@example.org', 'commit', '-q', '-m', 'one');
    inRepository(other);
    const run = async (file: string, ...args: readonly string[]) =>
      await writ(['replay', file, '--policies', 'a.policy', '--as-recorded', ...args], { cwd });
    const { against, findings, matrix, without_finding } = JSON.parse((await run(log, '--json')).stdout);
    expect([against.name, against.requests, without_finding]).toEqual(['HEAD', asked, 0]);
    expect(met(findings, 'ESCALATE', 'ALLOW')).toBe(matrix.ESCALATE.ALLOW);
    // A log that other policies decided has no findings.
    const others = join(cwd, 'others.jsonl');
    writeFileSync(others, readFileSync(log, 'utf8').replaceAll(against.digest, 'f'.repeat(64)));
    const result = JSON.parse((await run(others, '--json')).stdout);
    expect(result.no_diff_reason).toContain('no request of the log was decided by the policies of HEAD');
    expect(result.decided_by).toEqual({ ['f'.repeat(64)]: asked });
    expect(result.examples.every(({ finding }: { finding: unknown }) => finding === null)).toBe(true);
    const half = readFileSync(log, 'utf8').split('\n');
    const mixed = half.map((line, at) =>
      at < half.length / 2 ? line.replaceAll(against.digest, 'f'.repeat(64)) : line,
    );
    writeFileSync(others, mixed.join('\n'));
    const some = await run(others);
    expect(some.stdout).toMatch(/! HEAD decided \d+ requests of the log, and other policies \d+\n/);
    expect(some.stdout).toMatch(/\d+ requests? decided differently without a finding\n/);
  });

  it('explains why nothing is compared, and refuses missing policies and ones with errors', async () => {
    const { changed, log } = await setUp();
    const run = (...args: readonly string[]) => replay(log, '--policies', changed, ...args);
    const alone = await run('--json');
    expect(JSON.parse(alone.stdout)).toMatchObject({
      against: null,
      no_diff_reason:
        'there are no policies of HEAD at this path: name the policies that decided it with --against',
    });
    expect((await run()).stdout).toContain('! not compared: there are no policies of HEAD at this path');
    expect(await run('--against', 'no-such-thing')).toMatchObject({ code: 2 });
    const broken = join(temporaryFolder(), 'broken.policy');
    writeFileSync(broken, 'nonsense');
    expect(await run('--against', broken)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the policies do not compile'),
    });
  });

  it('reads only the last days, also if no records are left', async () => {
    const { data, asked, same } = await setUp();
    const none = await replay('--policies', same, '--data', data, '--since', '2100-01-01');
    expect(none).toMatchObject({ code: 0, stdout: 'the log has no requests\n' });
    const all = await replay('--policies', same, '--data', data, '--since', '2000-01-01', '--json');
    expect(JSON.parse(all.stdout)).toMatchObject({
      requests: asked,
      changes: { outcome: 0, asked: 0, rule: 0 },
    });
  });

  it('refuses wrong usage, policies with errors and a directory without a store', async () => {
    const { data, same, log } = await setUp();
    expect(await replay('--policies', same, '--since', 'soon')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--since must be a duration (90d, 12h, 2w)'),
    });
    expect(await replay(log, '--data', data)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('not both'),
    });
    expect(await replay('none.jsonl', '--policies', same)).toMatchObject({
      code: 2,
      stderr: 'error: cannot read `none.jsonl`: there is no such file\n',
    });
    const folder = temporaryFolder();
    expect(await replay('--policies', same, '--data', folder)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no store at'),
    });
    mkdirSync(join(folder, 'p'));
    writeFileSync(join(folder, 'p', 'a.policy'), 'policy p on a.b { allow }');
    expect(await replay(log, '--policies', join(folder, 'p'))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('error'),
    });
  });
});

describe('writ diff --log', () => {
  const diff = async (...args: readonly string[]) => await writ(['diff', ...args, '--since', '2000-01-01']);

  it('counts for each finding the requests that both sides decide so, whoever decided them', async () => {
    const { data, asked, same, changed, log } = await setUp();
    const counted = JSON.parse((await diff('--old', same, '--new', changed, '--log', log, '--json')).stdout);
    expect(counted.log).toMatchObject({ requests: asked, without_finding: 0, withheld: 0 });
    const tried = JSON.parse((await replay(log, '--policies', changed, '--as-recorded', '--json')).stdout);
    const turned = met(counted.findings, 'ESCALATE', 'ALLOW');
    expect(turned).toBeGreaterThan(0);
    expect(turned).toBe(tried.matrix.ESCALATE.ALLOW);
    const fromStore = await diff('--old', same, '--new', changed, '--log', data, '--json');
    expect(JSON.parse(fromStore.stdout)).toEqual(counted);
    const back = JSON.parse((await diff('--old', changed, '--new', same, '--log', log, '--json')).stdout);
    expect(met(back.findings, 'ALLOW', 'ESCALATE')).toBe(turned);
  });

  it('reports so in text and Markdown, and names unreadable lines', async () => {
    const { asked, same, changed, log } = await setUp();
    const sides = ['--old', same, '--new', changed];
    const text = await diff(...sides, '--log', log);
    expect(text.stdout).toMatch(/\n {3}in the log \d+ requests? of [12] agents?\n/);
    expect(text.stdout).toContain(`the log has ${asked} requests, 2026-`);
    expect((await diff(...sides, '--log', log, '--format', 'markdown')).stdout).toMatch(
      /\n- in the log \d+ requests? of [12] agents?\n- people: `finance` \d+ fewer, /,
    );
    const broken = join(temporaryFolder(), 'broken.jsonl');
    writeFileSync(broken, `{"sequence":\n${readFileSync(log, 'utf8')}`);
    expect(await diff(...sides, '--log', broken)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`error: ${broken}:1: `),
    });
    expect(await writ(['diff', ...sides, '--since', '7d'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--since needs --log'),
    });
    expect(await diff(...sides, '--log', 'none.jsonl')).toMatchObject({ code: 2 });
    expect(await diff(...sides, '--log', temporaryFolder())).toMatchObject({ code: 1 });
  });
});

describe('an export of requests', () => {
  const requestLines = (path: string): readonly string[] =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"kind":"request"'));

  it('is a file of requests for `writ bench`, which passes over its other records', async () => {
    const { asked, log } = await setUp();
    const { lines, mistakes } = readRequestLines(readFileSync(log), log);
    expect(mistakes).toEqual([]);
    expect(lines).toHaveLength(asked);
    expect(lines.every(({ isRecorded }) => isRecorded)).toBe(true);
  });

  it('is decided by `writ decide` as it was recorded, a line at a time', async () => {
    const { same, log } = await setUp();
    const outcomes = new Map<string, string>();
    for (const line of requestLines(log)) {
      const { entry } = JSON.parse(line);
      outcomes.set(entry.outcome, line);
    }
    expect(outcomes.size).toBeGreaterThan(2);
    for (const [outcome, line] of outcomes) {
      const { stdout, stderr } = await writ(['decide', '--policies', same, '--json'], { stdin: line });
      expect(stderr).toBe('');
      const record = JSON.parse(JSON.parse(line).entry.record_json);
      expect(JSON.parse(stdout).decision).toMatchObject({ outcome, by: record.decision.by });
    }
    const event = readFileSync(log, 'utf8')
      .split('\n')
      .find((line) => line.includes('"kind":"event"'));
    expect(await writ(['decide', '--policies', same], { stdin: event ?? '' })).toMatchObject({
      code: 2,
      stderr: 'error: the request is not the record of a request\n',
    });
  });
});

describe('writ test --requests', () => {
  it('passes where every request is decided as recorded, and shows each that is not', async () => {
    const { asked, same, changed, log } = await setUp();
    const passed = await writ(['test', same, '--requests', log]);
    expect(passed).toMatchObject({ code: 0, stderr: '' });
    expect(passed.stdout).toContain(`${asked} of ${asked} requests decided as recorded\n`);
    const failed = await writ(['test', changed, '--requests', log]);
    const { code, stdout } = await writ(['test', changed, '--requests', log, '--json']);
    const { requests, same: alike, different, differing } = JSON.parse(stdout);
    expect([failed.code, code, requests, alike + different]).toEqual([1, 1, asked, asked]);
    expect(different).toBeGreaterThan(0);
    expect(differing).toHaveLength(Math.min(different, 100));
    const { request_id: id, before, now } = differing[0];
    expect(failed.stdout).toContain(id);
    expect(failed.stdout).toContain(`${before.outcome} by ${before.by} → ${now.outcome} by ${now.by}`);
    const replayed = JSON.parse((await replay(log, '--policies', changed, '--as-recorded', '--json')).stdout);
    expect(different).toBe(replayed.changes.outcome + replayed.changes.asked);
  });

  it('fails for an empty file and for lines that it cannot read, and goes with no option of cases', async () => {
    const { same, log } = await setUp();
    const empty = join(temporaryFolder(), 'empty.jsonl');
    writeFileSync(empty, '');
    expect(await writ(['test', same, '--requests', empty])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('has no recorded request'),
    });
    writeFileSync(empty, `${readFileSync(log, 'utf8')}{"sequence":\n`);
    expect(await writ(['test', same, '--requests', empty])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('1 unreadable'),
    });
    expect(await writ(['test', same, '--requests', log, '--coverage-min', '3'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--coverage-min'),
    });
    expect(await writ(['test', same, '--requests', join(same, 'none')])).toMatchObject({ code: 2 });
  });
});
