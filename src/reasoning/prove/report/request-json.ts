// Writes a request with its facts in the form that `writ decide` reads.

import { type Facts, presentRows } from '../../../language/model/request.ts';
import { formatDecimal } from '../../../language/value/decimal.ts';

export function requestJson({
  action,
  payload,
  agent,
  request,
  nowMs,
  meters,
  rows,
  satisfied,
}: Facts): object {
  const readings = Object.entries(meters).map(([name, { low, high }]) => [
    name,
    [Number(formatDecimal(low)), Number(formatDecimal(high))],
  ]);
  return {
    action,
    payload,
    agent,
    request,
    now: new Date(nowMs).toISOString(),
    meters: Object.fromEntries(readings),
    ...(rows === undefined ? {} : { tables: presentRows(rows) }),
    satisfied,
  };
}
