// The hooks, the workflow and their documentation page use commands and options that exist, and agree on
// inputs and hooks.

import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { defineCheck as check } from '../../src/cli/commands/check.ts';
import { defineDiff as diff } from '../../src/cli/commands/diff.ts';
import { defineFmt as fmt } from '../../src/cli/commands/fmt.ts';
import { defineMatrix as matrix } from '../../src/cli/commands/matrix.ts';
import { defineOwners as owners } from '../../src/cli/commands/owners.ts';
import { defineSummary as summary } from '../../src/cli/commands/summary.ts';
import { defineTest as test } from '../../src/cli/commands/test.ts';

const commands: Readonly<Record<string, typeof check>> = { check, diff, fmt, matrix, owners, summary, test };

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

interface Hook {
  readonly id: string;
  readonly entry: string;
  readonly language: string;
  readonly files: string;
  readonly args?: readonly string[];
}

interface Workflow {
  readonly on: { readonly workflow_call: { readonly inputs: Readonly<Record<string, unknown>> } };
  readonly jobs: { readonly policies: { readonly steps: readonly { readonly run?: string }[] } };
}

const hooks: readonly Hook[] = parse(read('.pre-commit-hooks.yaml'));
const workflow: Workflow = parse(read('.github/workflows/policies.yml'));
const page = read('docs/CI.md');

/** The YAML examples of the page, in order; the first shows owners. */
const [, hookExample, workflowExample] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(
  ([, text]): unknown => parse(text!),
);

/** Options in a command line that its command does not have. */
function strangers(line: string): readonly string[] {
  const [, name = '', rest = ''] = /(?:writ|writ\.js) (\w+)(.*)$/.exec(line) ?? [];
  const command = new Command(name);
  commands[name]!(command, () => undefined);
  const known = command.options.map(({ long }) => long);
  return (rest.match(/--[a-z-]+/g) ?? []).filter((option) => !known.includes(option));
}

describe('the gate', () => {
  it('calls only existing files', () => {
    const lines = [
      ...hooks.map(({ entry, args = [] }) => [entry, ...args].join(' ')),
      ...workflow.jobs.policies.steps.flatMap(({ run }) => (run?.includes('writ.js') ? [run] : [])),
      ...(page.match(/`writ [^`]+`|^npx --no writ .+/gm) ?? []).map((line) => line.replaceAll('`', '')),
    ];
    expect(lines.length).toBeGreaterThan(12);
    expect(lines.flatMap((line) => strangers(line.replace('$STRICT', '--strict')))).toEqual([]);
  });

  it('shows hooks and inputs that exist', () => {
    expect(hookExample).toMatchObject({ repos: [{ hooks: hooks.map(({ id }) => ({ id })) }] });
    const { inputs } = workflow.on.workflow_call;
    const { jobs } = workflowExample as { jobs: { policies: { with: object } } };
    expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(jobs.policies.with)));
    for (const input of Object.keys(inputs)) expect(page).toContain(`\`${input}\``);
  });

  it('runs for changes of policies, and never puts an input into a script', () => {
    const runs = (path: string) =>
      hooks.filter(({ files }) => new RegExp(files).test(path)).map(({ id }) => id);
    expect(runs('a/b.policy')).toEqual(['writ-fmt', 'writ-check', 'writ-test']);
    expect(runs('policies/lists/vendors.txt')).toEqual(['writ-check', 'writ-test']);
    expect(runs('a/b.test.yaml')).toEqual(['writ-test']);
    expect(runs('src/main.ts')).toEqual([]);
    for (const { run = '' } of workflow.jobs.policies.steps) expect(run).not.toContain('${{');
  });
});
