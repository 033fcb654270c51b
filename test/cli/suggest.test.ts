// `writ suggest`: suggestions as a user sees them, and a patch that git applies.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFolder } from '../service/policies/folder.ts';
import { writ } from './writ.ts';

const policy = `action a.b {
  n:    integer 1..100
  name: string ..40
}

list names = ["ann"] # who may

policy p on a.b {
  allow known
    when payload.name in names and payload.n <= 10
    because "Known"
}
`;

const test = `tests:
  - { name: bob is unknown, action: a.b, payload: { n: 1, name: bob }, expect: DENY }
  - { name: ann is known, action: a.b, payload: { n: 1, name: ann }, expect: ALLOW }
`;

const payload = '{"n": 1, "name": "bob"}';

function folder(): string {
  return createFolder({ 'a.policy': policy, 'a.test.yaml': test });
}

describe('writ suggest', () => {
  it('shows each change with what it allows besides, the tests that it breaks, and its patch', async () => {
    const ran = await writ(['suggest', '--action', 'a.b', '--payload', payload], { cwd: folder() });
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toMatch(/^DENY by default_deny: /);
    expect(ran.stdout).toContain('adds "bob" to the list `names`\n');
    expect(ran.stdout).toContain('the request is then ALLOW by p/known\n');
    expect(ran.stdout).toContain('1 test fails then: `bob is unknown`\n');
    expect(ran.stdout).toContain('DENY → ALLOW   a.b\n');
    expect(ran.stdout).toContain('-list names = ["ann"] # who may\n+list names = ["ann", "bob"] # who may\n');
  });

  it('prints a patch that git applies, after which the request is allowed and the policies are in order', async () => {
    const cwd = folder();
    const all = await writ(['suggest', '--action', 'a.b', '--payload', payload, '--json'], { cwd });
    const { suggestions } = JSON.parse(all.stdout) as { suggestions: { kind: string; patch: string }[] };
    const number = suggestions.findIndex(({ kind }) => kind === 'list') + 1;
    const args = ['suggest', '--action', 'a.b', '--payload', payload, '--patch', String(number)];
    const { stdout } = await writ(args, { cwd });
    expect(stdout).toBe(suggestions[number - 1]!.patch);
    execFileSync('git', ['apply'], { cwd, input: stdout });
    expect(readFileSync(join(cwd, 'a.policy'), 'utf8')).toBe(policy.replace('"ann"', '"ann", "bob"'));
    expect(await writ(['check', '--strict', '.'], { cwd })).toMatchObject({ code: 0 });
    expect(await writ(['fmt', '--check', '.'], { cwd })).toMatchObject({ code: 0 });
    const decided = await writ(['decide', '--action', 'a.b', '--payload', payload], { cwd });
    expect(decided.code).toBe(0);
  });

  it('counts the requests of a log that each suggestion would decide differently', async () => {
    const cwd = createFolder({
      'a.policy': policy,
      'request.json': `{"action": "a.b", "payload": ${payload}}`,
    });
    const ran = await writ(['suggest', 'request.json', '--log', 'none.jsonl'], { cwd });
    expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot read `none.jsonl`') });
    const since = await writ(['suggest', 'request.json', '--since', '3d'], { cwd });
    expect(since).toMatchObject({ code: 2, stderr: expect.stringContaining('--since needs --log') });
  });

  it('reports that the request is allowed already, and that there is no suggestion', async () => {
    const cwd = createFolder({
      'a.policy': `${policy}\nguarantee few on a.b {\n  never allow when payload.n > 10\n}\n`,
    });
    const ask = (n: number) =>
      writ(['suggest', '--action', 'a.b', '--payload', `{"n": ${n}, "name": "ann"}`], { cwd });
    expect(await ask(1)).toMatchObject({ code: 0, stdout: expect.stringContaining('is allowed already') });
    const forbidden = await ask(11);
    expect(forbidden.code).toBe(1);
    expect(forbidden.stdout).toContain('few: never allow when payload.n > 10\n');
    expect(forbidden.stdout).toContain('No change is suggested');
  });

  it('refuses a request that is neither an id nor a file, and a patch without a suggestion', async () => {
    const cwd = folder();
    expect(await writ(['suggest', 'nothing'], { cwd })).toMatchObject({ code: 2 });
    const args = ['suggest', '--action', 'a.b', '--payload', payload, '--patch', '9'];
    expect(await writ(args, { cwd })).toMatchObject({ code: 1, stderr: 'error: there is no suggestion 9\n' });
  });
});
