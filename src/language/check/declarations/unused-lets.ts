// Lets that nothing reads are checked all the same, so that a mistake in one is found before it is used: against each
// action that has the fields which it reads, and against all of them, everything taken as present. One that is right
// for some of them is right. Nothing of this enters the model.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Shape } from '../../model/type.ts';
import type { LetDeclaration, ExpressionNode as Tree } from '../../syntax/tree/tree.ts';
import { walkExpression } from '../../syntax/tree/visit.ts';
import { actionSetOver } from '../expressions/action-sets.ts';
import { contextOver } from '../expressions/scope.ts';
import type { Environment } from '../incremental/environment.ts';
import { type CheckOutcome, walkOutcome } from '../incremental/recorder.ts';
import type { ActionSet } from '../incremental/resolved.ts';
import { payloadField } from '../logic/payload-paths.ts';
import { structureOf } from '../logic/structure.ts';

/** `read` are the names of the lets that something reads. */
export function checkUnusedLets(read: ReadonlySet<string>, env: Environment): void {
  const apart: Environment = { ...env, variants: new Map() };
  for (const declaration of env.declarations.ofKind('let')) {
    if (read.has(declaration.name.text)) continue;
    if (!env.endless.has(declaration.name.text)) checkAlone(declaration, apart);
  }
}

function checkAlone({ value }: LetDeclaration, env: Environment): void {
  const fields = payloadFields(value);
  let first: CheckOutcome | null = null;
  for (const actions of setsToTry(fields, env)) {
    const ctx = contextOver(actions, env);
    const tried = env.recorder.apart(() => ctx.infer(value, { ...ctx, inLet: true, presence: 'everything' }));
    first ??= tried;
    if (!hasErrors(tried)) {
      first = tried;
      break;
    }
  }
  if (first !== null) repeat(first, env);
}

/** Each action that has the fields, of those that declare them alike one; then all; any action where none has them. */
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

/** An amount is signed where its currency is. */
function currencyOf(field: ReturnType<typeof payloadField>, shape: Shape): boolean {
  const { type } = field!;
  return type.kind === 'money' && payloadField(shape, type.currencyField ?? '')?.isSigned === true;
}

function hasErrors(outcome: CheckOutcome): boolean {
  let found = false;
  const said = ({ severity }: Diagnostic): void => {
    found ||= severity === 'error';
  };
  walkOutcome(outcome, { outcome: () => undefined, said });
  return found;
}

/** What was said apart, as a part of the set. */
function repeat(tried: CheckOutcome, env: Environment): void {
  walkOutcome(tried, { outcome: ({ used }) => used.forEach(env.use), said: env.report });
}

/** First steps of the payload paths in an expression. */
function payloadFields(expression: Tree): ReadonlySet<string> {
  const fields = new Set<string>();
  walkExpression(expression, (node) => {
    const [first] = node.kind === 'path' ? node.steps : node.kind === 'has' ? node.field : [];
    const root = node.kind === 'path' ? node.root : node.kind === 'has' ? node.subject.root : null;
    if (root?.text === 'payload' && first !== undefined) fields.add(first.text);
  });
  return fields;
}
