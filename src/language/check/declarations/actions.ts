// Turns action declarations into actions by key and members of groups. All keys of one declaration share one
// shape; a key that is declared twice is reported.

import { nearestOf } from '../../diagnostic/suggest.ts';
import { currencyLocation } from '../../model/currency.ts';
import type { Action } from '../../model/policy.ts';
import { type Title, type TitleField, titleLengthMax } from '../../model/title.ts';
import type { Shape, Slot, Type } from '../../model/type.ts';
import { declarationsOfKind } from '../../syntax/tree/by-kind.ts';
import type {
  ActionDeclaration,
  ExpressionNode,
  NameNode,
  PolicyFile,
  RecordBody,
  TemplateNode,
} from '../../syntax/tree/tree.ts';
import { isDeclared, namesOf } from '../expressions/declared-names.ts';
import { fieldCount, payloadFieldsMax, resolveShape } from '../expressions/types.ts';
import type { Environment } from '../incremental/environment.ts';
import { memoized } from '../incremental/memoized.ts';
import { failedType } from '../logic/merge.ts';
import { payloadField } from '../logic/payload-paths.ts';
import { sameOrNew } from '../logic/same.ts';
import { actionDeclaredTwice, groupNamedTwice, resultFieldUnfit, typeTooLarge } from '../messages/errors.ts';
import {
  titleFieldSecret,
  titleFieldUnknown,
  titleHoldsNoField,
  titleNamesPayload,
  titleNotPrintable,
  titleUnfit,
} from '../messages/title-errors.ts';
import { reportDoubleBraces } from '../warnings/rules/placeholder-unread.ts';
import { placeCurrencies } from './place-currencies.ts';

/** Fills `env.actions` and `env.groups`. */
export function resolveActions(files: readonly PolicyFile[], env: Environment): void {
  const places = new Map<string, NameNode>();
  for (const file of files) {
    for (const declaration of declarationsOfKind(file, 'action')) {
      const actions = memoized(env, declaration, () => resolveAction(declaration, env));
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

/** Returns one action for each key of the declaration. */
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
  // An equal shape keeps its identity, so that results that rest on the shape stay valid.
  const shape = sameOrNew(before.get(firstKey?.text ?? '')?.shape, made);
  const title = resolveTitle(declaration.title, made, env);
  const returned = declaration.result === null ? null : resolveResult(declaration.result, env);
  const result = returned && sameOrNew(before.get(firstKey?.text ?? '')?.result ?? undefined, returned);
  return keys.map(({ text: key, span }) =>
    sameOrNew(before.get(key), { key, groups, shape, result, title, doc, span }),
  );
}

/**
 * Returns the body with the fields of its groups first: a field that the action declares again is then
 * reported in the action, not in the group.
 */
function withGroupFields(body: RecordBody, groups: readonly string[], env: Environment): RecordBody {
  const bodies = groups.flatMap((name) => {
    const group = env.query('declaration', name);
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

/**
 * Checks the fields of every group, also of groups without actions. A group with fields and members counts as
 * used.
 */
function checkGroups(env: Environment): void {
  for (const declaration of env.declarations.ofKind('group')) {
    const { name, body } = declaration;
    if (body === null) continue;
    if (env.groups.has(name.text)) env.use(name.text);
    memoized(env, declaration, () => resolveShape(body, env));
  }
}

/**
 * Returns the shape of a result. A secret or signed field is reported: results are kept in records and
 * reported without signatures.
 */
function resolveResult(body: RecordBody, env: Environment): Shape {
  const shape = placeCurrencies(resolveShape(body, env), { body, of: 'result' }, env);
  for (const [at, { name }] of body.fields.entries()) {
    const field = shape.fields.find((one) => one.name === name.text);
    if (field !== undefined && isMarked(field)) env.report(resultFieldUnfit(body.fields[at]!.name));
  }
  return shape;
}

/** Whether a slot, or any slot within its type, is secret or signed. */
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

/**
 * Returns the group that a name means. A misspelt name counts as the nearest declared group, so that policies
 * about that group are not blamed for the slip.
 */
function groupMeant(name: NameNode, env: Environment): string | null {
  // Membership alone does not count as a use of the group: a group that no pattern names is unused.
  if (isDeclared(env, name, 'group')) return name.text;
  return nearestOf(name.text, namesOf(env, 'group'));
}

/** Returns the title; null when the action has none, or when something is wrong with the title. */
function resolveTitle(node: TemplateNode | null, shape: Shape, env: Environment): Title | null {
  if (node === null) return null;
  const plain = node.parts.map((part) => (part.kind === 'template-text' ? part.text : '')).join('');
  const isEmpty = node.parts.every((part) => part.kind === 'template-text') && plain.trim() === '';
  if (isEmpty || [...plain].length > titleLengthMax) {
    env.report(titleUnfit(node.span, isEmpty ? 'is empty' : `has more than ${titleLengthMax} characters`));
    return null;
  }
  reportDoubleBraces(node, env);
  const parts = node.parts.map((part) =>
    part.kind === 'template-text' ? part.text : resolveField(part.value, shape, env),
  );
  const resolved = parts.filter((part) => part !== null);
  return resolved.length < parts.length ? null : resolved;
}

function resolveField(value: ExpressionNode, shape: Shape, env: Environment): TitleField | null {
  if (value.kind !== 'path') {
    // The parser has reported what it could not read.
    if (value.kind !== 'missing') env.report(titleHoldsNoField(value));
    return null;
  }
  const names = [value.root, ...value.steps];
  const isOfPayload = value.root.text === 'payload' && payloadField(shape, 'payload') === undefined;
  if (isOfPayload && value.steps.length > 0) {
    env.report(titleNamesPayload(value.span, value.steps));
    return null;
  }
  return walk(names, shape, env);
}

function walk(names: readonly NameNode[], shape: Shape, env: Environment): TitleField | null {
  let parent = shape;
  let isSecret = false;
  for (const [at, name] of names.entries()) {
    const field = payloadField(parent, name.text);
    if (field === undefined) {
      env.report(
        titleFieldUnknown(
          name,
          parent.fields.map((one) => one.name),
        ),
      );
      return null;
    }
    const { type } = field;
    if (type === failedType) return null;
    isSecret ||= field.isSecret || (type.kind === 'list' && type.element.isSecret);
    if (at < names.length - 1 && type.kind === 'record') {
      parent = type.shape;
      continue;
    }
    const isLast = at === names.length - 1;
    if (!isLast || !isPrintable(type)) env.report(titleNotPrintable(name, type, isLast));
    else if (isSecret) env.report(titleFieldSecret(name));
    else return fieldAt(names, type);
    return null;
  }
  return null;
}

function fieldAt(names: readonly NameNode[], type: Type): TitleField {
  const steps = names.map(({ text }) => text);
  return { steps, currency: currencyLocation(type, { root: 'payload', steps })?.steps ?? null };
}

/** Whether a title can show the type: a single value, or a list of single values. */
function isPrintable(type: Type): boolean {
  if (type.kind === 'list') return type.element.type.kind !== 'list' && isPrintable(type.element.type);
  return type.kind !== 'record' && type.kind !== 'any';
}
