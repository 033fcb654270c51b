// Checks a link of a delegation against the declared actions: its patterns, and its condition as if it were
// the `when` of a policy on the actions that they match. INVARIANT: a resolved condition reads the request
// alone. No name of the policy set is in scope, so nobody learns what lists, tables or meters contain.

import { type Diagnostic, hasErrors } from '../diagnostic/diagnostic.ts';
import type { SourceText } from '../diagnostic/span.ts';
import { childrenOf } from '../model/children.ts';
import { type DelegationLink, matchesAction, type ResolvedLink } from '../model/delegation.ts';
import type { Expression } from '../model/expression.ts';
import { bareAction } from '../model/link-guards.ts';
import type { Shape } from '../model/type.ts';
import { isPattern } from '../syntax/parse/keys.ts';
import { parseExpression } from '../syntax/parse.ts';
import { actionSetOver } from './expressions/action-sets.ts';
import { inferCondition } from './expressions/context.ts';
import { createEnvironment } from './expressions/create-environment.ts';
import { contextOver } from './expressions/scope.ts';
import type { Declarations, Environment } from './incremental/environment.ts';
import { createCheckState } from './incremental/state.ts';
import { error } from './messages/problem.ts';

/** The declared actions, as far as a link depends on them. */
export interface DeclaredActions {
  readonly keys: readonly string[];
  readonly shapeOf: (action: string) => Shape | null;
}

export interface CheckedLink {
  /** Null exactly when there is a problem. */
  readonly link: ResolvedLink | null;
  readonly problems: readonly LinkProblem[];
}

export interface LinkProblem {
  readonly part: 'actions' | 'when';
  /** Lower case, without a final period. */
  readonly message: string;
  /** Where in the condition, as offsets; null for a problem of the actions. */
  readonly at: { readonly start: number; readonly end: number } | null;
}

/** Checks a link, in at most one pass over the actions that it names; places in its condition name `path`. */
export function checkLink(stated: DelegationLink, declared: DeclaredActions, path = 'when'): CheckedLink {
  const problems = stated.actions.flatMap((pattern) => patternProblem(pattern, declared));
  if (problems.length > 0) return { link: null, problems };
  const { name, when } = stated;
  const actions = declared.keys.filter((key) => stated.actions.some((one) => matchesAction(one, key)));
  if (when === null) return { link: { name, actions, when }, problems: [] };
  const condition = checkCondition({ path, text: when }, actions, declared);
  if ('expression' in condition) return { link: { name, actions, when: condition.expression }, problems: [] };
  return {
    link: null,
    problems: conditionProblems({ path, text: when }, condition.errors, { actions, declared }),
  };
}

/** How many actions are checked alone to say which one a condition does not fit. */
const checkedAloneMax = 50;

interface NamedActions {
  readonly actions: readonly string[];
  readonly declared: DeclaredActions;
}

function conditionProblems(
  when: SourceText,
  errors: readonly Diagnostic[],
  { actions, declared }: NamedActions,
): readonly LinkProblem[] {
  const unfit = actions
    .slice(0, checkedAloneMax)
    .find((key) => 'errors' in checkCondition(when, [key], declared));
  const where = actions.length > 1 && unfit !== undefined ? `for \`${unfit}\`: ` : '';
  return errors.map(({ message, help, span: { start, end } }) => ({
    part: 'when',
    message: `${where}${message}${help === undefined ? '' : `: ${help}`}`,
    at: { start, end },
  }));
}

function patternProblem(pattern: string, { keys }: DeclaredActions): readonly LinkProblem[] {
  if (!isPattern(pattern)) return [problem(`\`*\` in \`${pattern}\` is neither first nor last`)];
  if (keys.some((key) => matchesAction(pattern, key))) return [];
  return [
    problem(
      pattern.includes('*') ? `no declared action matches \`${pattern}\`` : `\`${pattern}\` is not declared`,
    ),
  ];
}

function problem(message: string): LinkProblem {
  return { part: 'actions', message, at: null };
}

type CheckedCondition = { readonly expression: Expression } | { readonly errors: readonly Diagnostic[] };

function checkCondition(
  when: SourceText,
  keys: readonly string[],
  declared: DeclaredActions,
): CheckedCondition {
  const parsed = parseExpression(when);
  if (hasErrors(parsed.diagnostics)) return { errors: parsed.diagnostics };
  const env = environmentOf(keys, declared);
  const { value: expression, diagnostics } = env.recorder.detached(
    () => inferCondition(parsed.expression, contextOver(actionSetOver(keys, env), env)).expression,
  );
  const errors = diagnostics
    .filter((one) => 'code' in one)
    .filter((one) => hasErrors([one]))
    .map(aboutRequest);
  if (expression === null || errors.length > 0) return { errors };
  return readsRisk(expression) ? { errors: [riskUnreadable(expression)] } : { expression };
}

/** An environment that declares actions alone. */
function environmentOf(keys: readonly string[], { shapeOf }: DeclaredActions): Environment {
  const env = createEnvironment(noDeclarations, () => noListFile, createCheckState());
  for (const key of keys) {
    const shape = shapeOf(key);
    if (shape !== null) env.actions.set(key, bareAction(key, shape));
  }
  return env;
}

const noDeclarations: Declarations = { get: () => undefined, ofKind: () => [] };
const noListFile = { code: 'list-file-missing', message: 'a delegation reads no files' } as const;

/** Says what a delegation may read, where the condition names something of the policies. */
function aboutRequest(diagnostic: Diagnostic): Diagnostic {
  if (diagnostic.code !== 'unknown-name') return diagnostic;
  const help = 'a delegation reads the request alone: `payload`, `agent`, `request`, `action` and `now`';
  return { ...diagnostic, help };
}

function readsRisk(expression: Expression): boolean {
  return expression.kind === 'risk' || childrenOf(expression).some(readsRisk);
}

function riskUnreadable({ span }: Expression): Diagnostic {
  return error('unknown-name', span, 'a delegation cannot read `risk`', {
    help: 'it depends on the policies: read the payload instead',
  });
}
