// Random policy sets as text: a few actions, the declarations that their rules use, and policies over
// patterns, split over one file or two.

import type { SourceText } from '../../src/language/diagnostic/span.ts';
import { createRandom, type RandomSource } from '../../src/language/value/random.ts';
import { condition, presenceGuard } from './conditions.ts';
import {
  approverNames,
  fixedDeclarations,
  groupNames,
  listFiles,
  namedApprovers,
  tableKeys,
} from './declarations.ts';
import {
  currencyField,
  fieldKinds,
  type ListSort,
  type ScalarSort,
  timeFields,
  typeDeclarations,
} from './fields.ts';
import {
  type DeclaredField,
  readableHere,
  readablesOf,
  renamedReadables,
  type Scope,
  type ScopedLet,
  withoutRisk,
  withPresent,
} from './scope.ts';
import { listOf, subject } from './terms.ts';

export interface RandomSet {
  readonly files: readonly SourceText[];
  /** The texts of list files by path. */
  readonly lists: Readonly<Record<string, string>>;
  readonly actions: readonly RandomAction[];
  readonly meters: readonly string[];
}

export interface RandomAction {
  readonly key: string;
  readonly groups: readonly string[];
  readonly fields: readonly DeclaredField[];
  readonly isOpen: boolean;
  /** Whether the action declares the result of a call. */
  readonly hasResult: boolean;
}

interface RandomMeter {
  readonly name: string;
  readonly currency: string | null;
  readonly text: string;
}

const keys = ['area.read', 'area.delete', 'other.delete', 'area.sub.create', 'area.create-issue'];

export function randomSet(random: RandomSource): RandomSet {
  const actions = randomActions(random);
  const meters = randomMeters(random, actions);
  const source = { random, actions, meters };
  const policies = Array.from({ length: 1 + random.below(3) }, (_, index) => randomPolicy(source, index));
  const declarations = [
    ...groupNames.map((group) => groupDeclaration(group, actions)),
    ...typeDeclarations,
    ...actionDeclarations(actions),
    ...fixedDeclarations,
    ...meters.map(({ text }) => text),
    ...policies.flat(),
  ];
  return {
    files: dealt(random, declarations),
    lists: listFiles,
    actions,
    meters: meters.map(({ name }) => name),
  };
}

function dealt(random: RandomSource, declarations: readonly string[]): readonly SourceText[] {
  const second = random.chance(0.5) ? random.some(declarations, 0.4) : [];
  const first = declarations.filter((text) => !second.includes(text));
  return [
    { path: 'first.policy', text: `${first.join('\n')}\n` },
    ...(second.length === 0 ? [] : [{ path: 'second.policy', text: `${second.join('\n')}\n` }]),
  ].filter(({ text }) => text.trim() !== '');
}

function randomActions(random: RandomSource): readonly RandomAction[] {
  const chosen = random.some(keys, 0.4);
  const used = chosen.length === 0 ? ['area.read'] : chosen;
  // In some sets most fields are signed facts, so that any field may be unknown.
  const signing = random.chance(0.3) ? 0.7 : 0.1;
  const hasResult = random.chance(0.6);
  const shared = random.chance(0.5) ? groupFieldsOf(random, signing) : [];
  const actions = used.map((key, index) => {
    // The first action is in both groups, so that a pattern may name either.
    const groups = index === 0 ? groupNames : random.some(groupNames, 0.5);
    const fields = withGroupFields(randomFields(random, signing), groups, shared);
    return { key, groups, fields, isOpen: random.chance(0.1), hasResult };
  });
  return random.chance(0.15) ? [...actions, { ...actions[0]!, key: 'twin.delete' }] : actions;
}

const sharingGroup = groupNames[0]!;

/** One or two fields that every action of a group has; no amounts, as not every action has a currency. */
function groupFieldsOf(random: RandomSource, signing: number): readonly DeclaredField[] {
  const fields = randomFields(random, signing).filter(({ form }) => !isOfCurrency(form));
  return fields.slice(0, 1 + random.below(2)).map((field) => ({ ...field, group: sharingGroup }));
}

/** The action's own fields without those that its group declares. */
function withGroupFields(
  fields: readonly DeclaredField[],
  groups: readonly string[],
  shared: readonly DeclaredField[],
): readonly DeclaredField[] {
  if (!groups.includes(sharingGroup)) return fields;
  return [...fields.filter(({ kind }) => shared.every((one) => one.kind !== kind)), ...shared];
}

function groupDeclaration(group: string, actions: readonly RandomAction[]): string {
  const fields = new Set(actions.flatMap((action) => action.fields.filter((field) => field.group === group)));
  if (fields.size === 0) return `group ${group}`;
  return `group ${group} {\n${[...fields].map(fieldDeclaration).join('\n')}\n}`;
}

function randomFields(random: RandomSource, signing: number): readonly DeclaredField[] {
  const drawn = random.some(fieldKinds, 0.25);
  const chosen = random.chance(0.5) ? [...new Set([...drawn, ...timeFields])] : drawn;
  const hasMoney = chosen.some(({ forms }) => forms.some(isOfCurrency));
  const fields = chosen.map((kind) => ({
    kind,
    form: random.pick(kind.forms),
    isOptional: random.chance(0.25),
    isSigned: random.chance(signing),
    isSecret: random.chance(0.03),
    ...(random.chance(0.4) ? { signer: random.pick(['gateway', 'alpha']) } : {}),
  }));
  if (!hasMoney) return fields;
  const currency = { kind: currencyField, form: random.pick(currencyField.forms) };
  return [...fields, { ...currency, isOptional: false, isSigned: random.chance(0.05), isSecret: false }];
}

/** Whether a field of the form needs a currency beside it or around it. */
function isOfCurrency({ type }: { readonly type: string }): boolean {
  return type.includes('money(currency)');
}

/** One declaration per shape: actions with the same shape share a declaration. */
function actionDeclarations(actions: readonly RandomAction[]): readonly string[] {
  const shapes = Map.groupBy(actions, ({ fields }) => fields);
  return [...shapes].map(([fields, [first, ...twins]]) => {
    const written = [first!, ...twins].map(({ key }) => quotable(key)).join(', ');
    const membership = first!.groups.length === 0 ? '' : ` in ${first!.groups.join(', ')}`;
    const lines = [
      ...fields.filter(({ group }) => group === undefined).map(fieldDeclaration),
      ...(first!.isOpen ? ['  ...'] : []),
    ];
    const result = first!.hasResult ? `\n  ${resultDeclaration}` : '';
    return `action ${written}${membership} ${titleOf(fields)}{\n${lines.join('\n')}\n}${result}`;
  });
}

/** A title that names the first fields which a title may name; none for some shapes. */
function titleOf(fields: readonly DeclaredField[]): string {
  const named = fields.filter(
    ({ kind, isSecret }) =>
      !isSecret &&
      kind.written === undefined &&
      /^[a-z]+$/.test(kind.key) &&
      kind.parts.every(
        ({ steps, sort }) => steps === '' && sort !== 'any' && !/^(lines|matrix|fees|dues)$/.test(sort),
      ),
  );
  if (named.length === 0) return '';
  return `"About ${named
    .slice(0, 3)
    .map(({ kind }) => `{${kind.key}}`)
    .join(' and ')}" `;
}

const resultDeclaration =
  'result { hits: integer -9..9, words: [string], ok: boolean, name: string, note?: string | null }';

/** Conditions on the fields of `resultDeclaration`. */
const resultConditions = [
  '"a" in result.words',
  'result.ok and result.hits > 2',
  'result.ok or result.name == "a"',
  'result has note and result.note == "a"',
  'not (result has note)',
  '(result.note else "x") == "x"',
  'some w in result.words (w == "a")',
  'every w in result.words (w == "a")',
  'length(result.words) > 1',
];
const resultValues = ['sum(result.hits)', 'count()', 'distinct(result.name)'];

function fieldDeclaration({ kind, form, isOptional, isSigned, signer, isSecret }: DeclaredField): string {
  const signed = signer === undefined ? 'signed ' : `signed by "${signer}" `;
  const modifiers = `${isSecret ? 'secret ' : ''}${isSigned ? signed : ''}`;
  return `  ${kind.written ?? kind.key}${isOptional ? '?' : ''}: ${modifiers}${form.type}`;
}

/** The key as written: quoted whole if it is more than words and dots. */
function quotable(key: string): string {
  return /^[\w.*]+$/.test(key) ? key : JSON.stringify(key);
}

export function conditionScope(
  { random, actions, meters }: PolicySource,
  matched: readonly RandomAction[],
): Scope {
  return {
    random,
    readables: readablesOf(matched.map(({ fields }) => fields)),
    present: new Set(),
    lets: [],
    meters,
    actionKeys: actions.map(({ key }) => key),
    risk: 'none',
    variables: [],
    isMeter: false,
    condition,
  };
}

const windows = [
  '24h',
  '7d',
  '15m',
  'today in "Asia/Tokyo"',
  'this week in "UTC"',
  'this month in "Europe/Berlin"',
];

function randomMeters(random: RandomSource, actions: readonly RandomAction[]): readonly RandomMeter[] {
  const scopeOf = (matched: readonly RandomAction[]): Scope => ({
    ...conditionScope({ random, actions, meters: [] }, matched),
    isMeter: true,
  });
  const one = random.pick(actions);
  const scope = scopeOf([one]);
  const other = actions.find((action) => action !== one) ?? null;
  const tail = (counted: readonly RandomAction[], asked: string | null = null): string => {
    const isRestarted = other !== null && random.chance(0.3);
    const group = isRestarted ? other.groups.find((name) => !one.groups.includes(name)) : undefined;
    const restarts = (action: RandomAction): boolean =>
      isRestarted && (group === undefined ? action === other : action.groups.includes(group));
    const since = isRestarted ? ` since ${group ?? quotable(other.key)}` : '';
    // An action that restarts the meter is not counted.
    const matched = scopeOf(counted.filter((action) => !restarts(action)));
    const when =
      asked !== null ? ` when ${asked}` : random.chance(0.5) ? ` when ${condition(matched, 1)}` : '';
    const plain = readableHere(matched, ['text', 'enumeration', 'boolean']).filter(
      ({ text, canMiss }) => !canMiss && text.startsWith('payload.'),
    );
    const per = random.some(
      [
        'agent',
        'owner',
        'session',
        'user',
        'delegate',
        ...plain.slice(0, isRestarted ? 0 : 1).map(({ text }) => text),
      ],
      0.4,
    );
    return `${when}${since}${per.length === 0 ? '' : ` per ${per.join(', ')}`} over ${random.pick(windows)}`;
  };
  const money = subject(scope, 'money', 1);
  const isThere = (sort: 'money' | 'enumeration', field: string): boolean =>
    readableHere(scope, [sort]).some(({ text, canMiss }) => !canMiss && text === field);
  const isOfEachCurrency =
    isThere('money', 'payload.price') && isThere('enumeration', 'payload.currency') && random.chance(0.4);
  const number = subject(scope, 'number', 2);
  const text = subject(scope, 'text', 1);
  return [
    { name: 'runs', currency: null, text: `meter runs = count() of *${tail(actions)}` },
    ...(money === null
      ? []
      : [
          {
            name: 'spent',
            currency: 'USD',
            text: isOfEachCurrency
              ? `meter spent = sum(payload.price) of ${quotable(one.key)} per payload.currency over ${random.pick(windows)}`
              : `meter spent = sum(${money}) in USD of ${quotable(one.key)}${tail([one])}`,
          },
        ]),
    ...(number === null
      ? []
      : [
          {
            name: 'used',
            currency: null,
            text: `meter used = sum(${number}) of ${quotable(one.key)}${tail([one])}`,
          },
        ]),
    ...(text === null
      ? []
      : [
          {
            name: 'variety',
            currency: null,
            text: `meter variety = distinct(${text}) of ${quotable(one.key)}${tail([one])}`,
          },
        ]),
    ...(one.hasResult
      ? [
          {
            name: 'returned',
            currency: null,
            text: `meter returned = ${random.pick(resultValues)} of ${quotable(one.key)}${tail([one], random.pick(resultConditions))}`,
          },
        ]
      : []),
  ];
}

interface PolicySource {
  readonly random: RandomSource;
  readonly actions: readonly RandomAction[];
  readonly meters: readonly RandomMeter[];
}

interface Matching {
  readonly text: string;
  readonly actions: readonly RandomAction[];
}

/** Patterns, with `except` now and then, and the actions that they match: always at least one. */
function randomMatching({ random, actions }: PolicySource): Matching {
  const one = random.pick(actions);
  const matchers: readonly (readonly [string, (action: RandomAction) => boolean])[] = [
    [quotable(one.key), ({ key }) => key === one.key],
    [quotable(one.key), ({ key }) => key === one.key],
    ['*', () => true],
    ['area.*', ({ key }) => key.startsWith('area.')],
    ['*.delete', ({ key }) => key.endsWith('.delete')],
    ['careful', ({ groups }) => groups.includes('careful')],
    ['open_ended', ({ groups }) => groups.includes('open_ended')],
  ];
  const usable = matchers.filter(([, matches]) => actions.some(matches));
  const [pattern, matches] = random.pick(usable);
  const [second, matchesToo] = random.chance(0.2) ? random.pick(usable) : [pattern, matches];
  const included = actions.filter((action) => matches(action) || matchesToo(action));
  const patterns = [...new Set([pattern, second])].join(', ');
  const excepted = random.chance(0.2) ? random.pick(included) : null;
  const rest = included.filter((action) => action !== excepted);
  if (excepted === null || rest.length === 0) return { text: patterns, actions: included };
  return { text: `${patterns} except ${quotable(excepted.key)}`, actions: rest };
}

/** The lets of one policy, the policy, and sometimes a guarantee on the same actions. */
function randomPolicy(source: PolicySource, index: number): readonly string[] {
  const { random } = source;
  const name = `policy_${index}`;
  const matching = randomMatching(source);
  const bare = conditionScope(source, matching.actions);
  const records = namedRecords(bare, name);
  const named = { ...bare, readables: [...bare.readables, ...records.readables] };
  const { texts: letTexts, lets } = randomLets(named, name);
  const texts = [...records.texts, ...letTexts];
  const scope = { ...named, lets };
  const guard = random.chance(0.2) ? presenceGuard(scope) : null;
  const extra = random.chance(0.15) ? condition(scope, 1) : null;
  const when = [guard?.test, extra].filter((text) => typeof text === 'string').join(' and ');
  const inner = withPresent(scope, guard?.texts ?? []);
  const rules = Array.from({ length: 2 + random.below(7) }, (_, at) => randomRule(inner, `rule_${at}`));
  const head = `${random.chance(0.1) ? 'shadow ' : ''}policy ${name} on ${matching.text}`;
  const metadata = random.some(['owner "risk"', 'tags "a", "b"', 'link "https://example.com"'], 0.1);
  const body = [...metadata.map((line) => `  ${line}`), ...rules].join('\n');
  const policy = `# What ${name} is for.\n${head}${when === '' ? '' : ` when ${when}`} {\n${body}\n}`;
  return [
    ...used(texts, policy),
    policy,
    ...(random.chance(0.2) ? [guarantee(bare, `claim_${index}`, matching.text)] : []),
  ];
}

/** Lets of records, and what can be read by their names. */
function namedRecords(scope: Scope, policy: string) {
  const records = readableHere(scope, ['record']).filter(() => scope.random.chance(0.5));
  const names = records.map(({ text }, at) => ({ text, name: `${policy}_record_${at}` }));
  return {
    texts: names.map(({ text, name }) => `let ${name} = ${text}`),
    readables: names.flatMap(({ text, name }) => renamedReadables(scope.readables, text, name)),
  };
}

const letSorts: readonly (ScalarSort | ListSort)[] = [
  'boolean',
  'boolean',
  'number',
  'money',
  'duration',
  'date',
  'timestamp',
  'text',
  'ip',
  'texts',
  'texts',
  'texts',
  'numbers',
  'dates',
];

function randomLets(scope: Scope, policy: string): { texts: readonly string[]; lets: readonly ScopedLet[] } {
  const { random } = scope;
  const texts = [`let ${policy}_risky = risk >= ${random.pick([10, 30, 60])}`];
  const lets: ScopedLet[] = [{ name: `${policy}_risky`, sort: 'boolean', needs: new Set(), readsRisk: true }];
  for (const sort of random.some(letSorts, 0.35)) {
    const guard = random.chance(0.3) ? presenceGuard(scope) : null;
    const within = withPresent({ ...scope, lets }, guard?.texts ?? []);
    const text = letValue(withoutRisk(within), sort);
    if (text === null) continue;
    const name = `${policy}_let_${lets.length}`;
    texts.push(`let ${name} = ${text}`);
    lets.push({ name, sort, needs: within.present, readsRisk: false });
  }
  return { texts, lets };
}

/**
 * Drops lets that nothing reads, because such a let is checked for one action alone and not for the actions
 * of the policy.
 */
function used(lets: readonly string[], policy: string): readonly string[] {
  const kept = [policy];
  for (const text of lets.toReversed()) {
    const [, name = ''] = text.split(' ');
    if (new RegExp(`\\b${name}\\b`).test(kept.join('\n'))) kept.unshift(text);
  }
  return kept.slice(0, -1);
}

function letValue(scope: Scope, sort: ScalarSort | ListSort): string | null {
  if (sort === 'boolean') return condition(scope, 2);
  if (sort === 'texts' || sort === 'numbers' || sort === 'dates') {
    const list = listOf(scope, sort, 1);
    // Quantifiers go through lists that are read or written out, not through an `else` for an absent list.
    return list?.startsWith('(') ? null : list;
  }
  return subject(scope, sort as ScalarSort, 2);
}

function guarantee(scope: Scope, name: string, patterns: string): string {
  const { random } = scope;
  const withoutExcept = patterns.replace(/ except .*/, '');
  // The fields in scope are those of the actions that the policy is on.
  const test = (): string => (withoutExcept === patterns ? condition(scope, 1) : 'request.signed');
  const claims = random.pick([
    ['never allow unapproved'],
    ['never reauth', 'always deny when request.signed', 'never standing when request.signed'],
    ['never escalate when agent.risk_tier == "low"', 'always allow'],
    ['allow unapproved only when agent.risk_tier == "low"', 'allow only when request.signed'],
    ['always ask owner when request.signed', 'never ask owner needs 2'],
    ['never ask legal or owner', 'always ask finance or asks["USD"] needs 1'],
    ['never allow when if request.signed then agent.risk_tier == "low"', 'never deny', 'always escalate'],
    [`always reauth when ${test()}`, `allow only when ${test()}`],
    ['never ask desk.boss', 'always ask boss or owner'],
    ['never ask chief', 'always ask things["alpha"].mail when request.signed'],
  ]);
  return `guarantee ${name} on ${withoutExcept} {\n${claims.map((claim) => `  ${claim}`).join('\n')}\n}`;
}

const effects = ['allow', 'allow', 'allow', 'deny', 'escalate', 'reauth', 'risk'] as const;
type Effect = (typeof effects)[number];

function randomRule(around: Scope, name: string): string {
  const { random } = around;
  const effect = random.pick(effects);
  const readsRisk = effect !== 'risk' && random.chance(0.3);
  const scope: Scope = { ...around, risk: readsRisk ? (effect === 'allow' ? 'fall' : 'rise') : 'none' };
  // A guard may only raise risk.
  const signs = effect === 'risk' || effect === 'allow' ? ['+', '-'] : ['+'];
  const points = `${random.pick(signs)}${random.pick([5, 20, 40, 70])}`;
  const guard = random.chance(0.25) ? presenceGuard(scope) : null;
  const inner = withPresent(scope, guard?.texts ?? []);
  const depth = random.below(4);
  const when = guard === null ? condition(scope, depth) : `${guard.test} and ${condition(inner, depth)}`;
  const hasWhen = guard !== null || random.chance(0.9);
  const clauses = [
    `${random.chance(0.1) ? 'shadow ' : ''}${effect} ${name} ${effect === 'risk' ? points : parameters(inner, effect)}`,
    ...(hasWhen ? [`  when ${when}`] : []),
    ...(random.chance(0.3) ? [`  unless ${exception(inner)}`] : []),
    ...(effect !== 'risk' && !readsRisk && random.chance(0.3) ? [`  risk ${points}`] : []),
    ...(random.chance(0.5) ? [`  because ${JSON.stringify(reason(inner))}`] : []),
  ];
  return clauses.map((clause) => `  ${clause}`).join('\n');
}

/** A condition for `unless`, which reverses the allowed direction of risk comparisons. */
function exception(scope: Scope): string {
  const risk = scope.risk === 'rise' ? 'fall' : scope.risk === 'fall' ? 'rise' : 'none';
  return condition({ ...scope, risk }, scope.random.below(2));
}

function parameters(scope: Scope, effect: Exclude<Effect, 'risk'>): string {
  const { random } = scope;
  const people = random.pick(approverNames);
  const other = random.pick(approverNames);
  const isData = random.chance(0.35);
  const joint = random.pick(['and', 'or']);
  const both = random.chance(0.3) && other !== people ? `${people} ${joint} ${other}` : people;
  const groups = isData ? asked(scope) : both;
  const drawn = random.pick(['', ` needs ${1 + random.below(3)}`]);
  const needs = isData || groups.includes('owner') ? '' : drawn;
  const apart = ' except request.user.email';
  const times = ['', ' within 1h', ' within 4h'] as const;
  const [except, within] = random.pick([
    ...times.map((time) => ['', time]),
    [apart, ''],
    [apart, times[1]],
  ] as const);
  const standing = random.pick([
    '',
    '',
    ` standing per agent, session, user${standingField(scope)} for 8h`,
    ' standing per session for 1h up to 3 times',
  ]);
  // Drawn apart, so that the other draws of a seed stay as they are.
  const seed = [...`${groups}${needs}${within}${standing}`].reduce(
    (sum, one) => (sum * 31 + one.charCodeAt(0)) % 2 ** 31,
    7,
  );
  const apartly = { ...scope, random: createRandom(seed) };
  const fallback = within === '' ? '' : fallbacks(apartly);
  switch (effect) {
    case 'allow':
      return random.pick([
        '',
        '',
        'for 10m',
        'for 2m',
        `after approval by ${groups}${except}${needs}${within}${fallback}${standing}`,
        `for 1h after approval by ${people}${people === 'owner' ? '' : drawn}`,
        `after reauth${within}`,
      ]);
    case 'escalate':
      return `to ${groups}${except}${needs}${within}${fallback}${standing}`;
    case 'reauth':
      return within.trim();
    case 'deny':
      return '';
  }
}

/** Up to two fallbacks, groups or people whom data name; the last may have no time. */
function fallbacks(scope: Scope): string {
  const { random } = scope;
  if (random.chance(0.5)) return '';
  const [one, other] = [random.pick(approverNames), random.pick(approverNames)];
  return random.pick([
    ` then to ${one} within 1h`,
    ` then to ${one}${other === one ? '' : ` or ${other}`}`,
    ` then to ${asked(scope).replaceAll(' and ', ' or ')} within 2h`,
    ` then to ${one} within 30m then to ${asked(scope).replaceAll(' and ', ' or ')}`,
  ]);
}

/** A key that each request has; empty when there is none. */
function standingField(scope: Scope): string {
  const fields = readableHere(scope, ['text', 'enumeration', 'boolean']).filter(
    ({ text, canMiss }) => !canMiss && text.startsWith('payload.'),
  );
  return fields
    .slice(0, 1)
    .map(({ text }) => `, ${text}`)
    .join('');
}

/** Approvers whom data name, alone or with others. */
function asked(scope: Scope): string {
  const { random } = scope;
  const vouched = readableHere(scope, ['text', 'email']).filter(({ isVouched }) => isVouched);
  const named =
    vouched.length > 0 && random.chance(0.4)
      ? random.pick(vouched).text
      : random.pick(namedApprovers).replace('KEY', approverKey(scope));
  const joint = random.pick([' and ', ' or ']);
  return random.chance(0.5) ? named : [named, random.pick(approverNames)].join(joint);
}

function approverKey(scope: Scope): string {
  const { random } = scope;
  const read = random.chance(0.6) ? subject(withoutRisk(scope), 'text', 0) : null;
  return read ?? random.pick(tableKeys.text);
}

/** A policy of one guard over some of the actions, to add to their set; its points only raise risk. */
export function randomGuard(random: RandomSource, actions: readonly RandomAction[]): string {
  const source = { random, actions, meters: [] };
  const matching = randomMatching(source);
  const effect = random.pick(['deny', 'escalate', 'reauth'] as const);
  const readsRisk = random.chance(0.3);
  const scope: Scope = { ...conditionScope(source, matching.actions), risk: readsRisk ? 'rise' : 'none' };
  const clauses = [
    `${effect} added ${parameters(scope, effect)}`,
    `  when ${condition(scope, random.below(3))}`,
    ...(readsRisk || random.chance(0.5) ? [] : [`  risk +${random.pick([5, 40, 70])}`]),
  ];
  return `policy one_more on ${matching.text} {\n${clauses.map((clause) => `  ${clause}`).join('\n')}\n}\n`;
}

const shownSorts: readonly ScalarSort[] = [
  'number',
  'money',
  'duration',
  'date',
  'timestamp',
  'datetime',
  'boolean',
  'text',
  'enumeration',
  'email',
  'url',
  'path',
  'ip',
];

/** The text of a `because`: values of every sort, braces that hold no value, and risk. */
function reason(scope: Scope): string {
  const { random } = scope;
  const values = random.some(shownSorts, 0.25).flatMap((sort) => subject(withoutRisk(scope), sort, 1) ?? []);
  const fixed = random.some(['{risk}', '{agent.name}', '{action.key}', '{{braces', 'ünïcode'], 0.4);
  return `Because ${[...values.map((text) => `{${text}}`), ...fixed].join(', ')}`;
}
