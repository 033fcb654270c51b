// `writ diff` as people run it: revisions, present files, folders, every format, and wrong usage.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writ } from './writ.ts';

const payments = join(import.meta.dirname, '../../policies/payments');
const root = mkdtempSync(join(tmpdir(), 'writ-diff-test-'));
const policies = join(root, 'policies');

function git(...args: readonly string[]): void {
  const who = ['-c', 'user.name=A', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...who, ...args], { cwd: root, stdio: 'ignore' });
}

const policy = (limit: number, file = 'trusted.txt'): string => `approvers finance "Finance"
action pay.make { amount: number 0.01.., to: string }
list trusted: string from "${file}"
policy p on pay.make {
  allow known_payee when payload.to in trusted and payload.amount <= ${limit}
  allow any after approval by finance when payload.amount <= 10_000
}
guarantee ceiling on pay.make { never allow when payload.amount > 10_000 }
`;

beforeAll(() => {
  mkdirSync(join(policies, 'lists'), { recursive: true });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(policies, 'pay.policy'), policy(1_000, 'linked.txt'));
  writeFileSync(join(policies, 'lists', 'payees.txt'), 'ann\nbob\n');
  symlinkSync('lists/payees.txt', join(policies, 'linked.txt'));
  git('add', '-A');
  git('commit', '-q', '-m', 'one');
  writeFileSync(join(policies, 'pay.policy'), policy(12_000, 'linked.txt'));
  git('commit', '-q', '-a', '-m', 'two');
  git('tag', 'raised');
  writeFileSync(join(policies, 'pay.policy'), 'nonsense');
  git('commit', '-q', '-a', '-m', 'three');
  git('tag', 'broken');
  git('reset', '-q', '--hard', 'raised');
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('writ diff', () => {
  it('shows what a revision loosened, the loosest first, and proves that nothing else changes', async () => {
    const { code, stdout } = await writ(['diff', 'main~1..main'], { cwd: root });
    expect(code).toBe(0);
    expect(stdout).toContain('main~1..main   2 loosened · 0 stricter · 0 undecided');
    expect(stdout).toMatch(
      /DENY → ALLOW {3}pay\.make\n {3}when payload\.amount > 10000 and <= 12000 and payload\.to in trusted/,
    );
    expect(stdout.indexOf('DENY → ALLOW')).toBeLessThan(stdout.indexOf('ESCALATE → ALLOW'));
    expect(stdout).toContain('was proved and is refuted');
    expect(stdout).toMatch(/✓ Nothing else changes: proved for all requests of 1 action, /);
  });

  it('compares a revision with the working tree, also from a subfolder and of one file', async () => {
    writeFileSync(join(policies, 'lists', 'payees.txt'), 'ann\nbob\neve\n');
    const { stdout } = await writ(['diff', 'HEAD', '.'], { cwd: policies });
    expect(stdout).toContain(
      'when payload.amount > 10000 and <= 12000 and payload.to in trusted (new: "eve")',
    );
    git('checkout', '-q', '--', '.');
    const unchanged = await writ(['diff'], { cwd: root });
    expect(unchanged.stdout).toContain('✓ No decision changes');
    const ofFile = await writ(['diff', 'main~1', 'policies/pay.policy'], { cwd: root });
    expect(ofFile.stdout).toContain('2 loosened');
    const alone = await writ(['diff', 'policies'], { cwd: root });
    expect(alone.stdout).toContain('HEAD..files');
  });

  it('prints JSON with requests that are decided as stated', async () => {
    const { stdout } = await writ(['diff', 'main~1', '--json'], { cwd: root });
    const [{ from, to, tier, example }] = JSON.parse(stdout).findings;
    expect([tier, from, to]).toEqual([1, 'DENY', 'ALLOW']);
    const decided = await writ(['decide', '--policies', policies], {
      stdin: JSON.stringify(example.request),
    });
    expect(decided.stdout).toContain('ALLOW');
  });

  it('lists changes without an effect on decisions below the findings', async () => {
    const text = (because: string, points: number, later: number): string => `
action pay.make { amount: number 0.. }
policy p on pay.make {
  allow small when payload.amount < 10 because "${because}"
  risk big +${points} when payload.amount > 5
  shadow deny later when payload.amount > ${later}
}
`;
    const [old, now] = ['old', 'now'].map((name) => join(root, `${name}.policy`)) as [string, string];
    writeFileSync(old, text('It is little', 10, 3));
    writeFileSync(now, text('It is not much', 20, 4));
    const of = (...args: readonly string[]) => writ(['diff', '--old', old, '--new', now, ...args]);
    const { code, stdout } = await of('--fail-on', 'any');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /No decision changes[^\n]*\n· p\/big adds 20 points of risk, not 10[^\n]*\n· p\/later changes in shadow[^\n]*\n· p\/small gives another reason/,
    );
    expect((await of('--format', 'markdown')).stdout).toContain('- `p/small gives another reason');
    expect(JSON.parse((await of('--json')).stdout).remarks).toMatchObject([
      { kind: 'risk', change: 'changed', rule: 'p/big', side: 'new', points: { old: 10, new: 20 } },
      { kind: 'shadow', change: 'changed', rule: 'p/later', points: null },
      { kind: 'reason', change: 'changed', rule: 'p/small', location: { line: 4 } },
    ]);
    const same = await writ(['diff', '--old', old, '--new', old, '--json']);
    expect(JSON.parse(same.stdout).remarks).toEqual([]);
  });

  it('counts who may decide by chat as loosened or stricter, although no decision changes', async () => {
    const text = (limits: readonly string[]): string => `
${limits.map((limit, at) => `approvers g${at} "G"${limit}`).join('\n')}
action pay.make { amount: number 0.. }
policy p on pay.make { escalate all to g0 and g1 and g2 and g3 }
`;
    const [old, now] = ['old', 'now'].map((name) => join(root, `${name}.policy`)) as [string, string];
    const upTo = (risk: number): string => ` by chat up to risk ${risk}`;
    writeFileSync(old, text(['', upTo(40), upTo(30), upTo(20)]));
    writeFileSync(now, text([upTo(0), upTo(60), '', upTo(20)]));
    const of = (...args: readonly string[]) => writ(['diff', '--old', old, '--new', now, ...args]);
    const { code, stdout } = await of('--fail-on', 'loosened');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /2 loosened · 1 stricter · 0 undecided\n\n🔓 g0 may decide by chat up to risk 0, until now never\n🔓 g1 may decide by chat up to risk 60, until now up to 40\n🔒 g2 may no longer decide by chat, until now up to risk 30\n✓ No decision changes/,
    );
    expect((await of('--format', 'markdown')).stdout).toContain('🔓 `g1` may decide by chat up to risk 60');
    expect(JSON.parse((await of('--json')).stdout).chat_limits).toEqual([
      { group: 'g0', direction: 'loosened', old: null, new: 0 },
      { group: 'g1', direction: 'loosened', old: 40, new: 60 },
      { group: 'g2', direction: 'stricter', old: 30, new: null },
    ]);
    expect(await of('--format', 'github')).toMatchObject({
      stdout: expect.stringMatching(/title=decision-loosened::g0 may decide by chat up to risk 0/),
    });
    const back = await writ(['diff', '--old', now, '--new', old, '--fail-on', 'loosened']);
    expect([back.code, back.stdout.includes('1 loosened · 2 stricter')]).toEqual([1, true]);
  });

  it('prints Markdown, SARIF and annotations', async () => {
    const of = async (format: string) =>
      (await writ(['diff', 'main~1', '--format', format], { cwd: root })).stdout;
    expect(await of('markdown')).toMatch(
      /^### Policies: `main~1\.\.files`\n[\s\S]*- when `payload\.amount > 10000 and <= 12000`/,
    );
    const { ruleId, locations } = JSON.parse(await of('sarif')).runs[0].results[0];
    expect(ruleId).toBe('decision-loosened');
    expect(locations[0].physicalLocation).toMatchObject({
      artifactLocation: { uri: 'policies/pay.policy' },
      region: { startLine: 5 },
    });
    expect(await of('github')).toMatch(
      /^::warning file=policies\/pay\.policy,line=5,.*title=decision-loosened::DENY → ALLOW/,
    );
  });

  it.each([
    [['main~1..main'], 0],
    [['main~1..main', '--fail-on', 'loosened'], 1],
    [['main..main~1', '--fail-on', 'loosened'], 0],
    [['main..main~1', '--fail-on', 'any'], 1],
    [['main..main', '--fail-on', 'any'], 0],
  ])('%j ends with %d', async (args, expected) => {
    const { code } = await writ(['diff', ...args], { cwd: root });
    expect(code).toBe(expected);
  });

  describe('with a change that is neither loosened nor stricter as far as is known', () => {
    const text = (guard: string): string => `action pay.make { a: number, b: number }
policy p on pay.make {
  allow all
  deny large when ${guard} > 12
}
`;
    const [old, now] = ['product', 'turned'].map((name) => join(root, `${name}.policy`)) as [string, string];
    const of = (...args: readonly string[]) => writ(['diff', '--old', old, '--new', now, ...args]);

    beforeAll(() => {
      writeFileSync(old, text('payload.a * payload.b'));
      writeFileSync(now, text('payload.b * payload.a'));
    });

    it.each([
      ['loosened', 0],
      ['stricter', 0],
      ['undecided', 1],
      ['loosened,undecided', 1],
      ['any', 1],
    ])('--fail-on %s ends with %d', async (kinds, expected) => {
      expect((await of('--fail-on', kinds)).code).toBe(expected);
    });

    it('separates undecided from loosened in every format', async () => {
      const { stdout } = await of();
      expect(stdout).toMatch(/0 loosened · 0 stricter · 2 undecided/);
      expect(stdout).toMatch(/^❓ undecided: DENY → ALLOW/m);
      expect((await of('--format', 'markdown')).stdout).toMatch(/^❓ \*\*undecided: DENY → ALLOW\*\*/m);
      const { loosened, undecided, findings } = JSON.parse((await of('--json')).stdout);
      expect([loosened, undecided]).toEqual([0, 2]);
      expect(findings.map(({ direction }: { direction: string }) => direction)).toEqual([
        'undecided',
        'undecided',
      ]);
      const { results } = JSON.parse((await of('--format', 'sarif')).stdout).runs[0];
      expect(results.map(({ ruleId }: { ruleId: string }) => ruleId)).toEqual([
        'decision-undecided',
        'decision-undecided',
      ]);
    });
  });

  it('refuses unknown kinds of changes', async () => {
    const { code, stderr } = await writ(['diff', 'main', '--fail-on', 'looser'], { cwd: root });
    expect(code).toBe(2);
    expect(stderr).toContain('--fail-on takes any, or loosened, stricter, undecided');
  });

  it('compares two folders without git', async () => {
    const other = join(root, 'other');
    cpSync(payments, other, { recursive: true });
    const file = join(other, 'payments.policy');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^ {2}deny [\s\S]*?(?=^ {2}\w)/m, ''));
    const { code, stdout } = await writ(['diff', '--old', payments, '--new', other]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/DENY → (ALLOW|ESCALATE)|No decision changes/);
  });

  it('names the side with errors', async () => {
    const { code, stderr } = await writ(['diff', 'main..broken'], { cwd: root });
    expect(code).toBe(1);
    expect(stderr).toContain('broken: the policies do not compile');
  });

  it.each([
    [['no-such'], 'git knows no revision `no-such` here'],
    [['main', 'nowhere'], '`nowhere` does not exist in `main`'],
    [['--old', 'policies'], 'give --old and --new together'],
    [['main', '--max', '0'], '--max takes a whole number from 1'],
  ])('%j is wrong usage', async (args, message) => {
    const { code, stderr } = await writ(['diff', ...args], { cwd: root });
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it('reports a missing repository, and how to compare without one', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'writ-diff-outside-'));
    cpSync(payments, join(outside, 'policies'), { recursive: true });
    const { code, stderr } = await writ(['diff'], { cwd: outside });
    rmSync(outside, { recursive: true });
    expect(stderr).toContain('is in no git repository; --old and --new compare two folders');
    expect(code).toBe(2);
  });

  it('reports that git is missing', async () => {
    const { code, stderr } = await writ(['diff'], { cwd: root, env: { PATH: '/nowhere' } });
    expect(stderr).toContain('git is not installed');
    expect(code).toBe(2);
  });
});
