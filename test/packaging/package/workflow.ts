// Runs by hand what the reusable workflow does on a pull request: a repository with only three policy files,
// in which the pull request loosens one rule, and each step that runs a command, in order.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { parse } from 'yaml';

interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly run?: string;
}

interface CheckedPullRequest {
  /** Exit codes by the names of the steps. */
  readonly codes: Readonly<Record<string, number | null>>;
  readonly said: string;
  /** The text on the summary page of the run. */
  readonly summary: string;
  readonly sarif: string;
}

/**
 * Steps that are left out: one installs Writ, which is a package folder in this test, and one calls GitHub.
 */
const left: readonly (string | undefined)[] = ['install', 'comment'];

const policy = (limit: number) => `policy vendor_payments on payment.create {
  allow small for 10m
    when payload.amount <= ${limit}
    because "A small payment"
}
`;
const files = {
  'policies/actions.policy': 'action payment.create { amount: number 0.. }\n',
  'policies/payments.policy': policy(100),
  'policies/payments.test.yaml': `tests:
  - name: small
    action: payment.create
    payload: { amount: 1 }
    expect: ALLOW
`,
};

/** Runs the workflow's steps; `writ` is the folder of the package. */
export async function checkPullRequest(writ: string): Promise<CheckedPullRequest> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-pull-request-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [place, temporary] = [join(folder, 'repository'), join(folder, 'temporary')];
  for (const path of [place, temporary]) mkdirSync(path);
  makeRepository(place);
  symlinkSync(writ, join(place, '.writ'));
  const [summary, output] = [join(folder, 'summary.md'), join(folder, 'output')];
  for (const path of [summary, output]) writeFileSync(path, '');
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    POLICIES: 'policies',
    STRICT: '--strict',
    COVERAGE_MIN: '50',
    FAIL_ON: '--fail-on=loosened',
    GITHUB_STEP_SUMMARY: summary,
    GITHUB_OUTPUT: output,
    RUNNER_TEMP: temporary,
  };
  const ran = stepsOfWorkflow().map(({ id, name, run = '' }) => {
    const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', run], {
      cwd: place,
      env,
      encoding: 'utf8',
    });
    return { name: name ?? id ?? run, status, said: stdout + stderr };
  });
  const sarif = join(place, 'writ.sarif');
  return {
    codes: Object.fromEntries(ran.map(({ name, status }) => [name, status])),
    said: ran.map(({ said }) => said).join(''),
    summary: readFileSync(summary, 'utf8'),
    sarif: existsSync(sarif) ? readFileSync(sarif, 'utf8') : '',
  };
}

function stepsOfWorkflow(): readonly Step[] {
  const text = readFileSync(join(import.meta.dirname, '../../../.github/workflows/policies.yml'), 'utf8');
  const { jobs } = parse(text) as {
    readonly jobs: { readonly policies: { readonly steps: readonly Step[] } };
  };
  return jobs.policies.steps.filter(({ id, name, run }) => run !== undefined && !left.includes(name ?? id));
}

/** HEAD is the merge of the pull request, `HEAD^1` the branch it is merged into. */
function makeRepository(place: string): void {
  const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
  const git = (...args: readonly string[]) =>
    execFileSync('git', [...identity, ...args], { cwd: place, stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch=main');
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  git('add', 'policies');
  git('commit', '--quiet', '--message', 'Policies');
  writeFileSync(join(place, 'policies/payments.policy'), policy(200));
  git('commit', '--quiet', '--all', '--message', 'More passes');
}
