// A value of an enumeration under which no `allow` of the action can be true: a case that was forgotten, or a value
// that need not be declared.

import type { Expression, FieldRead } from '../../model/expression.ts';
import { type Atom, allOf, atomsOf, fieldKey, isImpossible } from '../domains.ts';
import { warning } from '../problem.ts';
import type { Checked, RuleInPolicy } from './warn.ts';

export function valuesNeverGranted(checked: Checked): void {
  const { set, enforced } = checked;
  const reported = new Set<string>();
  for (const { key } of set.actions.values()) {
    const allows = enforced.filter(({ rule, actions }) => rule.effect === 'allow' && actions.includes(key));
    for (const field of enumerationsIn(allows)) reportField(key, field, allows, { ...checked, reported });
  }
}

/** Required fields of the payload with several values that the conditions read. */
function enumerationsIn(allows: readonly RuleInPolicy[]): readonly FieldRead[] {
  const fields = new Map<string, FieldRead>();
  for (const { node } of allows.flatMap(({ parts }) => parts)) {
    if (node.kind !== 'field' || node.root !== 'payload' || node.isSigned) continue;
    if (node.type.kind === 'text' && node.type.values !== null) fields.set(fieldKey(node), node);
  }
  return [...fields.values()];
}

function reportField(
  action: string,
  field: FieldRead,
  allows: readonly RuleInPolicy[],
  checked: Checked & { readonly reported: Set<string> },
): void {
  if (field.type.kind !== 'text' || field.steps.length !== 1) return;
  const slot = checked.set.actions.get(action)?.shape.fields.find(({ name }) => name === field.steps[0]);
  if (slot?.type.kind !== 'text' || slot.isOptional || slot.isNullable) return;
  const values = slot.type.values ?? [];
  const lost = values.filter((value) => !allows.some((one) => canGrant(one, field, value, checked)));
  const name = `payload.${field.steps[0]}`;
  if (lost.length === 0 || lost.length === values.length) return;
  const shown = lost.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  const message = `nothing allows \`${action}\` with ${shown} in \`${name}\``;
  if (checked.reported.has(message)) return;
  checked.reported.add(message);
  const place = checked.set.actions.get(action)!.span;
  checked.env.report(
    warning('value-never-granted', place, message, {
      help: 'add an `allow` for it, or take the value out of the enumeration',
      related: [{ span: field.span, message: 'the conditions of all `allow` rules leave it out' }],
    }),
  );
}

function canGrant(one: RuleInPolicy, field: FieldRead, value: string, { valueOfLet }: Checked): boolean {
  const all = allOf(field.type);
  if (all === null) return true;
  const assumed: Atom = {
    key: `${fieldKey(field)} `,
    all,
    values: { kind: 'texts', texts: new Set([value]), isComplement: false },
    mayBeUnknown: false,
  };
  return !isExcluded(one.rule.condition, assumed, valueOfLet);
}

/** Whether the condition cannot be true under the assumption; an `or` when none of its parts can. */
function isExcluded(node: Expression, assumed: Atom, valueOfLet: Checked['valueOfLet']): boolean {
  if (node.kind === 'or') return node.operands.every((operand) => isExcluded(operand, assumed, valueOfLet));
  if (node.kind === 'and') {
    if (node.operands.some((operand) => isExcluded(operand, assumed, valueOfLet))) return true;
  }
  return isImpossible([assumed, ...atomsOf(node, true, valueOfLet)]);
}
