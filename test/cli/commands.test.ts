// The commands as a user runs them: output and exit code of the real process.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFolder } from '../service/policies/folder.ts';
import { walkHelp } from './help-walk.ts';
import { writ } from './writ.ts';

const policy = `action a.b {
  n:     integer
  note?: string
}

approvers finance "Finance"

meter spent = sum(payload.n) of a.b per agent over 24h

policy p on a.b {
  allow small for 10m
    when payload.n < 100
    unless payload has note

  escalate medium to finance
    when payload.n >= 10 and agent.risk_tier in ["high", "critical"]
    risk +30

  deny budget
    when spent > 50
}
`;

const tests = `defaults: { agent: { risk_tier: low }, meters: { spent: 0 } }
tests:
  - { name: good, action: a.b, payload: { n: 5 }, expect: ALLOW }
`;

describe('the command line', () => {
  it('suggests the nearest command or option after a typing error', async () => {
    const [command, option, none] = await Promise.all([writ(['chekc']), writ(['check', '--jsn']), writ([])]);
    expect(command).toMatchObject({
      code: 2,
      stderr: "error: unknown command 'chekc'\n(Did you mean check?)\n",
    });
    expect(option).toMatchObject({
      code: 2,
      stderr: "error: unknown option '--jsn'\n(Did you mean --json?)\n",
    });
    expect(none.code).toBe(2);
  });

  it('shows the help of every command, with examples', async () => {
    const { count, faults } = await walkHelp(writ);
    expect(faults).toEqual([]);
    expect(count).toBeGreaterThan(80);
  });

  it('shows no default for options without one', async () => {
    const { stdout } = await writ(['serve', '--help']);
    expect(stdout).toMatch(/such as\s+10\.0\.0\.0\/8\n/);
    expect(stdout).not.toContain('(default: )');
  });

  it('prints its version, by option and by command', async () => {
    const [flag, word] = await Promise.all([writ(['--version']), writ(['version'])]);
    expect(flag.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(word).toEqual(flag);
  });

  it('names a missing request before a missing comment', async () => {
    for (const vote of ['approve', 'reject']) {
      const [noId, noComment] = await Promise.all([writ([vote]), writ([vote, 'x'])]);
      expect(noId).toMatchObject({ code: 2, stderr: "error: missing required argument 'id'\n" });
      expect(noComment).toMatchObject({
        code: 2,
        stderr: 'error: --comment TEXT is required: the reason, recorded with your vote\n',
      });
    }
  });

  it('has a help page as a whole and for each command', async () => {
    const [whole, one] = await Promise.all([writ(['--help']), writ(['help', 'decide'])]);
    expect(whole.code).toBe(0);
    for (const name of ['serve', 'check', 'test', 'decide', 'agent', 'dump'])
      expect(whole.stdout).toContain(name);
    expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining('Examples:') });
  });

  it.each([60, 80])('fits the help into %s columns', async (columns) => {
    const names = ['serve', 'mcp', 'check', 'audit', 'decide', 'agent', 'hook'];
    const shown = await Promise.all(
      names.map((name) => writ([name, '--help'], { env: { COLUMNS: String(columns) } })),
    );
    // A word, a value in quotes and the name of a package are not broken.
    const tooLong = shown
      .flatMap(({ stdout }) => stdout.split('\n'))
      .filter((line) => line.length > columns && !/^ +(\S+$|.*['@])/.test(line));
    expect(tooLong).toEqual([]);
  });

  it('wraps paragraphs as a whole, and shows defaults as they are typed', async () => {
    const { stdout } = await writ(['infer', '--help'], { env: { COLUMNS: '80' } });
    expect(stdout).toContain('or part\nof the requests is unreadable, 2 wrong usage.\n');
    expect(stdout).not.toContain('default: []');
    const { stdout: suggest } = await writ(['suggest', '--help'], { env: { COLUMNS: '80' } });
    expect(suggest).toContain('(default: ./var)');
  });

  it('breaks an example only before its parts, and groups no commands of a command', async () => {
    const { stdout } = await writ(['store', '--help']);
    expect(stdout).toContain('\n  writ store copy \\\n      --to postgres://');
    expect(stdout.match(/^\S.*:$/gm)).toEqual(['Options:', 'Commands:', 'Examples:']);
  });

  it('groups the commands by what people do with them', async () => {
    const { stdout } = await writ(['--help']);
    expect(stdout.match(/^\S.*:$/gm)).toEqual([
      'Options:',
      'Write and check policies:',
      'Run a service:',
      'Connect agents:',
      'Work with a running service:',
      'Editors and shells:',
    ]);
  });

  it('exits silently when its reader leaves', async () => {
    const folder = createFolder({ 'a.policy': policy + '# x\n'.repeat(50_000) });
    const entry = join(import.meta.dirname, '../../src/cli/writ.js');
    const child = spawn(process.execPath, [entry, 'dump', '--stage', 'tree', folder]);
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.stdout.once('data', () => child.stdout.destroy());
    await new Promise((resolve) => child.once('close', resolve));
    expect(stderr).toBe('');
  });
});

describe('writ check', () => {
  it('confirms valid policies, or shows errors with their places', async () => {
    const good = createFolder({ 'a.policy': policy });
    const bad = createFolder({ 'a.policy': policy.replace('payload.n >= 10', 'payload.m >= 10') });
    const [fine, wrong, json] = await Promise.all([
      writ(['check', good]),
      writ(['check', bad]),
      writ(['check', bad, '--json']),
    ]);
    expect(fine.code).toBe(0);
    expect(fine.stdout).toMatch(/: 1 action, 1 policy, 3 rules digest [0-9a-f]{12}\n$/);
    expect(wrong.code).toBe(1);
    expect(wrong.stdout).toContain(' --> a.policy:16:18');
    expect(wrong.stdout).toMatch(/\n1 error\n· the other warnings and [^\n]*\n$/);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: false,
      digest: null,
      files: ['a.policy'],
      diagnostics: [{ severity: 'error', file: 'a.policy', start: { line: 16, column: 18 } }],
    });
  });

  it('treats warnings as errors with --strict', async () => {
    const folder = createFolder({ 'a.policy': `${policy}\nlist unused = ["x"]\n` });
    const [lenient, strict] = await Promise.all([
      writ(['check', folder]),
      writ(['check', folder, '--strict']),
    ]);
    expect(lenient).toMatchObject({ code: 0, stdout: expect.stringContaining('warning[') });
    expect(strict.code).toBe(1);
    expect(strict.stdout).toContain('warning[unused-declaration]');
    expect(strict.stdout).toContain(`✗ ${folder}: 3 warnings; 1 action`);
    expect(strict.stdout).toContain('· a strict check counts warnings as errors');
    const { stdout } = await writ(['check', folder, '--strict', '--format', 'github']);
    expect(stdout).toContain('::error ');
  });

  it('begins with what is refuted', async () => {
    const folder = createFolder({
      'a.policy': `action a.b { n: integer 0..9 }
policy p on a.b { allow small when payload.n < 5 }
guarantee g on a.b { never allow when payload.n < 2 never deny never reauth }
`,
    });
    const { code, stdout } = await writ(['check', folder]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ .*: 2 of 3 claims refuted; 1 action, 1 policy, 1 rule digest/);
  });

  it('names the reasons of an undecided guarantee, and exits with 1 only with --strict', async () => {
    const folder = createFolder({
      'a.policy': `action a.b { x: string, y: string }
policy p on a.b { allow short when length(payload.x) < 5 and payload.x contains payload.y }
guarantee g on a.b { never allow when lower(payload.y) matches '.*Z.*' }
`,
    });
    const [lenient, strict] = await Promise.all([
      writ(['check', folder]),
      writ(['check', folder, '--strict']),
    ]);
    expect([lenient.code, strict.code]).toEqual([0, 1]);
    const help = '    help: write the claim without these conditions, or replace them with simpler ones\n';
    const note = '· a strict check counts undecided guarantees as errors\n';
    expect(lenient.stdout).toContain(help);
    expect(lenient.stdout).not.toContain(note);
    expect(strict.stdout).toMatch(/^\? g: .* undecided a\.policy:3\n {4}it depends on conditions/m);
    expect(strict.stdout).toContain(help);
    expect(strict.stdout.endsWith(note)).toBe(true);
  });

  it('names the folded text for a claim about a list that ignores case', async () => {
    const checked = async (claim: string) =>
      writ([
        'check',
        createFolder({
          'a.policy': `action a.b { x: string 1..20, n: integer 0..9 }
list gold ignoring case = ["gold-100"]
policy p on a.b {
  allow small when payload.n < 5
  deny golden when payload.x in gold
}
guarantee g on a.b { never allow when ${claim} }
`,
        }),
        '--strict',
      ]);
    const undecided = await checked('lower(payload.x) == "gold-100"');
    expect(undecided.code).toBe(1);
    expect(undecided.stdout).toContain(
      '    help: `gold` ignores case: compare `fold(payload.x)` in the claim, with a text as `fold` gives it; write the claim without',
    );
    expect((await checked('fold(payload.x) == "gold-100"')).code).toBe(0);
  });

  it('shows errors with the warnings of other policies, and says that more warnings may follow', async () => {
    const folder = createFolder({
      'a.policy': `${policy}\npolicy wrong on a.b { deny x when payload.m == 1 }\n`,
      'b.policy': 'policy q on a.b { deny odd when payload.n < 3 and payload.n > 5 }\n',
    });
    const { code, stdout } = await writ(['check', folder]);
    expect(code).toBe(1);
    expect(stdout).toContain('error[unknown-field]');
    expect(stdout).toContain('warning[never-true]');
    expect(stdout).toMatch(
      /· the other warnings and the guarantees are checked once the errors are fixed\n$/,
    );
  });
});

describe('writ test', () => {
  it('reports passed and failed tests, and writes reports for build servers', async () => {
    const good = createFolder({ 'a.policy': policy, 'a.test.yaml': tests });
    const bad = createFolder({ 'a.policy': policy, 'a.test.yaml': tests.replace('ALLOW', 'DENY') });
    const junit = join(bad, 'report.xml');
    const [fine, wrong, filtered, uncovered] = await Promise.all([
      writ(['test', '--coverage'], { cwd: good }),
      writ(['test', bad, '--junit', junit, '--json']),
      writ(['test', bad, '-t', 'nothing is called like this']),
      writ(['test', good, '--coverage-min', '90']),
    ]);
    expect(fine).toMatchObject({ code: 0, stdout: expect.stringContaining('coverage 50 %') });
    expect(wrong.code).toBe(1);
    expect(JSON.parse(wrong.stdout)).toMatchObject({
      failed: 1,
      files: [{ cases: [{ name: 'good', outcome: 'failed', differences: [{ field: 'decision' }] }] }],
    });
    expect(readFileSync(junit, 'utf8')).toContain('<failure');
    expect(filtered).toMatchObject({
      code: 1,
      stderr: 'no case name contains `nothing is called like this`\n',
    });
    expect(uncovered).toMatchObject({ code: 1, stderr: 'coverage is 50 %, less than 90 %\n' });
  });
});

describe('writ decide', () => {
  const folder = (): string => createFolder({ 'a.policy': policy, 'payload.json': '{"n": 5}' });

  it('prints the decision and the reason', async () => {
    const policies = folder();
    const asked = ['--action', 'a.b', '--agent', '{"risk_tier": "high"}'];
    const args = ['decide', '--trace', '--policies', policies, ...asked];
    const [allowed, pending] = await Promise.all([
      writ([...args, '--payload', `@${policies}/payload.json`, '--meters', '{"spent": 0}']),
      writ([...args, '--payload', '-', '--meters', '{"spent": [0, 50]}'], { stdin: '{"n": 10}' }),
    ]);
    expect(allowed.code).toBe(0);
    expect(allowed.stdout).toContain(`ALLOW by p/small
  Small
  risk 0, valid for 10m

true    allow    p/small (decides)
  true    payload.n < 100
            payload.n = 5
  true    unless payload has note
    false   payload has note
false   deny     p/budget
  false   spent > 50
            spent = 0
false   escalate p/medium
  false   payload.n >= 10 and agent.risk_tier in ["high", "critical"]
    false   payload.n >= 10
              payload.n = 5

`);
    expect(pending.code).toBe(3);
    expect(pending.stdout).toContain(
      'ESCALATE by p/medium\n  Medium\n  risk 30, needs 1 of finance within 24h\n',
    );
  });

  it('accepts a whole request, and prints JSON', async () => {
    const request = { action: 'a.b', payload: { n: 10 }, agent: { risk_tier: 'high' }, meters: { spent: 0 } };
    const args = ['decide', '--policies', folder(), '--json'];
    const [known, unknown] = await Promise.all([
      writ(args, { stdin: JSON.stringify(request) }),
      writ([...args, '--unknown', 'meters.spent'], { stdin: JSON.stringify(request) }),
    ]);
    expect(JSON.parse(known.stdout)).toMatchObject({
      decision: { outcome: 'ESCALATE', by: 'p/medium' },
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      rules: [
        { rule: 'p/budget', truth: 'false', condition: { text: 'spent > 50', file: 'a.policy', line: 20 } },
        { rule: 'p/medium', truth: 'true' },
        { rule: 'p/small', truth: 'true' },
      ],
    });
    expect(JSON.parse(unknown.stdout)).toMatchObject({ decision: { outcome: 'DENY', by: 'p/budget' } });
  });

  it('suggests the nearest declared action', async () => {
    const args = ['decide', '--policies', folder(), '--payload', '{}', '--action'];
    const [near, far] = await Promise.all([writ([...args, 'a.c']), writ([...args, 'payment.create'])]);
    expect(near).toMatchObject({
      code: 3,
      stdout: 'DENY by undeclared_action\n  Action a.c is not declared\n  did you mean `a.b`?\n  risk 100\n',
    });
    expect(far.stdout).not.toContain('did you mean');
  });

  it('reports a missing file in words', async () => {
    const { code, stderr } = await writ(['decide', '--action', 'a.b', '--payload', '@nowhere.json']);
    expect([code, stderr]).toEqual([
      2,
      'error: cannot read nowhere.json (--payload): there is no such file\n',
    ]);
  });

  it('reports invalid input in one line', async () => {
    const args = ['decide', '--policies', folder(), '--action', 'a.b'];
    const [twice, fact, broken] = await Promise.all([
      writ([...args, '--payload', '{"n": 1, "n": 2}']),
      writ([...args, '--meters', '{"spend": 1}', '--agent', '{"tier": "low"}']),
      writ(['decide', '--policies', createFolder({ 'a.policy': 'policy' }), '--action', 'a.b']),
    ]);
    expect(twice).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--payload is not JSON'),
    });
    expect(fact).toMatchObject({ code: 2, stderr: expect.stringContaining('`agent` has no key `tier`') });
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining('a.policy:1:') });
  });
});

describe('writ dump', () => {
  it('prints each stage', async () => {
    const folder = createFolder({ 'a.policy': policy });
    const stages = ['tokens', 'tree', 'model', 'program', 'function'];
    const ran = await Promise.all(stages.map((stage) => writ(['dump', '--stage', stage, folder])));
    expect(ran.map(({ code, stderr }) => [code, stderr])).toEqual(stages.map(() => [0, '']));
    const [tokens, tree, model, program, code] = ran.map(({ stdout }) => stdout) as [
      string,
      string,
      string,
      string,
      string,
    ];
    expect(tokens.split('\n')[0]).toBe('a.policy:1:1\tAction\t"action"');
    expect(JSON.parse(tree)).toMatchObject([{ kind: 'file', span: { file: 'a.policy' } }]);
    expect(JSON.parse(model)).toMatchObject({
      actions: { 'a.b': { key: 'a.b' } },
      policies: [{ name: 'p' }],
    });
    expect(program).toContain('deny p/budget');
    expect(code).toContain('// a.b\n');
  });
});

describe('writ agent', () => {
  it('registers, lists, disables and enables', async () => {
    const data = createFolder();
    const agent = (...args: readonly string[]) => writ(['agent', ...args, '--data', data]);
    // A misspelt directory does not become an empty store.
    expect(await agent('list')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no store'),
    });
    expect((await agent('rotate', 'buyer', '--leaked')).stderr).toContain('name the data directory');
    expect(readdirSync(data)).toEqual([]);
    const added = await agent(
      'add',
      'buyer',
      '--tier',
      'low',
      '--owner',
      'ops@example.com',
      '--tag',
      'x',
      '--json',
    );
    expect(added).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^created a new store at /),
    });
    expect(await writ(['agents', 'list', '--data', data])).toEqual(await agent('list'));
    const { agent: made, api_key: key } = JSON.parse(added.stdout);
    expect(key).toMatch(/^writ_[0-9A-Za-z]{46}$/);
    expect(made).toMatchObject({ name: 'buyer', risk_tier: 'low', tags: ['x'], status: 'active' });
    expect(await agent('add', 'buyer', '--tier', 'low', '--owner', 'ops@example.com')).toMatchObject({
      code: 1,
      stderr: 'error: name: another agent has this name\n',
    });
    expect((await agent('disable', 'buyer')).stdout).toBe('buyer is disabled\n');
    const { stdout } = await agent('list', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'buyer', status: 'disabled' }]);
    expect(stdout).not.toContain(key);
    expect((await agent('enable', made.id)).stdout).toBe('buyer is active\n');
    const rate = await agent('rate', 'buyer', '--per-minute', '600', '--burst', '100');
    expect([rate.code, rate.stdout]).toEqual([0, 'the rate of buyer: 600/min,100\n']);
    expect((await agent('list')).stdout).toContain('600/min,100');
    expect((await agent('rate', 'buyer', '--burst', 'default')).stdout).toBe(
      'the rate of buyer: 600/min,-\n',
    );
    expect(await agent('enable', 'nobody')).toMatchObject({
      code: 1,
      stderr: 'error: there is no agent `nobody`\n',
    });
  });
});
