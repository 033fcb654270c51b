// Random policy sets as text: a few actions, the declarations that their rules use, and policies over patterns.

import type { Random } from '../../src/prove/random.ts';
import { condition, type ExpressionScope, reasonPlaces, type ScopedField } from './expressions.ts';
import { currencyField, type FieldKind, fieldKinds } from './fields.ts';

export interface RandomSet {
  readonly text: string;
  readonly actions: readonly RandomAction[];
  readonly meters: readonly string[];
}

export interface RandomAction {
  readonly key: string;
  readonly fields: readonly ScopedField[];
  readonly isOpen: boolean;
}

const keys = ['area.read', 'area.delete', 'other.delete', 'area.sub.create'];
const groups = ['careful', 'open_ended'];
const textLists = ['friends', 'folded'];
const hours = ['office', 'nights'];

export function randomSet(random: Random): RandomSet {
  const actions = random.some(keys, 0.5).map((key) => randomAction(random, key));
  if (actions.length === 0) actions.push(randomAction(random, 'area.read'));
  const meters = metersFor(actions);
  const scopeOf = (matched: readonly RandomAction[], risk: ExpressionScope['risk']): ExpressionScope => ({
    random,
    fields: merged(matched),
    conditions: ['daytime', 'trusted'],
    meters: meters.map(({ name, currency }) => ({ name, currency })),
    textLists,
    hours,
    actionKeys: actions.map(({ key }) => key),
    risk,
  });
  const policies = Array.from({ length: 1 + random.below(3) }, (_, index) =>
    policy(random, { name: `policy_${index}`, actions, scopeOf }),
  );
  const declarations = [
    ...groups.map((group) => `group ${group}`),
    ...actions.map((action, index) => declaration(action, groups[index % 2] as string)),
    'approvers finance "Finance"',
    'approvers legal "Legal"',
    'list friends = ["alpha", "buyer-1", "VIP10"]',
    'list folded ignoring case = ["ALPHA  beta", "Bob"]',
    'list holidays = [2026-03-03]',
    'hours office = mon-fri 09:00-17:00 in "Europe/Berlin" except holidays',
    'hours nights = sat-mon 22:00-06:00, 2026-03-05..2026-03-06 in "America/New_York"',
    'let daytime = now in office',
    'let trusted = "trusted" in agent.tags or agent.risk_tier == "low"',
    ...meters.map(({ text }) => text),
  ];
  return { text: [...declarations, ...policies].join('\n'), actions, meters: meters.map(({ name }) => name) };
}

function randomAction(random: Random, key: string): RandomAction {
  const chosen = random.some(fieldKinds, 0.3);
  const kinds = chosen.some(({ name }) => name === 'price') ? [...chosen, currencyField] : chosen;
  const fields = kinds.map((kind: FieldKind) => ({
    ...kind,
    isOptional: kind.name !== 'currency' && kind.name !== 'price' && random.chance(0.25),
  }));
  return { key, fields, isOpen: random.chance(0.1) };
}

function declaration({ key, fields, isOpen }: RandomAction, group: string): string {
  const lines = fields.map(
    ({ name, isOptional, declaration: type }) => `  ${name}${isOptional ? '?' : ''}: ${type}`,
  );
  return `action ${key} in ${group} {\n${[...lines, ...(isOpen ? ['  ...'] : [])].join('\n')}\n}`;
}

function metersFor(
  actions: readonly RandomAction[],
): readonly { name: string; currency: string | null; text: string }[] {
  const counting = { name: 'runs', currency: null, text: 'meter runs = count() of * per agent over 24h' };
  const paying = actions.find(({ fields }) => fields.some(({ name }) => name === 'price'));
  if (paying === undefined) return [counting];
  const spent = `meter spent = sum(payload.price) in USD of ${paying.key} per agent over 7d`;
  return [counting, { name: 'spent', currency: 'USD', text: spent }];
}

/** What a policy over several actions sees: a field is optional if it is optional or missing in any of them. */
function merged(actions: readonly RandomAction[]): readonly ScopedField[] {
  const names = new Set(actions.flatMap(({ fields }) => fields.map(({ name }) => name)));
  return [...names].map((name) => {
    const declared = actions.flatMap(({ fields }) => fields.filter((field) => field.name === name));
    const isOptional = declared.length < actions.length || declared.some((field) => field.isOptional);
    return { ...(declared[0] as ScopedField), isOptional };
  });
}

interface PolicyOptions {
  readonly name: string;
  readonly actions: readonly RandomAction[];
  readonly scopeOf: (matched: readonly RandomAction[], risk: ExpressionScope['risk']) => ExpressionScope;
}

function policy(random: Random, { name, actions, scopeOf }: PolicyOptions): string {
  const one = random.pick(actions);
  const [pattern, matched] = random.chance(0.5)
    ? [one.key, [one]]
    : random.chance(0.5)
      ? ['*', actions]
      : ['area.*', actions.filter(({ key }) => key.startsWith('area.'))];
  const usable = matched.length === 0 ? [one] : matched;
  const rules = Array.from({ length: 1 + random.below(6) }, (_, index) =>
    rule(random, `rule_${index}`, (risk) => scopeOf(usable, risk)),
  );
  const when = random.chance(0.15) ? ` when ${condition(scopeOf(usable, 'none'), 1)}` : '';
  const shadow = random.chance(0.1) ? 'shadow ' : '';
  return `${shadow}policy ${name} on ${matched.length === 0 ? one.key : pattern}${when} {\n${rules.join('\n')}\n}`;
}

function rule(
  random: Random,
  name: string,
  scopeFor: (risk: ExpressionScope['risk']) => ExpressionScope,
): string {
  const effect = random.pick(['allow', 'allow', 'allow', 'deny', 'escalate', 'reauth', 'risk']);
  const readsRisk = effect !== 'risk' && random.chance(0.3);
  const scope = scopeFor(readsRisk ? (effect === 'allow' ? 'allow' : 'guard') : 'none');
  const points = `${random.pick(['+', '-'])}${random.pick([5, 20, 40, 70])}`;
  const clauses = [
    `${random.chance(0.1) ? 'shadow ' : ''}${effect} ${name} ${effect === 'risk' ? points : parameters(random, effect)}`,
    ...(random.chance(0.9) ? [`  when ${condition(scope, random.below(4))}`] : []),
    ...(random.chance(0.3) ? [`  unless ${condition({ ...scope, risk: 'none' }, random.below(2))}`] : []),
    ...(effect !== 'risk' && !readsRisk && random.chance(0.3) ? [`  risk ${points}`] : []),
    ...(effect !== 'risk' && random.chance(0.4) ? [`  because ${JSON.stringify(reasonPlaces(scope))}`] : []),
  ];
  return clauses.map((clause) => `  ${clause}`).join('\n');
}

function parameters(random: Random, effect: string): string {
  const people = random.pick(['finance', 'legal', 'owner']);
  const within = random.pick(['', ' within 1h', ' within 4h']);
  switch (effect) {
    case 'allow':
      return random.pick([
        '',
        '',
        'for 10m',
        `after approval by ${people} needs ${1 + random.below(3)}${within}`,
        `after reauth${within}`,
        'for 2m',
      ]);
    case 'escalate':
      return `to ${people} needs ${1 + random.below(3)}${within}`;
    case 'reauth':
      return within.trim();
    default:
      return '';
  }
}
