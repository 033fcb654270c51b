// Reads whom a rule or a claim asks for approval, how many people have to approve, and which people are
// excepted.

import { describeType } from '../../model/describe.ts';
import { printExpression } from '../../syntax/print/print.ts';
import type { NameNode, NumberLiteral, Path } from '../../syntax/tree/tree.ts';
import { toNumber } from '../../value/decimal.ts';
import type { Context } from '../expressions/context.ts';
import { findDeclared } from '../expressions/declared-names.ts';
import { resolveField } from '../expressions/fields.ts';
import { ownerGroup } from '../expressions/names.ts';
import type { Environment } from '../incremental/environment.ts';
import { decimalOf } from '../logic/literals.ts';
import { exceptUnfit, peopleUnfit } from '../messages/errors.ts';

const defaultPeople = 1;

/** Whether the name is `owner` or a declared approval group; reports a diagnostic when not. */
export function isApprovingGroup(group: NameNode, env: Environment): boolean {
  return group.text === ownerGroup || findDeclared(env, group, 'approvers');
}

/**
 * Returns how many people are needed: 1 when no number is written, null when the number is no positive whole
 * number.
 */
export function readPeople(node: NumberLiteral | null, env: Environment): number | null {
  if (node === null) return defaultPeople;
  const value = decimalOf(node.text);
  const people = value === null ? 0 : toNumber(value);
  if (people > 0 && Number.isSafeInteger(people)) return people;
  env.report(peopleUnfit(node));
  return null;
}

/**
 * The address of the person on whose behalf an agent asks: the only fact that names a person in the way in
 * which approvers are known.
 */
const userAddress = 'request.user.email';

/**
 * Returns the path of a field that names a person; null, with a diagnostic, when the field cannot name
 * anybody.
 */
export function personField(path: Path, ctx: Context): string | null {
  const text = printExpression(path);
  if (text === userAddress) return text;
  if (path.root.text !== 'payload' || path.steps.length === 0) {
    if (path.root.text !== '') ctx.env.report(exceptUnfit(path, text, 'is not a payload field'));
    return null;
  }
  const field = resolveField(path, ctx);
  if (field === null) return null;
  const { type, isSecret } = field.read;
  if (type.kind === 'text' && !isSecret) return text;
  ctx.env.report(exceptUnfit(path, text, isSecret ? 'is secret' : `is \`${describeType(type)}\``));
  return null;
}
