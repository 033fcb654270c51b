// Whom a rule or a claim asks, and how many of them.

import type { NameNode, NumberLiteral } from '../../syntax/tree/tree.ts';
import { toNumber } from '../../value/decimal.ts';
import { findDeclared } from '../expressions/declared-names.ts';
import { ownerGroup } from '../expressions/names.ts';
import type { Environment } from '../incremental/environment.ts';
import { decimalOf } from '../logic/literals.ts';
import { peopleUnfit } from '../messages/errors.ts';

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
