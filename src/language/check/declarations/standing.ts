// Reads the scope of standing approvals from a rule: its keys, its time and its count. INVARIANT: a scope never
// covers more than was written; a clause in error covers nothing.

import type { StandingScope } from '../../model/policy.ts';
import { printExpression } from '../../syntax/print/print.ts';
import type { Path, StandingClause } from '../../syntax/tree/tree.ts';
import { toNumber } from '../../value/decimal.ts';
import type { Context } from '../expressions/context.ts';
import { resolveField } from '../expressions/fields.ts';
import { decimalOf, readSeconds } from '../logic/literals.ts';
import {
  standingKeyUnfit,
  standingKeyUnknown,
  standingTimesUnfit,
  standingTooLong,
} from '../messages/standing-errors.ts';
import { isKeyField } from './meters.ts';

/** The longest time of a standing approval, 31 days: what is approved for longer is a rule. */
const standingSecondsMax = 31 * 86_400;

export function readStandingClause(
  clause: StandingClause | undefined,
  ctx: Context,
): StandingScope | null | 'failed' {
  if (clause === undefined) return null;
  const keys = clause.per.map((path) => readKey(path, ctx));
  const seconds = readTime(clause, ctx);
  const times = readTimes(clause, ctx);
  const per = keys.filter((key) => key !== null);
  if (per.length < keys.length || seconds === null || times === 'failed') return 'failed';
  return { per: [...new Set(per)].filter((key) => key !== 'agent').sort(), seconds, times };
}

const bareKeys = ['agent', 'session', 'user'];

function readKey(path: Path, ctx: Context): string | null {
  const { root, steps } = path;
  if (steps.length === 0 && bareKeys.includes(root.text)) return root.text;
  if (root.text !== 'payload' || steps.length === 0) {
    if (root.text !== '') ctx.env.report(standingKeyUnknown(path));
    return null;
  }
  const field = resolveField(path, ctx);
  if (field === null) return null;
  if (isKeyField(field)) return printExpression(path);
  ctx.env.report(standingKeyUnfit(field.read));
  return null;
}

function readTime({ duration }: StandingClause, { env }: Context): number | null {
  const seconds = readSeconds(duration, env);
  if (seconds === null || seconds <= standingSecondsMax) return seconds;
  env.report(standingTooLong(duration));
  return null;
}

function readTimes({ times: node }: StandingClause, { env }: Context): number | null | 'failed' {
  if (node === null) return null;
  const value = decimalOf(node.text);
  const times = value === null ? 0 : toNumber(value);
  if (Number.isSafeInteger(times) && times > 0) return times;
  env.report(standingTimesUnfit(node));
  return 'failed';
}
