// Runs the rules that find what is legal and probably not meant: one file a rule. Those that look at one policy, meter,
// guarantee or let alone are run again only where it or what it rests on has changed; those that look at the whole set
// are run each time.

import type { Expression } from '../../model/expression.ts';
import type { Policy, PolicySet } from '../../model/policy.ts';
import type { PolicyDeclaration, PolicyFile } from '../../syntax/tree/tree.ts';
import type { Environment } from '../incremental/environment.ts';
import { kept } from '../incremental/kept.ts';
import type { ValueOfLet } from '../logic/constants.ts';
import type { Examined, ExaminedRule, GroupRule, ListRead } from './engine/examined.ts';
import { keptBeside } from './engine/kept-beside.ts';
import { lazily } from './engine/lazily.ts';
import { type RuleInPolicy, ruleInPolicy } from './engine/rule-in-policy.ts';
import { inOrder, type RuleGroup, rulesByActions } from './engine/rules-by-actions.ts';
import { claimedSessions } from './rules/claimed-sessions.ts';
import { constantConditions } from './rules/constant-conditions.ts';
import { currenciesNeverEqual } from './rules/currencies-never-equal.ts';
import { duplicateRules } from './rules/duplicate-rules.ts';
import { everyOverEmpty } from './rules/every-over-empty.ts';
import { exactDenyLists } from './rules/exact-deny-lists.ts';
import { guardsStoppingShort } from './rules/guards-stopping-short.ts';
import { guardsWithoutAllow } from './rules/guards-without-allow.ts';
import { listsCovering } from './rules/lists-covering.ts';
import {
  mixedScriptInConditions,
  mixedScriptInDeclarations,
  mixedScriptInText,
} from './rules/mixed-script.ts';
import { openAllows } from './rules/open-allows.ts';
import { openDots } from './rules/open-dots.ts';
import { patternsMistaken } from './rules/patterns-mistaken.ts';
import { riskNeverReached } from './rules/risk-never-reached.ts';
import { rulesImplied } from './rules/rules-implied.ts';
import { rulesNeverDeciding } from './rules/rules-never-deciding.ts';
import { spellingsNeverMet } from './rules/spellings-never-met.ts';
import { unanchoredTexts } from './rules/unanchored-texts.ts';
import { unusedDeclarations } from './rules/unused-declarations.ts';
import { upperBoundsAlone } from './rules/upper-bounds-alone.ts';
import { entriesNeverEqual, listReadsIn, literalsNeverEqual } from './rules/values-never-equal.ts';
import { valuesNeverGranted } from './rules/values-never-granted.ts';

const rulesOfParts: readonly ((examined: Examined) => void)[] = [
  openAllows,
  constantConditions,
  upperBoundsAlone,
  unanchoredTexts,
  spellingsNeverMet,
  mixedScriptInConditions,
  everyOverEmpty,
  exactDenyLists,
  currenciesNeverEqual,
  listsCovering,
  literalsNeverEqual,
  openDots,
  patternsMistaken,
];

const rulesOfSets: readonly ((checked: ExaminedRule) => void)[] = [
  unusedDeclarations,
  mixedScriptInDeclarations,
  valuesNeverGranted,
  entriesNeverEqual,
  riskNeverReached,
];

const rulesOfGroups: readonly ((checked: ExaminedRule) => GroupRule)[] = [
  guardsWithoutAllow,
  rulesNeverDeciding,
  duplicateRules,
  claimedSessions,
  rulesImplied,
  guardsStoppingShort,
];

export interface Whole {
  readonly set: PolicySet;
  readonly files: readonly PolicyFile[];
  readonly env: Environment;
  /** From which each policy comes. */
  readonly declarations: ReadonlyMap<Policy, PolicyDeclaration>;
  readonly used: ReadonlySet<string>;
}

/** What of a part the rules about the whole set go by. */
interface Findings {
  readonly enforced: readonly RuleInPolicy[];
  readonly listReads: readonly ListRead[];
}

export function warn({ set, files, env, declarations, used }: Whole): void {
  const enforced: RuleInPolicy[] = [];
  const listReads: ListRead[] = [];
  for (const findings of examineAll(set, env, declarations)) {
    for (const one of findings.enforced) enforced.push(one);
    for (const one of findings.listReads) listReads.push(one);
  }
  const valueOfLet: ValueOfLet = (id) => set.lets.get(id)?.expression;
  const around = rulesByActions(enforced);
  const { indices } = env.checkState;
  const checked: ExaminedRule = { set, files, env, valueOfLet, enforced, around, listReads, used, indices };
  for (const rule of rulesOfSets) rule(checked);
  const besideAll = lazily(() => rulesOfGroups.map((rule) => rule(checked)));
  for (const group of around.groups) {
    const near = around.meeting(group.actions);
    keptBeside(env, group.actions, near, () => {
      for (const rule of besideFew(near, checked) ?? besideAll()) rule(group);
    });
  }
}

const fewMax = 512;

/** The rules that look at a group, where few speak of its actions: nothing else has to be indexed for them. Else null. */
function besideFew(
  near: readonly RuleGroup<RuleInPolicy>[],
  checked: ExaminedRule,
): readonly GroupRule[] | null {
  if (near.reduce((count, { rules }) => count + rules.length, 0) > fewMax) return null;
  const enforced = inOrder(near);
  const few: ExaminedRule = { ...checked, enforced, around: rulesByActions(enforced), indices: new Map() };
  return rulesOfGroups.map((rule) => rule(few));
}

function* examineAll(
  set: PolicySet,
  env: Environment,
  declarations: ReadonlyMap<Policy, PolicyDeclaration>,
): Generator<Findings> {
  for (const policy of set.policies) {
    const declaration = declarations.get(policy) ?? null;
    yield kept(env, policy, () =>
      examine(
        policy.rules.map(({ condition }) => condition),
        env,
        { policy, declaration },
      ),
    );
  }
  for (const one of set.lets.values()) yield kept(env, one, () => examineLet(one.expression, env));
  for (const meter of set.meters.values()) yield kept(env, meter, () => examine(given([meter.when]), env));
  for (const one of set.guarantees) {
    yield kept(env, one, () => examine(given(one.claims.map(({ when }) => when)), env));
  }
}

function given(conditions: readonly (Expression | null)[]): readonly Expression[] {
  return conditions.filter((condition) => condition !== null);
}

interface OfPolicy {
  readonly policy: Policy;
  readonly declaration: PolicyDeclaration | null;
}

function examine(conditions: readonly Expression[], env: Environment, of: OfPolicy | null = null): Findings {
  const valueOfLet = letsAskedFor(env);
  const enforced = of === null ? [] : enforcedRules(of, env, valueOfLet);
  const examined: Examined = { env, valueOfLet, conditions, declaration: of?.declaration ?? null, enforced };
  for (const rule of rulesOfParts) rule(examined);
  return { enforced, listReads: conditions.flatMap(listReadsIn) };
}

/** A let is no condition by itself: it is looked at where it is read, but for what it says of lists and texts. */
function examineLet(expression: Expression, env: Environment): Findings {
  const examined: Examined = {
    env,
    valueOfLet: letsAskedFor(env),
    conditions: [expression],
    declaration: null,
    enforced: [],
  };
  spellingsNeverMet(examined);
  mixedScriptInText(examined);
  literalsNeverEqual(examined);
  return { enforced: [], listReads: listReadsIn(expression) };
}

/** Values of lets, of which it is remembered that the findings rest on them. */
function letsAskedFor(env: Environment): ValueOfLet {
  const known = { whereTrue: new Map(), whereFalse: new Map() };
  return Object.assign((id: string) => env.ask('letValue', id), { known });
}

function enforcedRules(
  { policy, declaration }: OfPolicy,
  env: Environment,
  valueOfLet: ValueOfLet,
): readonly RuleInPolicy[] {
  const names = new Map(declaration?.rules.map(({ name }) => [name.text, name.span]));
  return policy.rules
    .filter(({ isShadow }) => !isShadow)
    .map((rule) =>
      ruleInPolicy(rule, policy.actions, names.get(rule.name) ?? rule.span, { env, valueOfLet }),
    );
}
