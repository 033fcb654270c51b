// What a run must have reached, written out from tables that name every kind of expression, operator and
// function. A new kind fails to compile in this file until its possible values are listed.

import { type Builtin, builtins } from '../../src/language/model/builtins.ts';
import type { Expression, FactName } from '../../src/language/model/expression.ts';
import { builtInTypeWords } from '../../src/language/syntax/parse/tokens.ts';
import type {
  BinaryOperator,
  Clause,
  Declaration,
  EffectWord,
  ExpressionNode as Tree,
} from '../../src/language/syntax/tree/tree.ts';

const truths = ['true', 'false', 'unknown'];
const values = ['known', 'unknown'];
const quantities = ['known', 'interval', 'unknown'];
const known = ['known'];

const orders = ['<', '<=', '>', '>='];
const equalities = ['==', '!='];
const ordered = ['number', 'money', 'duration', 'date', 'timestamp', 'datetime'];
const scalars = [...ordered, 'text', 'ip'];

/** Pairs of operands that arithmetic is defined for, and the possible results. */
const arithmetic: Readonly<Record<string, readonly string[]>> = {
  'number + number': quantities,
  'number - number': quantities,
  'number * number': quantities,
  'number / number': quantities,
  'money + money': quantities,
  'money - money': quantities,
  'money * number': quantities,
  'number * money': quantities,
  'money / number': quantities,
  'money / money': quantities,
  'duration + duration': values,
  'duration - duration': values,
  'duration * number': quantities,
  'number * duration': quantities,
  'duration / number': quantities,
  'timestamp + duration': values,
  'timestamp - duration': values,
  'timestamp - timestamp': values,
  'datetime - datetime': values,
  'date - date': values,
};

const calls = {
  length: values,
  lower: values,
  trim: values,
  fold: values,
  links: values,
  commands: values,
  domain: values,
  host: values,
  scheme: values,
  port: values,
  ip: values,
  first: values,
  join: values,
  quantity: values,
  date: values,
  today: known,
  months_later: values,
  min: quantities,
  max: quantities,
  abs: quantities,
} satisfies Record<Builtin, readonly string[]>;

const facts = {
  'agent.id': values,
  'agent.name': values,
  'agent.risk_tier': values,
  'agent.control_owner': values,
  'agent.tags': values,
  'request.ip': values,
  'request.signed': truths,
  'request.session': values,
  'request.point': values,
  'request.delegated': ['true', 'false'],
  'request.delegate': values,
  'request.chain': known,
  'request.user.id': values,
  'request.user.email': values,
  'request.user.roles': values,
  'request.user.groups': values,
  'action.key': known,
  'action.area': known,
  'action.verb': known,
} satisfies Record<FactName, readonly string[]>;

/** By kind of expression: the rest of the feature's name, and the possible values. */
const expressions = {
  literal: [...each([...scalars], known), ...each(['boolean'], ['true', 'false'])],
  field: [
    ...each([...scalars.filter((sort) => sort !== 'duration'), 'money of a record around', 'list'], values),
    ...each(['boolean'], truths),
  ],
  fact: Object.entries(facts).flatMap(([fact, results]) => each([fact], results)),
  meter: each(['number', 'money'], quantities),
  let: [
    ...each(['number', 'money'], quantities),
    ...each(['duration', 'date', 'timestamp', 'text', 'ip', 'list'], values),
    ...each(['boolean'], truths),
  ],
  now: known,
  risk: ['known', 'interval'],
  not: truths,
  and: truths,
  or: truths,
  compare: [
    ...each(pairs([...scalars, 'boolean'], equalities), truths),
    ...each(pairs([...ordered, 'risk'], orders), truths),
  ],
  'is-null': truths,
  has: truths,
  else: [
    ...each(['number', 'money', 'date', 'timestamp', 'datetime', 'text', 'ip'], values),
    ...each(['boolean'], truths),
  ],
  'has-cell': truths,
  if: each([...ordered, 'text', 'ip'], values),
  'list-prefix': [...truths, ...each(['of words'], ['true', 'false'])],
  'in-list': each([...scalars, 'boolean', 'text ignoring case'], truths),
  'in-table': truths,
  column: [...each(['text', 'number', 'money', 'date', 'ip', 'list'], values), ...each(['boolean'], truths)],
  'in-elements': truths,
  'in-range': each(ordered, truths),
  'in-hours': truths,
  'in-cidr': truths,
  like: truths,
  matches: truths,
  'text-test': each(['starts with', 'ends with', 'contains', 'inside'], truths),
  'single-script': truths,
  mentions: each(['list', 'words'], truths),
  arithmetic: Object.entries(arithmetic).flatMap(([pair, results]) => each([pair], results)),
  negate: [...each(['number', 'money'], quantities), ...each(['duration'], values)],
  quantify: [
    ...each(['some', 'every'], truths),
    ...each(['count', 'sum number', 'sum money', 'sum duration'], values),
  ],
  // A list with an unknown element is itself known.
  list: known,
  'text-list': known,
  call: [
    ...Object.keys(builtins).flatMap((name) => each([name], calls[name as Builtin])),
    ...each(['date in a zone that is read'], values),
  ],
} satisfies Record<Expression['kind'], readonly string[]>;

function each(names: readonly string[], results: readonly string[]): readonly string[] {
  return pairs(names, results);
}

function pairs(left: readonly string[], right: readonly string[]): readonly string[] {
  return left.flatMap((a) => right.map((b) => `${a} ${b}`));
}

const conditions: readonly Clause['kind'][] = ['when', 'unless', 'because'];
const clauses = {
  allow: [
    ...conditions,
    'for',
    'after-approval',
    'several groups',
    'choice',
    'look-up approver',
    'path approver',
    'after-reauth',
    'except',
    'needs',
    'within',
    'then',
    'standing',
    'points',
  ],
  deny: [...conditions, 'points'],
  escalate: [
    ...conditions,
    'to',
    'several groups',
    'choice',
    'look-up approver',
    'path approver',
    'except',
    'needs',
    'within',
    'then',
    'standing',
    'points',
  ],
  reauth: [...conditions, 'within', 'points'],
  risk: [...conditions, 'points'],
} satisfies Record<
  EffectWord,
  readonly (Clause['kind'] | 'several groups' | 'choice' | 'look-up approver' | 'path approver')[]
>;

const declarations = {
  action: ['one key', 'several keys', 'in several groups', 'open', 'quoted', 'titled', 'result'],
  type: [''],
  group: ['', 'fields'],
  approvers: [''],
  list: [
    'entries',
    'entries ignoring case',
    'join ignoring case',
    'list-file',
    'list-file ignoring case',
    'may be empty',
    'typed',
  ],
  table: ['table-file', 'pushed', 'rows'],
  hours: ['', 'except', 'list-file', 'list-file except'],
  let: ['', 'parameters', 'parameter value', 'parameter list', 'row', 'record'],
  meter: [
    'sum',
    'sum in a currency',
    'sum of each currency',
    'count',
    'distinct',
    'when',
    'since key',
    'since group',
    'since quoted',
    ...['over a duration', 'over day', 'over week', 'over month'],
    'per agent',
    'per owner',
    'per session',
    'per user',
    'per delegate',
    'per payload',
  ],
  policy: ['', 'shadow', 'when', 'except', 'several patterns', 'owner', 'tags', 'link', 'documented'],
  guarantee: [''],
} satisfies Record<Declaration['kind'], readonly string[]>;

const operators = {
  or: true,
  and: true,
  '==': true,
  '!=': true,
  '<': true,
  '<=': true,
  '>': true,
  '>=': true,
  in: true,
  'not in': true,
  like: true,
  matches: true,
  'starts with': true,
  'ends with': true,
  contains: true,
  'mentions any of': true,
  'like any of': true,
  'matches any of': true,
  'starts with any of': true,
  'ends with any of': true,
  'contains any of': true,
  'inside any of': true,
  inside: true,
  within: true,
  '+': true,
  '-': true,
  '*': true,
  '/': true,
} satisfies Record<BinaryOperator, true>;

const writtenExpressions = {
  text: ['', 'raw'],
  number: [''],
  money: [''],
  duration: [''],
  date: [''],
  instant: [''],
  // Only hours use this kind.
  clock: [''],
  boolean: [''],
  null: [''],
  path: [''],
  'look-up': ['', 'column'],
  unary: ['not', '-'],
  binary: Object.keys(operators),
  range: [''],
  'list-literal': [''],
  'text-list': [''],
  quantifier: [
    ...pairs(['some over', 'every over', 'no over', 'count over', 'sum over'], ['1', '2']),
    'sum of if',
    'nested',
  ],
  has: ['', 'cell'],
  if: ['', 'without else'],
  'single-script': [''],
  else: ['text', 'number', 'money', 'date', 'boolean', 'path', 'list-literal'],
  today: [''],
  months: [''],
  call: ['', 'of a let'],
  // Only broken files have this kind.
  missing: [],
} satisfies Record<Tree['kind'], readonly string[]>;

const types = [
  ...builtInTypeWords,
  'path ignoring case',
  'network',
  'string matches',
  'path matches',
  'of a declared type',
  'number low..high',
  'number low..',
  'integer low..high',
  'integer ..high',
  'string low..high',
  'date low..high',
  'timestamp low..',
];

const writtenTypes = [
  ...types.map((name) => `named-type ${name}`),
  'money-type',
  'money-type low..',
  'money-type low..high',
  'list-type',
  'list-type ..high',
  'list-type low..high',
  'record-type',
  'union-type',
  'null-type',
  'text-type',
  'modified-type secret',
  'modified-type signed',
  'modified-type signed by',
  'field optional',
  'field required',
  'field quoted',
];

const claims = [
  '',
  ...pairs(['never', 'always'], ['allow', 'deny', 'escalate', 'reauth', 'ask']),
  'never standing',
  'only allow',
  'never allow unapproved',
  'only allow unapproved',
  ...['when', 'needs', 'several groups', 'choice', 'look-up approver', 'path approver'],
];
const patterns = ['key', 'quoted', 'group', 'area', 'verb', 'all'];
/** Parts of other constructs, each of its own kind. */
const parts = [
  ...['file', 'name', 'parameter', 'asked', 'template', 'calendar-window', 'owner', 'tags', 'link'],
  ...['entries', 'join', 'list-file', 'table-file', 'pushed', 'rows', 'row', 'points'],
  ...[
    'when',
    'unless',
    'because',
    'to',
    'for',
    'within',
    'then',
    'needs',
    'except',
    'standing',
    'after-approval',
    'after-reauth',
  ],
];
const written: readonly string[] = [
  ...parts,
  ...Object.entries(declarations).flatMap(([kind, forms]) => pairs([kind], forms)),
  ...Object.entries(clauses).flatMap(([effect, kinds]) => [`rule ${effect}`, ...pairs([effect], kinds)]),
  ...Object.entries(writtenExpressions).flatMap(([kind, forms]) => pairs([kind], forms)),
  ...writtenTypes,
  ...patterns.map((form) => `pattern ${form}`),
  'rule shadow',
  'weekly-span',
  'date-span',
  'yearly-span',
  ...claims.map((form) => `claim ${form}`.trimEnd()),
  'template-text',
  'template-value',
  'chat-limit',
  ...pairs(['standing'], ['per agent', 'per session', 'per user', 'per payload', 'any number', 'up to']),
];

const decided = [
  'asks a fallback',
  'asks several fallbacks',
  'ALLOW',
  'ESCALATE',
  'REAUTH_REQUIRED',
  'DENY',
  'by undeclared_action',
  'by invalid_payload',
  'by default_deny',
  'by allow',
  'by allow after approval',
  'by allow after reauth',
  'by deny',
  'by escalate',
  'by reauth',
  'with shadow differs',
  'risk is an interval',
  'risk none',
  'risk some',
  'risk full',
  'valid by default',
  'valid as said',
  'asks 0 groups',
  'asks 1 groups',
  'asks 2 groups',
  'asks 3 groups',
  'step-up now',
  'step-up in time',
  'reason shows unknown',
];

/** Every construct that policy files may have. */
export const writtenConstructs: readonly string[] = written.map((feature) => `written ${feature}`.trimEnd());

/** Every feature that a run of some thousand pairs must reach. */
export const requiredFeatures: readonly string[] = [
  ...writtenConstructs,
  ...Object.entries(expressions).flatMap(([kind, forms]) => pairs([`value ${kind}`], forms)),
  ...decided.map((feature) => `decision ${feature}`),
];
