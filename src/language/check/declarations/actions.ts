// From action declarations to actions by key and to the members of groups. Several keys of one declaration share one
// shape; each key is declared once.

import { nearestOf } from '../../diagnostic/suggest.ts';
import type { Action } from '../../model/policy.ts';
import type { Shape, Slot } from '../../model/type.ts';
import { declarationsOfKind } from '../../syntax/tree/by-kind.ts';
import type { ActionDeclaration, NameNode, PolicyFile, RecordBody } from '../../syntax/tree/tree.ts';
import { isDeclared, namesOf } from '../expressions/declared-names.ts';
import type { Environment } from '../incremental/environment.ts';
import { kept } from '../incremental/kept.ts';
import { sameOrNew } from '../logic/same.ts';
import { actionDeclaredTwice, groupNamedTwice, resultFieldUnfit, typeTooLarge } from '../messages/errors.ts';
import { placeCurrencies } from './place-currencies.ts';
import { resolveTitle } from './title.ts';
import { fieldCount, payloadFieldsMax, resolveShape } from './types.ts';

/** Fills `env.actions` and `env.groups`. */
export function resolveActions(files: readonly PolicyFile[], env: Environment): void {
  const places = new Map<string, NameNode>();
  for (const file of files) {
    for (const declaration of declarationsOfKind(file, 'action')) {
      const actions = kept(env, declaration, () => resolveAction(declaration, env));
      for (const [at, action] of actions.entries()) addAction(action, declaration.keys[at]!, places, env);
    }
  }
  checkGroups(env);
}

function addAction(action: Action, name: NameNode, places: Map<string, NameNode>, env: Environment): void {
  const earlier = places.get(action.key);
  if (earlier !== undefined) {
    env.report(actionDeclaredTwice(name, earlier));
    return;
  }
  places.set(action.key, name);
  env.actions.set(action.key, action);
  for (const group of action.groups) {
    const members = env.groups.get(group);
    if (members === undefined) env.groups.set(group, [action.key]);
    else members.push(action.key);
  }
}

/** An action for each key of the declaration. */
function resolveAction(declaration: ActionDeclaration, env: Environment): readonly Action[] {
  const { body, doc, keys } = declaration;
  const groups = resolveGroups(declaration.groups, env);
  const whole = withGroupFields(body, groups, env);
  const made = placeCurrencies(resolveShape(whole, env), { body: whole, of: 'payload' }, env);
  const [firstKey] = keys;
  if (firstKey !== undefined && fieldCount({ kind: 'record', shape: made }) > payloadFieldsMax) {
    env.report(typeTooLarge(firstKey, payloadFieldsMax));
  }
  const { actions: before } = env.checkState.before;
  // A shape that has only moved is the same shape: what rests on it holds.
  const shape = sameOrNew(before.get(firstKey?.text ?? '')?.shape, made);
  const title = resolveTitle(declaration.title, made, env);
  const returned = declaration.result === null ? null : resolveResult(declaration.result, env);
  const result = returned && sameOrNew(before.get(firstKey?.text ?? '')?.result ?? undefined, returned);
  return keys.map(({ text: key, span }) =>
    sameOrNew(before.get(key), { key, groups, shape, result, title, doc, span }),
  );
}

/** Fields of its groups first, so that one that it declares again is blamed in the action. */
function withGroupFields(body: RecordBody, groups: readonly string[], env: Environment): RecordBody {
  const bodies = groups.flatMap((name) => {
    const group = env.ask('declaration', name);
    return group?.kind === 'group' && group.body !== null ? [group.body] : [];
  });
  if (bodies.length === 0) return body;
  const all = [...bodies, body];
  return {
    ...body,
    fields: all.flatMap(({ fields }) => fields),
    isOpen: all.some(({ isOpen }) => isOpen),
    ...(all.some(({ isBroken }) => isBroken) ? { isBroken: true } : {}),
  };
}

/** The fields of groups that no action has may be in error, too; having fields is use enough. */
function checkGroups(env: Environment): void {
  for (const declaration of env.declarations.ofKind('group')) {
    const { name, body } = declaration;
    if (body === null) continue;
    if (env.groups.has(name.text)) env.use(name.text);
    kept(env, declaration, () => resolveShape(body, env));
  }
}

/** The shape of a result: no field is secret or signed, since results are kept in records and reported without signatures. */
function resolveResult(body: RecordBody, env: Environment): Shape {
  const shape = placeCurrencies(resolveShape(body, env), { body, of: 'result' }, env);
  for (const [at, { name }] of body.fields.entries()) {
    const field = shape.fields.find((one) => one.name === name.text);
    if (field !== undefined && isMarked(field)) env.report(resultFieldUnfit(body.fields[at]!.name));
  }
  return shape;
}

/** Whether a slot, or something within it, is secret or signed. */
function isMarked({ type, isSecret, isSigned }: Slot): boolean {
  if (isSecret || isSigned) return true;
  if (type.kind === 'list') return isMarked(type.element);
  return type.kind === 'record' && type.shape.fields.some(isMarked);
}

function resolveGroups(names: readonly NameNode[], env: Environment): readonly string[] {
  const groups = new Map<string, NameNode>();
  for (const name of names) {
    const earlier = groups.get(name.text);
    if (earlier !== undefined) env.report(groupNamedTwice(name, earlier));
    const meant = groupMeant(name, env);
    if (meant !== null) groups.set(meant, name);
  }
  return [...groups.keys()].sort();
}

/** A group by a name that is nearly its own is taken for it, so that its policies are not blamed for the slip. */
function groupMeant(name: NameNode, env: Environment): string | null {
  // Belonging to a group is no use of it: what no pattern names is unused.
  if (isDeclared(env, name, 'group')) return name.text;
  return nearestOf(name.text, namesOf(env, 'group'));
}
