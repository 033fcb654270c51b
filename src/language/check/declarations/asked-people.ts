// Whom a rule or a claim asks, and how many of them.

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

/** Else a diagnostic says why not. */
export function isApprovingGroup(group: NameNode, env: Environment): boolean {
  return group.text === ownerGroup || findDeclared(env, group, 'approvers');
}

/** One where none is written; null where it is no number of people. */
export function readPeople(node: NumberLiteral | null, env: Environment): number | null {
  if (node === null) return defaultPeople;
  const value = decimalOf(node.text);
  const people = value === null ? 0 : toNumber(value);
  if (people > 0 && Number.isSafeInteger(people)) return people;
  env.report(peopleUnfit(node));
  return null;
}

/** The address of the person on whose behalf an agent asks: the one fact that names somebody as approvers are known. */
const userAddress = 'request.user.email';

/** The path of a field that names a person; null and a diagnostic where it may name nobody. */
export function personField(path: Path, ctx: Context): string | null {
  const text = printExpression(path);
  if (text === userAddress) return text;
  if (path.root.text !== 'payload' || path.steps.length === 0) {
    if (path.root.text !== '') ctx.env.report(exceptUnfit(path, text, 'is no field of the payload'));
    return null;
  }
  const field = resolveField(path, ctx);
  if (field === null) return null;
  const { type, isSecret } = field.read;
  if (type.kind === 'text' && !isSecret) return text;
  ctx.env.report(exceptUnfit(path, text, isSecret ? 'is secret' : `is \`${describeType(type)}\``));
  return null;
}
