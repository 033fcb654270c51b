// Checks lets that nothing reads, so that a mistake is found before the let is used. A let is tried on each
// action that has the fields that the let reads, then on all actions together, with every field taken as
// present. A let that is valid for any of these is valid. The results do not enter the model.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Shape } from '../../model/type.ts';
import type { LetDeclaration, ExpressionNode as Tree } from '../../syntax/tree/tree.ts';
import { walkExpression } from '../../syntax/tree/visit.ts';
import { actionSetOver } from '../expressions/action-sets.ts';
import type { Context, Inference } from '../expressions/context.ts';
import { isRow, parameterVariables } from '../expressions/definitions.ts';
import { contextOver } from '../expressions/scope.ts';
import type { Environment } from '../incremental/environment.ts';
import { type CheckOutcome, walkOutcome } from '../incremental/recorder.ts';
import type { ActionSet } from '../incremental/resolved.ts';
import { payloadField } from '../logic/payload-paths.ts';
import { structureOf } from '../logic/structure.ts';

/** Checks all lets but those in `read`, the names of lets that something reads. */
export function checkUnusedLets(read: ReadonlySet<string>, env: Environment): void {
  const apart: Environment = { ...env, variants: new Map() };
  for (const declaration of env.declarations.ofKind('let')) {
    if (read.has(declaration.name.text)) continue;
    if (!env.endless.has(declaration.name.text)) checkAlone(declaration, apart);
  }
}

function checkAlone(declaration: LetDeclaration, env: Environment): void {
  const { value } = declaration;
  const fields = payloadFields(value);
  let first: CheckOutcome | null = null;
  for (const actions of setsToTry(fields, env)) {
    const ctx = contextOver(actions, env);
    const tried = env.recorder.detached(() =>
      inferAlone(declaration, { ...ctx, inLet: true, presence: 'everything' }),
    );
    first ??= tried;
    if (!hasErrors(tried)) {
      first = tried;
      break;
    }
  }
  if (first !== null) repeat(first, env);
}

/** Types the value with the parameters as variables; of a row, which is no value by itself, only its key. */
function inferAlone(declaration: LetDeclaration, ctx: Context): Inference {
  const { value } = declaration;
  const variables = parameterVariables(declaration, ctx.env);
  const isKey = value.kind === 'look-up' && isRow(declaration, ctx.env);
  return ctx.infer(isKey ? value.key : value, { ...ctx, variables });
}

/**
 * Yields each action that has all of the fields, only one of several that declare the fields alike; the first
 * action when none has them; then all actions together.
 */
function* setsToTry(fields: ReadonlySet<string>, env: Environment): Generator<ActionSet> {
  const tried = new Set<string>();
  const keys = [...env.actions.keys()].sort();
  for (const key of keys) {
    const shape = env.actions.get(key)!.shape;
    const declared = [...fields].map((name) => payloadField(shape, name));
    if (declared.includes(undefined)) continue;
    const structure = structureOf(declared.map((field) => [field, currencyOf(field, shape)]));
    if (tried.has(structure)) continue;
    tried.add(structure);
    yield actionSetOver([key], env);
  }
  if (tried.size === 0) yield actionSetOver(keys.slice(0, 1), env);
  yield actionSetOver(keys, env);
}

/** Whether the field is an amount whose currency is signed: the amount is then signed too. */
function currencyOf(field: ReturnType<typeof payloadField>, shape: Shape): boolean {
  const { type } = field!;
  return type.kind === 'money' && payloadField(shape, type.currencyField ?? '')?.isSigned === true;
}

function hasErrors(outcome: CheckOutcome): boolean {
  let hasError = false;
  const said = ({ severity }: Diagnostic): void => {
    hasError ||= severity === 'error';
  };
  walkOutcome(outcome, { outcome: () => undefined, diagnostic: said });
  return hasError;
}

/** Reports what an outcome that was checked apart reported and used, now as a part of the set. */
function repeat(tried: CheckOutcome, env: Environment): void {
  walkOutcome(tried, { outcome: ({ used }) => used.forEach(env.use), diagnostic: env.report });
}

/** Returns the first steps of the payload paths in an expression. */
function payloadFields(expression: Tree): ReadonlySet<string> {
  const fields = new Set<string>();
  walkExpression(expression, (node) => {
    const [first] = node.kind === 'path' ? node.steps : node.kind === 'has' ? node.field : [];
    const path = node.kind === 'has' ? node.subject : node;
    const root = path.kind === 'path' ? path.root : null;
    if (root?.text === 'payload' && first !== undefined) fields.add(first.text);
  });
  return fields;
}
