// Runs the rules that find what is legal and probably not meant: one file a rule, in the order of this list.

import type { Span } from '../../diagnostic/span.ts';
import type { Expression } from '../../model/expression.ts';
import type { PolicySet, Rule } from '../../model/policy.ts';
import type { PolicyFile } from '../../syntax/tree.ts';
import type { ValueOfLet } from '../constants.ts';
import { type Atom, atomsOf } from '../domains.ts';
import type { Environment } from '../environment.ts';
import { type Statement, statementOf } from '../implication.ts';
import { type Part, partsWithPolarity } from '../polarity.ts';
import { claimedSessions } from './claimed-sessions.ts';
import { constantConditions } from './constant-conditions.ts';
import { currenciesNeverEqual } from './currencies-never-equal.ts';
import { duplicateRules } from './duplicate-rules.ts';
import { everyOverEmpty } from './every-over-empty.ts';
import { exactDenyLists } from './exact-deny-lists.ts';
import { guardsStoppingShort } from './guards-stopping-short.ts';
import { guardsWithoutAllow } from './guards-without-allow.ts';
import { listsCovering } from './lists-covering.ts';
import { mixedScript } from './mixed-script.ts';
import { openAllows } from './open-allows.ts';
import { openDots } from './open-dots.ts';
import { riskNeverReached } from './risk-never-reached.ts';
import { rulesImplied } from './rules-implied.ts';
import { rulesNeverDeciding } from './rules-never-deciding.ts';
import { unanchoredTexts } from './unanchored-texts.ts';
import { unusedDeclarations } from './unused-declarations.ts';
import { upperBoundsAlone } from './upper-bounds-alone.ts';
import { valuesNeverEqual } from './values-never-equal.ts';
import { valuesNeverGranted } from './values-never-granted.ts';

/** What a rule of the checker looks at: a set without errors, the trees that it comes from, where to report to. */
export interface Checked {
  readonly set: PolicySet;
  readonly files: readonly PolicyFile[];
  readonly env: Environment;
  readonly valueOfLet: ValueOfLet;
  /** Rules that count, those that only shadow left out. */
  readonly enforced: readonly RuleInPolicy[];
}

export interface RuleInPolicy {
  readonly rule: Rule;
  /** Keys of the actions that it speaks of. */
  readonly actions: readonly string[];
  /** Place of its name. */
  readonly name: Span;
  /** All parts of its condition, lets followed. */
  readonly parts: readonly Part[];
  /** What its condition says of single values. */
  readonly atoms: readonly Atom[];
  /** Its condition taken apart, to ask what follows from it. */
  readonly statement: Statement;
}

const rules: readonly ((checked: Checked) => void)[] = [
  unusedDeclarations,
  openAllows,
  guardsWithoutAllow,
  rulesNeverDeciding,
  constantConditions,
  upperBoundsAlone,
  unanchoredTexts,
  duplicateRules,
  mixedScript,
  everyOverEmpty,
  exactDenyLists,
  claimedSessions,
  valuesNeverGranted,
  currenciesNeverEqual,
  rulesImplied,
  listsCovering,
  valuesNeverEqual,
  riskNeverReached,
  openDots,
  guardsStoppingShort,
];

export function warn(set: PolicySet, files: readonly PolicyFile[], env: Environment): void {
  const valueOfLet = (id: string): Expression | undefined => set.lets.get(id)?.expression;
  const names = namesOfRules(files);
  const enforced = set.policies.flatMap(({ actions, rules: inPolicy }) =>
    inPolicy
      .filter(({ isShadow }) => !isShadow)
      .map((rule) => ({
        rule,
        actions,
        name: names.get(rule.id) ?? rule.span,
        parts: partsWithPolarity(rule.condition, valueOfLet),
        atoms: atomsOf(rule.condition, true, valueOfLet),
        statement: statementOf(rule.condition, valueOfLet),
      })),
  );
  for (const rule of rules) rule({ set, files, env, valueOfLet, enforced });
}

function namesOfRules(files: readonly PolicyFile[]): ReadonlyMap<string, Span> {
  const policies = files.flatMap((file) => file.declarations).filter(({ kind }) => kind === 'policy');
  return new Map(
    policies.flatMap((policy) =>
      policy.kind === 'policy'
        ? policy.rules.map((rule) => [`${policy.name.text}/${rule.name.text}`, rule.name.span] as const)
        : [],
    ),
  );
}
