// From action declarations to actions by key and to the members of groups. Several keys of one declaration share one
// shape; each key is declared once.

import type { ActionDeclaration, Name, PolicyFile } from '../syntax/tree.ts';
import { type Environment, findDeclared } from './environment.ts';
import { actionDeclaredTwice, groupNamedTwice, typeTooLarge } from './errors.ts';
import { fieldCount, fieldsMax, resolveShape } from './types.ts';

/** Fills `env.actions` and `env.groups`. */
export function resolveActions(files: readonly PolicyFile[], env: Environment): void {
  const places = new Map<string, Name>();
  for (const declaration of files.flatMap((file) => file.declarations)) {
    if (declaration.kind === 'action') resolveAction(declaration, places, env);
  }
}

function resolveAction(declaration: ActionDeclaration, places: Map<string, Name>, env: Environment): void {
  const groups = resolveGroups(declaration.groups, env);
  const shape = resolveShape(declaration.body, env);
  const [firstKey] = declaration.keys;
  if (firstKey !== undefined && fieldCount({ kind: 'record', shape }) > fieldsMax) {
    env.report(typeTooLarge(firstKey, fieldsMax));
  }
  for (const key of declaration.keys) {
    const earlier = places.get(key.text);
    if (earlier !== undefined) {
      env.report(actionDeclaredTwice(key, earlier));
      continue;
    }
    places.set(key.text, key);
    env.actions.set(key.text, { key: key.text, groups, shape, doc: declaration.doc, span: key.span });
    for (const group of groups) env.groups.set(group, [...(env.groups.get(group) ?? []), key.text]);
  }
}

function resolveGroups(names: readonly Name[], env: Environment): readonly string[] {
  const groups = new Map<string, Name>();
  for (const name of names) {
    const earlier = groups.get(name.text);
    if (earlier !== undefined) env.report(groupNamedTwice(name, earlier));
    // Belonging to a group is no use of it: what no pattern names is unused.
    const wasUsed = env.used.has(name.text);
    if (findDeclared(env, name, 'group') !== null) groups.set(name.text, name);
    if (!wasUsed) env.used.delete(name.text);
  }
  return [...groups.keys()].sort();
}
