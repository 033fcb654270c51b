// What `writ check` prints for build servers, and the fixes that it applies.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { findingsOf } from '../../src/analysis/findings/findings.ts';
import { fixPolicies } from '../../src/cli/support/apply-fixes.ts';
import { toGithub } from '../../src/cli/support/github.ts';
import { loadCompiled } from '../../src/cli/support/load-policies.ts';
import { toSarif } from '../../src/cli/support/sarif.ts';
import { codes } from '../../src/language/diagnostic/codes.ts';
import { compile, type PolicySources } from '../../src/pipeline.ts';
import { createFolder } from '../service/policies/folder.ts';
import { writ } from './writ.ts';

const broken = `action a.b {
  n:     integer 0..10
  kind:  "low" | "high"
}

policy p on a.b {
  allow small
    because "x"
    when payload.m < 5 && payload.kind == "low"
}

list a, "b" = ["x"]
`;

const claimed = `action a.b {
  n: integer 0..10
}

policy p on a.b {
  allow small
    when payload.n < 5
}

guarantee none on a.b {
  never allow when payload.n > 3
}
`;

// ---- the part of the SARIF 2.1.0 schema that our log may use, closed to everything else

const closed = { additionalProperties: false };
const count = Type.Integer({ minimum: 1 });
const message = Type.Object({ text: Type.String({ minLength: 1 }) }, closed);
const artifact = Type.Object(
  { uri: Type.String({ pattern: '^[!-~]+$' }), uriBaseId: Type.Optional(Type.String()) },
  closed,
);
const region = Type.Object(
  { startLine: count, startColumn: count, endLine: count, endColumn: count },
  closed,
);
const physicalLocation = Type.Object({ artifactLocation: artifact, region: Type.Optional(region) }, closed);
const replacement = Type.Object(
  { deletedRegion: region, insertedContent: Type.Object({ text: Type.String() }, closed) },
  closed,
);
const change = Type.Object(
  { artifactLocation: artifact, replacements: Type.Array(replacement, { minItems: 1 }) },
  closed,
);
const result = Type.Object(
  {
    ruleId: Type.String(),
    ruleIndex: Type.Integer({ minimum: 0 }),
    level: Type.Union([Type.Literal('error'), Type.Literal('warning')]),
    message,
    locations: Type.Array(Type.Object({ physicalLocation }, closed)),
    relatedLocations: Type.Optional(
      Type.Array(Type.Object({ id: Type.Integer({ minimum: 0 }), physicalLocation, message }, closed)),
    ),
    fixes: Type.Optional(
      Type.Array(
        Type.Object({ description: message, artifactChanges: Type.Array(change, { minItems: 1 }) }, closed),
      ),
    ),
  },
  closed,
);
const help = Type.Object({ text: Type.String({ minLength: 1 }), markdown: Type.String() }, closed);
const rule = Type.Object({ id: Type.String(), shortDescription: message, help: Type.Optional(help) }, closed);
const driver = Type.Object(
  { name: Type.String(), semanticVersion: Type.String(), rules: Type.Array(rule, { uniqueItems: true }) },
  closed,
);
const notification = Type.Object({ level: Type.Literal('note'), message }, closed);
const invocation = Type.Object(
  { executionSuccessful: Type.Literal(true), toolExecutionNotifications: Type.Array(notification) },
  closed,
);
const run = Type.Object(
  {
    tool: Type.Object({ driver }, closed),
    columnKind: Type.Literal('unicodeCodePoints'),
    invocations: Type.Optional(Type.Array(invocation, { minItems: 1 })),
    results: Type.Array(result),
  },
  closed,
);
const log = Type.Object(
  { $schema: Type.String(), version: Type.Literal('2.1.0'), runs: Type.Array(run) },
  closed,
);

function readLog(text: string) {
  const value: unknown = JSON.parse(text);
  expect([...Value.Errors(log, value)]).toEqual([]);
  return Value.Parse(log, value);
}

describe('SARIF', () => {
  it('has a rule for every code, and a place and a fix for each finding', async () => {
    const folder = createFolder({ 'über/a b.policy': broken });
    const { code, stdout } = await writ(['check', 'über', '--format', 'sarif'], { cwd: folder });
    expect(code).toBe(1);
    const { tool, results } = readLog(stdout).runs[0]!;
    expect(tool.driver.rules.map(({ id }) => id)).toEqual([
      ...Object.keys(codes),
      'guarantee-refuted',
      'guarantee-undecided',
      'decision-loosened',
      'decision-stricter',
      'decision-undecided',
    ]);
    for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
    const page = tool.driver.rules.find(({ id }) => id === 'foreign-operator')?.help?.markdown;
    expect(page).toMatch(/^# foreign-operator\n/);
    expect(page).not.toContain('](README.md');
    const location = {
      artifactLocation: { uri: '%C3%BCber/a%20b.policy', uriBaseId: '%SRCROOT%' },
      region: { startLine: 9, startColumn: 24, endLine: 9, endColumn: 26 },
    };
    expect(results.find(({ ruleId }) => ruleId === 'foreign-operator')).toEqual({
      ruleId: 'foreign-operator',
      ruleIndex: Object.keys(codes).indexOf('foreign-operator'),
      level: 'error',
      message: { text: '`&&` is written `and` here\nhelp: write `and`' },
      locations: [{ physicalLocation: location }],
      fixes: [
        {
          description: { text: 'write `and`' },
          artifactChanges: [
            {
              artifactLocation: location.artifactLocation,
              replacements: [{ deletedRegion: location.region, insertedContent: { text: 'and' } }],
            },
          ],
        },
      ],
    });
  });

  it('contains findings without a file, related places, and refuted guarantees', async () => {
    const twice = createFolder({ 'a.policy': 'group g\ngroup g\n' });
    const logs = await Promise.all([
      sarifOf('/nowhere'),
      sarifOf(twice),
      writ(['check', '--format', 'sarif'], { cwd: createFolder({ 'a.policy': claimed }) }).then(
        ({ stdout }) => readLog(stdout),
      ),
    ]);
    const [nowhere, related, refuted] = logs.map(({ runs }) => runs[0]!.results[0]!);
    expect(nowhere).toMatchObject({
      ruleId: 'directory-unreadable',
      locations: [{ physicalLocation: { artifactLocation: { uri: 'file:///nowhere' } } }],
    });
    expect(related?.relatedLocations).toMatchObject([
      { id: 0, physicalLocation: { region: { startLine: 1 } } },
    ]);
    expect(refuted).toMatchObject({
      ruleId: 'guarantee-refuted',
      message: { text: expect.stringContaining('`never allow when payload.n > 3` is refuted') },
      locations: [{ physicalLocation: { region: { startLine: 11, startColumn: 3 } } }],
    });
  });

  it('doubles braces, which would begin a place for an argument', () => {
    const finding = {
      message: 'found `{`',
      code: 'unexpected-token',
      severity: 'error',
      file: 'a.policy',
    } as const;
    const rest = { start: null, end: null, help: null, related: [], fix: null };
    expect(toSarif([{ ...finding, ...rest }], () => null)).toMatchObject({
      runs: [{ results: [{ message: { text: 'found `{{`' } }] }],
    });
  });
});

async function sarifOf(path: string) {
  const { read, diagnostics } = await loadCompiled(path);
  return readLog(
    JSON.stringify(toSarif(findingsOf({ path, read, diagnostics, claims: [], isStrict: false }), () => null)),
  );
}

describe('annotations', () => {
  it('are one line each, whatever the file contains', async () => {
    const folder = createFolder({ 'a,b:c.policy': broken });
    const { code, stdout } = await writ(['check', '.', '--format', 'github'], { cwd: folder });
    const lines = stdout.trimEnd().split('\n');
    expect(code).toBe(1);
    expect(lines.filter((line) => !line.startsWith('::'))).toEqual([]);
    expect(lines).toContain(
      '::error file=a%2Cb%3Ac.policy,line=9,col=24,endLine=9,endColumn=26,title=foreign-operator::`&&` is written `and` here%0Ahelp: write `and`',
    );
  });

  it('escape line breaks and commands, and have columns only for single lines', () => {
    const text = toGithub([
      {
        code: 'never-true',
        severity: 'warning',
        message: '100 %\r::set-env name=x::y',
        file: 'a.policy',
        start: { line: 1, column: 2 },
        end: { line: 3, column: 4 },
        help: null,
        related: [{ file: 'b.policy', start: { line: 7, column: 1 }, end: null, message: 'here' }],
        fix: null,
      },
    ]);
    expect(text).toBe(
      '::warning file=a.policy,line=1,endLine=3,title=never-true::100 %25\\u{d}::set-env name=x::y%0Anote: here (b.policy:7)\n',
    );
  });
});

describe('what was left out', () => {
  it('is reported to people and to build servers', async () => {
    const rules = Array.from({ length: 301 }, (_, at) => `  allow r${at} when payload.n == ${at}`);
    const folder = createFolder({
      'a.policy': `action a.b { n: integer }\npolicy p on a.b {\n${rules.join('\n')}\n}\n`,
    });
    const said =
      'did not look for all needless rules and conditions, because there are many: a.b (`writ check --thorough` does)';
    const checked = async (format: string): Promise<string> =>
      (await writ(['check', '.', '--format', format], { cwd: folder })).stdout;
    const [text, github, sarif] = await Promise.all(['text', 'github', 'sarif'].map(checked));
    expect(text).toContain(`\n· ${said}\n`);
    expect(github!.split('\n')).toContain(`::notice::${said}`);
    const [{ invocations }] = readLog(sarif!).runs as [ReturnType<typeof readLog>['runs'][number]];
    expect(invocations?.[0]?.toolExecutionNotifications).toEqual([
      { level: 'note', message: { text: said } },
    ]);
  });
});

describe('writ check --fix', () => {
  it('fixes repeatedly until no fix is offered', () => {
    const { texts, applied, diagnostics } = fixed({ 'a.policy': broken });
    expect(texts['a.policy']).toContain(`  allow small
    when payload.n < 5 and payload.kind == "low"
    because "x"
`);
    // In the first round the clauses change places, which covers the fixes inside of them.
    expect(applied).toEqual(['9:5 clause-order', '8:18 unknown-field', '8:24 foreign-operator']);
    expect(diagnostics).toContain('unexpected-token');
  });

  it('leaves out the fix that would add an error, and applies the others', () => {
    const text = `action a.b {
  note: string
  n:    integer 0..10
}

policy p on a.b {
  allow small
    when payload.nota < 5 && payload.n in 0..5
}
`;
    const { texts, applied } = fixed({ 'a.policy': text });
    expect(texts['a.policy']).toBe(text.replace('&&', 'and'));
    expect(applied).toEqual(['8:27 foreign-operator']);
  });

  it('applies one of two fixes for one place', () => {
    const { texts } = fixed({
      'a.policy':
        'action a.b { n: integer m: integer }\npolicy p on a.b { allow x when payload.n > payload.m }\n',
    });
    expect(texts['a.policy']).toContain('{ n: integer, m: integer }');
  });

  it('shows a diff in a dry run, and otherwise writes', async () => {
    const folder = createFolder({ 'a.policy': broken.replace(/\nlist.*\n/, '') });
    const dry = await writ(['check', '--fix', '--dry-run'], { cwd: folder });
    expect(dry.stdout).toContain('\n+    when payload.n < 5 and payload.kind == "low"\n');
    expect(dry.stdout).toContain('\nwould fix a.policy:9:5 clause-order: put the clauses in order\n');
    expect(readFileSync(join(folder, 'a.policy'), 'utf8')).toContain('&&');
    const [wet, alone] = await Promise.all([
      writ(['check', '--fix', '--json'], { cwd: folder }),
      writ(['check', '--dry-run'], { cwd: folder }),
    ]);
    expect(wet.code).toBe(0);
    expect(JSON.parse(wet.stdout)).toMatchObject({
      ok: true,
      fixed: expect.arrayContaining([
        {
          code: 'clause-order',
          file: 'a.policy',
          start: { line: 9, column: 5 },
          title: 'put the clauses in order',
        },
      ]),
    });
    expect(wet.stderr).toContain('fixed a.policy:9:5 clause-order');
    expect(readFileSync(join(folder, 'a.policy'), 'utf8')).toContain(
      'when payload.n < 5 and payload.kind == "low"',
    );
    expect(alone).toMatchObject({ code: 2, stderr: 'error: --dry-run needs --fix\n' });
  });
});

function fixed(files: Readonly<Record<string, string>>) {
  const sources: PolicySources = {
    files: Object.entries(files).map(([path, text]) => ({ path, text })),
    readListFile: (path) => ({ code: 'list-file-missing', message: path }),
  };
  const { sources: after, applied, compiled } = fixPolicies(sources, compile(sources));
  return {
    texts: Object.fromEntries(after.files.map(({ path, text }) => [path, text])),
    applied: applied.map(
      ({ position: place, diagnostic }) => `${place.line}:${place.column} ${diagnostic.code}`,
    ),
    diagnostics: compiled.diagnostics.map(({ code }) => code),
  };
}
