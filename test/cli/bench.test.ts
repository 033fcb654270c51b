// `writ bench` as a user runs it: figures vary, all other text is compared exactly.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createProgress } from '../../src/cli/bench/progress.ts';
import { parseXml } from '../measure/xml.ts';
import { createFolder } from '../service/policies/folder.ts';
import { writ } from './writ.ts';

const pack = 'policies/payments';
const requests = 'policies/payments/requests.jsonl';
const count = readFileSync(requests, 'utf8').trimEnd().split('\n').length;
const quick = ['--duration', '0.2', '--rounds', '2'];

describe('writ bench', () => {
  it('measures decisions by action and by rule', async () => {
    const { code, stdout, stderr } = await writ([
      'bench',
      '--policies',
      pack,
      '--requests',
      requests,
      ...quick,
    ]);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(masked(stdout)).toMatchInlineSnapshot(`
      "policies/payments: 2 policies, 8 rules, 1 action
      61 requests, all confirmed by the language definition

      p50 # #..#
      p90 # #..#
      p99 # #..#
      max # #..#
      throughput # #..#
      ready in # #..#
      kept # of # of text
      rules tried 8 per decision (median), p99 8, max 8
      ALLOW 15
      ESCALATE 22
      REAUTH_REQUIRED 7
      DENY 17

      action requests p50 p99 rules tried decisions
      payment.create 61 # # 8 of 8 ALLOW 15, ESCALATE 22, REAUTH_REQUIRED 7, DENY 17

      rule effect tried fired decided cost share
      risky_payments/high_risk escalate 51 5 0 # #
      vendor_payments/blocked_vendor deny 51 5 5 # #
      vendor_payments/known_vendor allow 51 39 14 # #
      vendor_payments/large_payment escalate 51 12 7 # #
      vendor_payments/new_vendor allow 51 9 3 # #
      vendor_payments/no_description risk 51 2 0 # #
      vendor_payments/sensitive_hours reauth 51 8 7 # #
      vendor_payments/split_payment escalate 51 15 13 # #
      "
    `);
  });

  it('gives every figure as JSON, and draws latencies', async () => {
    const plot = join(temporaryFolder(), 'latency.svg');
    const args = ['bench', '--policies', pack, '--requests', requests, ...quick, '--json', '--plot', plot];
    const result = JSON.parse((await writ(args)).stdout);
    expect(result).toMatchObject({
      policies: 2,
      requests: count,
      checked: count,
      used: { perDecision: { p50: 8, p99: 8, max: 8 }, unfiled: [] },
    });
    expect(result.byRequest).toHaveLength(count);
    const outcomes: readonly number[] = Object.values(result.outcomes);
    expect(outcomes.reduce((sum, of) => sum + of, 0)).toBe(count);
    expect(result.latency.p50.min).toBeLessThanOrEqual(result.latency.p50.median);
    expect(result.latency.p50.median).toBeLessThanOrEqual(result.latency.max.median);
    const shares = result.used.rules.map(({ share }: { readonly share: number }) => share);
    expect(shares.reduce((sum: number, share: number) => sum + share, 0)).toBeCloseTo(1, 6);
    expect(parseXml(readFileSync(plot, 'utf8'))[0]!.name).toBe('svg');
  });

  it('counts the rules that the index finds, and gives a reason for each that it cannot index', async () => {
    const rules = Array.from({ length: 30 }, (_, at) => `allow r${at} when payload.v == "v${at}"`);
    const folder = createFolder({
      'a.policy': `action a.b { v: string 1..20, n: integer }
policy p on a.b {
${rules.join('\n')}
deny odd when payload.n / 2 * 2 != payload.n
risk each_time +1
}
`,
      'requests.jsonl': `${JSON.stringify({ action_key: 'a.b', payload: { v: 'v7', n: 2 } })}
{"action_key": "c.d", "payload": {}}
{"action_key": "a.b", "payload": {"v": 7}}
`,
    });
    const { stdout, stderr } = await writ(['bench', '--requests', 'requests.jsonl', ...quick], {
      cwd: folder,
    });
    expect(stderr).toBe('');
    const text = masked(stdout);
    expect(text).toContain('rules tried 0 per decision (median), p99 3, max 3');
    expect(text).toContain('\na.b 2 # # 3 of 32 ALLOW 1, DENY 1\nc.d (not declared) 1 # # 0 of 0 DENY 1\n');
    expect(text).toContain('p/r7 allow 1 1 1 # #');
    expect(text).toContain('29 rules never tried');
    expect(text).toContain(`always tried for rule why
a.b p/each_time no condition
a.b p/odd no equality, range or literal condition that all must meet
`);
  });

  it('shows decisions that differ before anything else', async () => {
    const folder = temporaryFolder();
    cpSync(pack, folder, { recursive: true });
    const file = join(folder, 'payments.policy');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('payload.amount > small_limit', 'payload.amount > 100_000 USD'),
    );
    const { stdout, code } = await writ([
      'bench',
      '--policies',
      pack,
      '--compare',
      folder,
      '--requests',
      requests,
      ...quick,
    ]);
    expect(code).toBe(0);
    const text = masked(stdout.replaceAll(folder, 'FOLDER'));
    expect(text.split('\n\n')[0]).toMatchInlineSnapshot(`
      "12 decisions of 61 differ
      request action first second
      policies/payments/requests.jsonl:6 payment.create ESCALATE by vendor_payments/large_payment ALLOW by vendor_payments/known_vendor
      policies/payments/requests.jsonl:7 payment.create ESCALATE by vendor_payments/large_payment ALLOW by vendor_payments/known_vendor
      policies/payments/requests.jsonl:8 payment.create DENY by default_deny, risk {"low":30,"high":30} DENY by default_deny, risk {"low":0,"high":0}
      policies/payments/requests.jsonl:10 payment.create ALLOW by vendor_payments/known_vendor, risk {"low":30,"high":30} ALLOW by vendor_payments/known_vendor, risk {"low":0,"high":0}
      policies/payments/requests.jsonl:13 payment.create ESCALATE by vendor_payments/large_payment ESCALATE by vendor_payments/new_vendor
      policies/payments/requests.jsonl:14 payment.create ESCALATE by vendor_payments/large_payment ESCALATE by vendor_payments/new_vendor
      policies/payments/requests.jsonl:15 payment.create DENY by default_deny, risk {"low":30,"high":30} DENY by default_deny, risk {"low":0,"high":0}
      policies/payments/requests.jsonl:22 payment.create ESCALATE by vendor_payments/large_payment ALLOW by vendor_payments/known_vendor
      policies/payments/requests.jsonl:28 payment.create DENY by vendor_payments/blocked_vendor, risk {"low":100,"high":100} DENY by vendor_payments/blocked_vendor, risk {"low":70,"high":70}
      policies/payments/requests.jsonl:40 payment.create DENY by vendor_payments/blocked_vendor, risk {"low":100,"high":100} DENY by vendor_payments/blocked_vendor, risk {"low":80,"high":80}
      policies/payments/requests.jsonl:51 payment.create ESCALATE by vendor_payments/large_payment ALLOW by vendor_payments/known_vendor
      policies/payments/requests.jsonl:52 payment.create ESCALATE by vendor_payments/large_payment ALLOW by vendor_payments/known_vendor"
    `);
    expect(text).toContain(`first policies/payments: 2 policies, 8 rules, 1 action
second FOLDER: 2 policies, 8 rules, 1 action
${count} requests, all confirmed`);
    expect(text).toMatch(/\np50 # # # \(#\.\.#\)\n/);
  });

  it('reports that all decisions are the same', async () => {
    const args = ['bench', '--policies', pack, '--compare', pack, '--requests', requests, ...quick];
    expect((await writ(args)).stdout).toMatch(new RegExp(`^all ${count} decisions are the same\n`));
  });

  it('removes facts that only the other policies declare', async () => {
    const meter = 'meter spent = count() of a.b per agent over 24h\n';
    const one = createFolder({
      'a.policy': `action a.b {}\n${meter}policy p on a.b { allow few when spent < 3 }\n`,
    });
    const other = createFolder({ 'a.policy': 'action a.b {}\npolicy p on a.b { allow all }\n' });
    const file = join(
      createFolder({ 'r.jsonl': '{"action_key":"a.b","payload":{},"meters":{"spent":9}}\n' }),
      'r.jsonl',
    );
    const both = await writ(['bench', '--policies', one, '--compare', other, '--requests', file, ...quick]);
    expect(masked(both.stdout)).toContain('r.jsonl:1 a.b DENY by default_deny ALLOW by p/all');
    const alone = await writ(['bench', '--policies', other, '--requests', file, ...quick]);
    expect(alone).toMatchObject({ code: 2, stdout: '' });
    expect(alone.stderr).toContain(`${file}:1: the policies have no meter \`spent\`, in \`${other}\`\n`);
  });

  it('names every line that it cannot take', async () => {
    const folder = createFolder({
      'bad.jsonl': [
        '{"action_key": "a.b", "payload": {}}',
        '',
        '{"action_key": 3}',
        '{"action_key": "x", "payload": {"a": 1, "a": 2}}',
        'nope',
        '{"action_key": "x", "paylod": {}}',
        '{"payload": {}}',
        '[]',
        '{"action_key": "x", "now": "noon"}',
      ].join('\n'),
    });
    const { code, stdout, stderr } = await writ(['bench', '--policies', '.', '--requests', 'bad.jsonl'], {
      cwd: folder,
    });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatchInlineSnapshot(`
      "error: bad.jsonl:3: \`action_key\` must be a string
             bad.jsonl:4:41: the member name is duplicated in its object
             bad.jsonl:5:1: a value is expected here
             bad.jsonl:6: the request has no key \`paylod\` (did you mean \`payload\`)
             bad.jsonl:7: \`action_key\` is missing
             bad.jsonl:8: a request must be a JSON object
             bad.jsonl:9: \`now\` must be a time with an offset (such as \`2026-03-02T10:00:00-05:00\`, no finer than milliseconds)
      "
    `);
  });

  it('reports missing arguments', async () => {
    const empty = join(createFolder({ 'empty.jsonl': '\n \n' }), 'empty.jsonl');
    const [noOption, noFile, noRequest, noPolicies, seconds] = await Promise.all([
      writ(['bench']),
      writ(['bench', '--requests', 'nowhere.jsonl']),
      writ(['bench', '--requests', empty]),
      writ(['bench', '--policies', 'nowhere', '--requests', requests]),
      writ(['bench', '--requests', requests, '--duration', '0']),
    ]);
    expect(noOption).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("required option '--requests <file>'"),
    });
    expect(noFile).toMatchObject({
      code: 2,
      stderr: 'error: cannot read `nowhere.jsonl`: there is no such file\n',
    });
    expect(noRequest).toMatchObject({ code: 2, stderr: `error: \`${empty}\` has no requests\n` });
    expect(noPolicies).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('`nowhere` does not exist'),
    });
    expect(seconds).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--duration must be a number of seconds'),
    });
  });

  it('shows errors of policies as `writ check` does', async () => {
    const folder = createFolder({ 'a.policy': 'policy', 'r.jsonl': '{"action_key":"a","payload":{}}' });
    const ran = await writ(['bench', '--policies', '.', '--requests', 'r.jsonl'], { cwd: folder });
    const { stdout } = await writ(['check', '.'], { cwd: folder });
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr.split('\n')[0]).toBe(stdout.split('\n')[0]);
  });
});

describe('the progress bar', () => {
  it('is shown on a terminal only, and removed at the end', () => {
    vi.stubEnv('TERM', 'xterm');
    onTestFinished(() => void vi.unstubAllEnvs());
    const written: string[] = [];
    const stream = (isTTY: boolean) =>
      ({ isTTY, write: (text: string) => written.push(text) }) as unknown as NodeJS.WriteStream;
    const piped = createProgress(stream(false));
    piped.show(0.5, 'measuring');
    piped.end();
    expect(written).toEqual([]);
    const seen = createProgress(stream(true));
    seen.show(0.5, 'measuring');
    seen.end();
    expect(written).toEqual([`\r\u001b[K${'█'.repeat(12)}${'░'.repeat(12)} 50 % measuring`, '\r\u001b[K']);
  });
});

/** The text without figures, colours and padding, with the rules sorted by name. */
function masked(text: string): string {
  const number = '[\\d,]+(?:\\.\\d+)?(?: million)?';
  const unit = '(?:(?: (?:ns|µs|ms|s|kB|MB|bytes|%)|x|/s)(?!\\w))';
  const lines = text
    // The definition decides as many requests as it can within its time, so the number varies.
    .replace(/, \d+ confirmed by/, ', all confirmed by')
    .replaceAll(new RegExp(`${number}${unit}?\\.\\.${number}${unit}?`, 'g'), '#..#')
    .replaceAll(new RegExp(`(?<![\\w.:-])${number}${unit}`, 'g'), '#')
    .split('\n')
    .map((line) => line.replaceAll(/ +/g, ' ').trim());
  const isRule = (line: string): boolean => /^\w+\/\w+ (allow|deny|escalate|reauth|risk) /.test(line);
  const rules = lines.filter(isRule).sort();
  return lines.map((line) => (isRule(line) ? rules.shift()! : line)).join('\n');
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
