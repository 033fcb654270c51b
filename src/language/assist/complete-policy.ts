// Completes a place in a policy file: offers fields of the policy's actions, attributes, names and words.

import type { CompletionList, CompletionOption } from './completion-list.ts';
import { isPatternOf, withDeclared } from './declared-words.ts';
import { declarationWords, type PolicyPosition, placeAt } from './policy-position.ts';
import type { ActionWords, Vocabulary } from './vocabulary.ts';

/** Matches the unfinished name of a column behind a row, as in `orders[payload.id].ow`. */
const columnPattern = /\b([a-z]\w*)\[(?:[^[\]]|\[[^[\]]*\])*\]\.(\w*)$/;

/** Matches the unfinished word before the place, with the path that it belongs to: `payload.vendor.na`. */
const pathPattern = /(?<!\w|(?<!\.)\.)(?:[A-Za-z_]\w*(?:\.(?:"[^"]*"|\w+))*(?:\."[^"]*|\.)?|\*)$/;

/**
 * Returns the offers for a place; null when there are none. Unless `isAsked`, offers only after a first
 * letter, a dot, or a word that a name must follow, such as `has`.
 */
export function completePolicy(
  vocabulary: Vocabulary,
  text: string,
  { at, isAsked }: { readonly at: number; readonly isAsked: boolean },
): CompletionList | null {
  const position = placeAt(text, at);
  if (position.isProse) return null;
  const [, table, column = ''] = columnPattern.exec(position.before) ?? [];
  if (table !== undefined) {
    const options = columnOffers(withDeclared(vocabulary, text), table);
    return options.length === 0 ? null : { from: at - column.length, options };
  }
  const [path = ''] = pathPattern.exec(position.before) ?? [];
  if (path === '' && !isAsked && !/\b(?:has|to|by|on|in|ask|over)\s$/.test(position.before)) return null;
  const all = withDeclared(vocabulary, text);
  const head = position.before.slice(0, position.before.length - path.length);
  const dot = path.lastIndexOf('.');
  const root = path.split('.')[0] ?? '';
  if (isPatternList(position, head)) return { from: at - path.length, options: patternOffers(all) };
  const from = at - (path.length - dot - 1);
  if (dot === -1) return { from, options: wordOffers(all, position, head) };
  const options = stepOffers(all, position, { root, base: path.slice(0, dot) });
  return options.length === 0 ? null : { from, options };
}

/** Returns what may follow a dot: fields, columns of a row, or attributes. */
function stepOffers(
  all: Vocabulary,
  position: PolicyPosition,
  { root, base }: { readonly root: string; readonly base: string },
): readonly CompletionOption[] {
  const below = base.slice(root.length);
  const list = position.variables.get(root);
  if (root === 'payload') return fieldOffers(actionsAt(all, position), base);
  if (list !== undefined) return fieldOffers(actionsAt(all, position), `${list}[]${below}`);
  const named = all.places.find(({ name }) => name === root);
  if (named?.kind === 'record') return fieldOffers(actionsAt(all, position), `${named.of}${below}`);
  if (named?.kind === 'row') return below === '' ? columnOffers(all, named.of) : [];
  return attributeOffers(all, base);
}

/** Whether the place is in a list of keys and groups of actions, as in `on a.b, ` and `of a.b, `. */
function isPatternList({ declaration, depth }: PolicyPosition, head: string): boolean {
  if (depth > 0 || declaration === null) return false;
  if (declaration === 'meter') return /\b(?:of|since)\s+(?:[\w.*]+,\s*)*$/.test(head);
  return /\b(?:on|except)\s+(?:[\w.*]+,\s*)*$/.test(head);
}

function patternOffers({ actions, names }: Vocabulary): readonly CompletionOption[] {
  const areas = new Set(actions.map(({ key }) => `${key.slice(0, key.lastIndexOf('.'))}.*`));
  return [
    ...names.groups.map((name) => ({ label: name, detail: 'group', boost: 1 })),
    ...actions.map(({ key }) => ({ label: key, detail: 'action' })),
    ...[...areas].map((label) => ({ label, detail: 'all of the area' })),
    { label: '*', detail: 'every action' },
  ];
}

function actionsAt({ actions }: Vocabulary, { patterns }: PolicyPosition): readonly ActionWords[] {
  if (patterns === null) return actions;
  const meant = actions.filter((action) => patterns.some((pattern) => isPatternOf(pattern, action)));
  // A pattern that is still being written matches no action yet.
  return meant.length === 0 ? actions : meant;
}

/**
 * Returns the fields directly below a path; the info of a field says when only some of the actions have it.
 */
function fieldOffers(actions: readonly ActionWords[], base: string): readonly CompletionOption[] {
  const offered = new Map<string, { readonly type: string; count: number }>();
  for (const { fields } of actions) {
    for (const { path, type } of fields) {
      const name = path.startsWith(`${base}.`) ? path.slice(base.length + 1) : '';
      if (!/^(?:\w+|"(?:[^"\\]|\\.)*")$/.test(name)) continue;
      const cached = offered.get(name);
      if (cached === undefined) offered.set(name, { type, count: 1 });
      else cached.count += 1;
    }
  }
  return [...offered].map(([label, { type, count }]) => ({
    label,
    detail: type,
    boost: 2,
    ...(count === actions.length ? {} : { info: `in ${count} of ${actions.length} actions` }),
  }));
}

function columnOffers({ tables }: Vocabulary, table: string): readonly CompletionOption[] {
  const columns = tables.find(({ name }) => name === table)?.columns ?? [];
  return columns.map(({ path, type }) => ({ label: path, detail: type, boost: 2 }));
}

function attributeOffers({ attributes }: Vocabulary, base: string): readonly CompletionOption[] {
  return attributes
    .filter(({ path }) => path.startsWith(`${base}.`))
    .map(({ path, type, doc }) => ({ label: path.slice(base.length + 1), detail: type, info: doc }));
}

const policyWords = [
  'allow',
  'deny',
  'escalate',
  'reauth',
  'risk',
  'shadow',
  'owner',
  'tags',
  'link',
  'when',
  'unless',
  'because',
];
const windowWords = ['today in', 'this week in', 'this month in'];
const jsonTypeText = [
  'boolean',
  'string',
  'number',
  'integer',
  'date',
  'timestamp',
  'datetime',
  'email',
  'url',
  'web_address',
  'host',
  'ip',
  'path',
  'money',
  'secret',
  'signed',
  'any',
];

function wordOffers(
  vocabulary: Vocabulary,
  position: PolicyPosition,
  head: string,
): readonly CompletionOption[] {
  const { declaration, depth } = position;
  const { names } = vocabulary;
  const isFirst = head.trim() === '';
  if (isFirst && depth === 0) return words([...declarationWords, 'shadow']);
  const [, present] = /([\w.]*)\s+has\s+$/.exec(head) ?? [];
  if (present !== undefined) {
    const base = present === '' ? 'payload' : present;
    return stepOffers(vocabulary, position, { root: base.split('.')[0] ?? '', base });
  }
  const ofFallback = declaration === 'policy' ? fallbackOffers(head) : [];
  if (ofFallback.length > 0) return ofFallback;
  if (/\b(?:to|approval\s+by|(?:never|always)\s+ask)\s+(?:\S+\s+(?:and|or)\s+)*$/.test(head))
    return [
      ...named(names.approvers, 'approvers', 1),
      ...named(names.tables, 'table'),
      ...named(names.lets, 'let'),
    ];
  if (declaration === 'approvers') return approversOffers(head);
  const ofStanding = declaration === 'policy' ? standingOffers(head) : [];
  if (ofStanding.length > 0) return ofStanding;
  if (declaration === 'action' || declaration === 'table' || declaration === 'type')
    return /:\s*(?:\[\s*)?$|\|\s*$/.test(head) || declaration === 'type'
      ? [...words(jsonTypeText), ...named(names.types, 'type')]
      : [];
  if (declaration === 'list' && /:\s*$/.test(head))
    return [...words([...jsonTypeText, 'network']), ...named(names.types, 'type')];
  if (isFirst && declaration === 'policy') return [...words(policyWords, 2), ...expressionOffers(vocabulary)];
  if (isFirst && declaration === 'guarantee') return words(['never', 'always', 'allow', 'when']);
  if (declaration === 'guarantee' && /\b(?:never|always)\s+$/.test(head))
    return words(['allow', 'deny', 'escalate', 'reauth', 'ask', 'standing']);
  if (declaration === 'guarantee' && /^\s*allow\s+$/.test(head))
    return words(['only when', 'unapproved only when']);
  if (declaration === 'meter' && /\bover\s+$/.test(head)) return words(windowWords);
  if (depth > 0 && isBehindValue(vocabulary, position, head))
    return [
      ...words(operators, 2),
      ...words(
        vocabulary.keywords.filter((one) => !operators.includes(one)),
        -1,
      ),
    ];
  const isOfList = /\b(?:in|any\s+of)\s+$/.test(head);
  const lists = isOfList
    ? [
        ...named(names.lists, 'list', 3),
        ...named(names.tables, 'table', 2),
        ...named(names.hours, 'hours', 2),
      ]
    : [];
  const variables = named([...position.variables.keys()], 'variable', 1);
  return [...lists, ...variables, ...expressionOffers(vocabulary), ...words(vocabulary.keywords, -1)];
}

/** What follows in `within DURATION then to APPROVERS within DURATION`; empty elsewhere. */
function fallbackOffers(head: string): readonly CompletionOption[] {
  const asks = /^\s*(?:shadow\s+)?(?:escalate\b.*\bto\b|allow\b.*\bafter\s+approval\b)/.test(head);
  if (!asks) return [];
  if (/\bthen\s+$/.test(head)) return words(['to'], 3);
  return /\bwithin\s+\d\w*\s+$/.test(head)
    ? words(['then to', 'standing', 'when', 'unless', 'because'], 3)
    : [];
}

/** What follows in `approvers NAME "TITLE" by chat up to risk N`; nothing can be offered for a name. */
function approversOffers(head: string): readonly CompletionOption[] {
  if (/"\s+$/.test(head)) return words(['by chat up to risk'], 3);
  if (/\bby\s+$/.test(head)) return words(['chat up to risk'], 3);
  return /\bchat\s+$/.test(head) ? words(['up to risk'], 3) : [];
}

/** What follows in `standing per KEYS for DURATION up to N times`; empty outside of the clause. */
function standingOffers(head: string): readonly CompletionOption[] {
  const start = head.lastIndexOf('standing ');
  const clause = head.slice(start + 'standing '.length);
  if (start === -1) return [];
  if (/^\s*$/.test(clause)) return words(['per'], 3);
  if (/^\s*per\s+(?:[^\s,]+\s*,\s*)*$/.test(clause)) return words(['session', 'user', 'agent', 'payload'], 3);
  if (/^\s*per\s+(?:[^\s,]+\s*,\s*)*[^\s,]+\s+$/.test(clause)) return words(['for'], 3);
  if (/\bfor\s+\d\w*\s+$/.test(clause)) return words(['up to', 'when', 'unless', 'because'], 3);
  return /\bup\s+to\s+\d+\s+$/.test(clause) ? words(['times'], 3) : [];
}

/** What can follow a value. */
const operators = [
  ...['and', 'or', 'else', 'in', 'not in', 'like', 'matches', 'starts with', 'ends with', 'contains'],
  ...['mentions any of', 'inside', 'within', 'is single_script', 'has'],
  ...['==', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/'],
];

/** Whether the text before the place ends with a value: a path, a name, a number, a text or a bracket. */
function isBehindValue({ names }: Vocabulary, { variables }: PolicyPosition, head: string): boolean {
  const [, last = ''] = /(\.?\w+|[")\]])\s+$/.exec(head) ?? [];
  if (/^(?:[.\d")\]]|now$)/.test(last)) return true;
  return variables.has(last) || names.lets.includes(last) || names.meters.includes(last);
}

function expressionOffers({ functions, attributes, names }: Vocabulary): readonly CompletionOption[] {
  const roots = new Set(attributes.map(({ path }) => path.split('.')[0] ?? ''));
  const docs = new Map(attributes.map(({ path, doc }) => [path, doc]));
  return [
    { label: 'payload', detail: 'what the agent claims', boost: 2 },
    ...[...roots].map((label) => {
      const info = docs.get(label);
      return { label, boost: 1, ...(info === undefined ? {} : { info }) };
    }),
    ...named(names.lets, 'let', 1),
    ...named(names.meters, 'meter', 1),
    ...named(names.lists, 'list'),
    ...named(names.tables, 'table'),
    ...named(names.hours, 'hours'),
    ...functions.map(({ name, signature, doc }) => ({ label: name, detail: signature, info: doc })),
  ];
}

function words(list: readonly string[], boost = 0): readonly CompletionOption[] {
  return list.map((label) => ({ label, boost }));
}

function named(list: readonly string[], detail: string, boost = 0): readonly CompletionOption[] {
  return list.map((label) => ({ label, detail, boost }));
}
