// `writ import cedar` on sets of Cedar policies: the policies, tests and report equal the files beside them, the policies have no
// warning, and the tests pass. UPDATE_GOLDEN=1 writes the files. Faults are injected by a Cedar that answers wrongly.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { writ } from '../../writ.ts';
import { cedarCases, compareSet, writeSet } from './cases.ts';

const installed = join(import.meta.dirname, '../../../node_modules');

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'writ-cedar-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test.each(cedarCases())('$name', async ({ folder: source, schemaFile }) => {
  const out = join(folder(), 'out');
  const ran = await writ([
    'import',
    'cedar',
    source,
    '--schema',
    schemaFile,
    '--out',
    out,
    '--requests',
    '100',
  ]);
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(out)).toHaveLength(3);
  for (const made of readdirSync(out)) {
    // Beside the policies the report is no page of the documentation.
    const golden = join(source, made.replace(/\.md$/, '.txt'));
    const text = readFileSync(join(out, made), 'utf8');
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(golden, text);
    expect(text).toBe(existsSync(golden) ? readFileSync(golden, 'utf8') : '');
  }
  expect(await writ(['fmt', '--check', out])).toMatchObject({ code: 0 });
  const checked = await writ(['check', '--strict', out]);
  expect(checked.code, checked.stdout + checked.stderr).toBe(0);
  const tested = await writ(['test', out]);
  expect(tested.code, tested.stdout + tested.stderr).toBe(0);
});

test('each Cedar policy is in the report, with its rules or a reason', () => {
  for (const { name, folder: source } of cedarCases()) {
    const rows = readFileSync(join(source, 'cedar.report.txt'), 'utf8')
      .split('\n')
      .filter((line) => /^\| \S+\.cedar:\d+ \|/.test(line));
    const policies = readdirSync(source)
      .filter((one) => one.endsWith('.cedar'))
      .flatMap((one) => readFileSync(join(source, one), 'utf8').match(/^(?:permit|forbid) \(/gm) ?? []);
    expect(rows, name).toHaveLength(policies.length);
    for (const row of rows) expect(row).toMatch(/\| (?:`\w+\/(?:permit|forbid)`.*|not carried: .+) \|$/);
  }
});

const schema = `entity Group;
entity User in [Group] { level: Long, lease?: duration };
entity Doc { owner: User, flags: Set<Set<Long>> };
action view appliesTo { principal: User, resource: Doc, context: { on: Bool } };`;

/** A folder with these files, from which Cedar is found, and the command's arguments for it. */
function folderOf(files: Readonly<Record<string, string>>): readonly string[] {
  const path = folder();
  symlinkSync(installed, join(path, 'node_modules'), 'junction');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, 'p', name)), { recursive: true });
    writeFileSync(join(path, 'p', name), text);
  }
  return [
    'import',
    'cedar',
    join(path, 'p'),
    '--schema',
    join(path, 'p', 'schema.cedarschema'),
    '--requests',
    '50',
  ];
}

const permit = 'permit (principal, action, resource) when { context.on };';

test.each([
  [
    'a schema that does not parse',
    { 'a.cedar': permit, 'schema.cedarschema': 'entity User; entitty' },
    'schema.cedarschema: ',
  ],
  [
    'a JSON schema that does not parse',
    { 'a.cedar': permit, 'schema.cedarschema': '{ "": 1' },
    'schema.cedarschema: ',
  ],
  [
    'a policy that does not parse',
    { 'a.cedar': `${permit}\npermit (principal`, 'schema.cedarschema': schema },
    'a.cedar:2: unexpected end of input',
  ],
  [
    'a policy that does not type-check',
    {
      'b/a.cedar': `${permit}\nforbid (principal, action, resource) when { principal.level == "x" };`,
      'schema.cedarschema': schema,
    },
    'b/a.cedar:2: the types Long and String are not compatible',
  ],
  [
    'an unguarded optional attribute',
    {
      'a.cedar': 'permit (principal, action, resource) when { principal.lease > duration("1h") };',
      'schema.cedarschema': schema,
    },
    'a.cedar:1: unable to guarantee safety of access to optional attribute `lease`',
  ],
  [
    'an unknown function',
    { 'a.cedar': 'permit (principal, action, resource) when { geo("1") };', 'schema.cedarschema': schema },
    'a.cedar:1: ',
  ],
  [
    'a template',
    {
      'a.cedar': `${permit}\npermit (principal == ?principal, action, resource);`,
      'schema.cedarschema': schema,
    },
    'a.cedar:2: this is a template',
  ],
  [
    'two policies on a line',
    { 'a.cedar': `${permit} ${permit}`, 'schema.cedarschema': schema },
    'a.cedar:1: write one policy a line',
  ],
  ['no policies', { 'schema.cedarschema': schema }, 'has no `.cedar` files'],
  ['no schema file', { 'a.cedar': permit }, 'schema.cedarschema'],
])('%s is an error, and nothing is written', async (_, files, message) => {
  const out = join(folder(), 'out');
  const { code, stdout, stderr } = await writ([...folderOf(files as Record<string, string>), '--out', out]);
  expect(stderr).toContain(message);
  expect({ code, stdout, isWritten: existsSync(out) }).toEqual({ code: 2, stdout: '', isWritten: false });
});

test.each([
  [['import', 'cedar', '.'], 'name the schema of the policies with --schema FILE'],
  [['import', 'cedar', 'no-such-folder', '--schema', 'x'], 'cannot read no-such-folder'],
  [['import', 'cedar', '.', '--home', '/'], '`--home` is no option of `writ import cedar`'],
  [['import', 'codex', 'a.rules', '--schema', 'x'], '`--schema` is no option of `writ import codex`'],
  [['import', 'cedar', '.', '--schema', 'x', '--requests', '0'], '`--requests 0` is no number of requests'],
  [['import', 'cedar', '.', '--schema', 'x', '--principal', 'anybody'], 'Allowed choices are user, agent'],
])('%s is an error', async (args, message) => {
  const { code, stderr } = await writ(args);
  expect(stderr).toContain(message);
  expect(code).toBe(2);
});

test('says the command that installs Cedar where it is absent', async () => {
  const path = folder();
  writeFileSync(join(path, 'a.cedar'), permit);
  writeFileSync(join(path, 'schema.cedarschema'), schema);
  const { code, stderr } = await writ([
    'import',
    'cedar',
    path,
    '--schema',
    join(path, 'schema.cedarschema'),
  ]);
  expect(stderr).toContain('npm install --no-save @cedar-policy/cedar-wasm@4.13.0');
  expect(code).toBe(2);
});

test('writes nothing where Cedar denies what the policies grant, and shows the request', async () => {
  const args = folderOf({ 'a.cedar': permit, 'schema.cedarschema': schema });
  const stricter = join(args[2]!, 'node_modules/@cedar-policy/cedar-wasm');
  mkdirSync(join(stricter, 'nodejs'), { recursive: true });
  writeFileSync(join(stricter, 'package.json'), '{ "exports": { "./nodejs": "./nodejs/index.mjs" } }');
  writeFileSync(
    join(stricter, 'nodejs/index.mjs'),
    `export * from ${JSON.stringify(join(installed, '@cedar-policy/cedar-wasm/nodejs/cedar_wasm.js'))};
     export const statefulIsAuthorized = () => ({ type: 'success', response: { decision: 'deny', diagnostics: { reason: [], errors: [] } } });`,
  );
  const out = join(folder(), 'out');
  const { code, stdout, stderr } = await writ([...args, '--out', out]);
  expect(stderr).toMatch(/would decide ALLOW by a_1\/permit where Cedar denies; nothing was written/);
  expect(stderr).toContain('"action":"doc.view"');
  expect({ code, stdout, isWritten: existsSync(out) }).toEqual({ code: 1, stdout: '', isWritten: false });
});

test('a Cedar without the functions of the import is an error', async () => {
  const args = folderOf({ 'a.cedar': permit, 'schema.cedarschema': schema });
  const other = join(args[2]!, 'node_modules/@cedar-policy/cedar-wasm');
  mkdirSync(other, { recursive: true });
  writeFileSync(join(other, 'package.json'), '{ "exports": { "./nodejs": "./index.mjs" } }');
  writeFileSync(join(other, 'index.mjs'), 'export const validate = 1;');
  const { code, stderr } = await writ(args);
  expect(stderr).toContain('lacks functions of @cedar-policy/cedar-wasm 4.13.0');
  expect(code).toBe(2);
});

test('the principal can have to be the person of the request, or the agent', async () => {
  const args = folderOf({ 'a.cedar': permit, 'schema.cedarschema': schema });
  const user = await writ([...args, '--principal', 'user', '--point', 'app']);
  expect(user.stdout).toContain('unless payload.principal.uid == request.user.id');
  expect(user.stdout).toContain('unless request.point == "app"');
  expect(user.code).toBe(0);
  const agent = await writ([...args, '--principal', 'agent']);
  expect(agent.stdout).toContain('unless payload.principal.uid == agent.name');
  expect(agent.code).toBe(0);
});

test('a permit without a counterpart is left out, and a forbid forbids more', async () => {
  const { policy, entries } = await writeSet({
    schema,
    policies: `permit (principal, action, resource) when { resource.flags.contains([1]) };
permit (principal, action, resource) when { context.on || resource.flags.contains([1]) };
forbid (principal, action, resource) when { context.on && resource.flags.contains([1]) };
forbid (principal, action, resource) unless { resource.flags.contains([1]) };
forbid (principal, action, resource) when { (if resource.flags.contains([1]) then 1 else 5) > 3 && context.on };`,
  });
  const reason = 'the elements of a set of sets have no counterpart';
  expect(entries.map(({ rules, reason: why, stricter }) => [rules, why, stricter])).toEqual([
    [[], reason, null],
    [['a_2/permit'], null, reason],
    [['a_3/forbid'], null, reason],
    [['a_4/forbid'], null, reason],
    [['a_5/forbid'], null, reason],
  ]);
  expect(policy).toMatch(/policy a_2 on doc\.view \{\n {2}allow permit\n {4}when payload\.context\.on\n\}/);
  expect(policy.match(/deny forbid\n {4}when payload\.context\.on\n/g)).toHaveLength(2);
  expect(policy).toMatch(/policy a_4 on doc\.view \{\n {2}deny forbid\n {4}because/);
});

test('an attribute is read wherever Cedar finds that it is there', async () => {
  const written = await writeSet({
    schema: `entity User { a?: Long, b?: { c?: Long }, next?: User, on?: Bool };
action view appliesTo { principal: User, resource: User };`,
    policies: `permit (principal, action, resource) when { principal has a } when { principal.a > 1 };
permit (principal, action, resource) unless { !(resource has a && resource.a > 2) };
permit (principal, action, resource) when { if principal has b.c then principal.b.c == 3 else resource has on && resource.on };
permit (principal, action, resource) when { principal has next && (principal.next has a || principal.next has on) && principal.next has a && principal.next.a == 4 };
permit (principal, action, resource) when { principal has a && (principal.a == 5 || !(principal.a * principal.a * principal.a > 7)) };
forbid (principal, action, resource) when { (principal has on && principal.on) == (resource has on && resource.on) };
forbid (principal, action, resource) when { resource has b && resource.b has c && (if principal has a then principal.a else resource.b.c) > 0 };`,
  });
  expect(written.entries.map(({ reason, stricter }) => reason ?? stricter)).toEqual(Array(7).fill(null));
  const compared = await compareSet(written, { requests: 1_000, seed: 3 });
  expect(compared.looser).toEqual([]);
  expect([...compared.stricter]).toEqual([]);
  expect(compared.decided.size).toBe(7);
});

test('names that meet are told apart, and a schema without requests is an error', async () => {
  const { policy } = await writeSet({
    schema: `namespace A { entity User; } namespace B { entity User { "a-b": Bool, a_b: Bool }; entity Path;
action "Do it", doIt appliesTo { principal: [A::User, User], resource: Path }; }`,
    policies: `@id("a_user_entity") permit (principal, action, resource is B::Path) when { principal is A::User || principal["a-b"] };
@id("policy") forbid (principal is B::User, action, resource) when { principal.a_b };
@id("policy") forbid (principal is B::User, action, resource) when { principal.a_b && resource == B::Path::"{x}" };`,
  });
  for (const one of [
    'action a_user.path.do_it ',
    'action a_user.path.do_it_2 ',
    'policy a_user_entity_2 on',
    'policy policy_entry on',
    'policy policy_entry_2 on',
    'payload.principal.a_b_2',
  ])
    expect(policy).toContain(one);
  await expect(writeSet({ schema: 'entity User; action view;', policies: '' })).rejects.toThrow(
    'has no action',
  );
});

test('texts of any characters are carried, and people see none that hides', async () => {
  const written = await writeSet({
    schema: 'entity User { name: String }; action view appliesTo { principal: User, resource: User };',
    policies: `@id("a\\u{202e}{b}\\n\\"c\\"")
permit (principal == User::"\\u{1F600} \\"é", action, resource) when { resource.name == "a\\u{202e}b" || resource.name like "\\0\\*\\u{200b}*\\\\" };
@id("{reason}")
forbid (principal, action, resource == User::"{x}\\u{2028}");`,
  });
  expect(written.policy).not.toMatch(/[\u202e\u2028]/);
  expect(written.entries[0]?.text).toBe('permit a?{b} "c"');
  const compared = await compareSet(written, { requests: 400, seed: 5 });
  expect(compared.looser).toEqual([]);
  expect([...compared.stricter]).toEqual([]);
  expect(compared.decided.size).toBe(2);
});
