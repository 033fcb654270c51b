// Decides in Python what the definition has decided, by sets in the form in which they are exported.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Decision } from '../../../../src/language/model/decision.ts';
import type { PolicySet } from '../../../../src/language/model/policy.ts';
import type { Facts } from '../../../../src/language/model/request.ts';
import { formatDecimal } from '../../../../src/language/value/decimal.ts';
import { digest, digestedSet } from '../../../../src/service/policies/digest.ts';
import { python, sources } from '../python.ts';

export interface DecidedSet {
  readonly set: PolicySet;
  readonly requests: readonly { readonly facts: Facts; readonly decision: Decision }[];
}

export interface RedecisionReport {
  readonly same: number;
  /** How often each reason kept a request from being decided. */
  readonly notCovered: Readonly<Record<string, number>>;
  /** The first few differences. */
  readonly different: readonly unknown[];
}

const program = `
import collections, json, sys
import writ_verify as verifier
from decimal import Decimal
same, not_covered, different = 0, collections.Counter(), []
for line in sys.stdin:
    given = verifier.strict_json(line)
    policy_set = verifier.read_policy_set(json.dumps(given['file']), given['digest'])
    for request in given['requests']:
        meters = {name: verifier.Interval(*map(Decimal, ends)) for name, ends in request['meters'].items()}
        facts = verifier.Facts(request['action'], request['payload'], request['agent'], request['request'],
                               request['nowMs'], meters, request['rows'], request['satisfied'], request['areAll'])
        try:
            now = verifier.decide(policy_set, facts).decision
        except verifier.NotCovered as reason:
            not_covered[str(reason)] += 1
            continue
        if now == request['decision']:
            same += 1
        elif len(different) < 5:
            names = [name for name in now if now[name] != request['decision'].get(name)]
            different.append({'request': request, 'names': names, 'now': now})
print(json.dumps({'same': same, 'notCovered': not_covered, 'different': different}))
`;

/** Sends one set after the other. */
export async function redecide(
  sets: Iterable<DecidedSet> | AsyncIterable<DecidedSet>,
): Promise<RedecisionReport> {
  const options = { env: { ...process.env, PYTHONPATH: sources }, maxBuffer: 2 ** 26 };
  const running = promisify(execFile)(python, ['-B', '-c', program], options);
  for await (const one of sets) running.child.stdin?.write(`${JSON.stringify(given(one))}\n`);
  running.child.stdin?.end();
  return JSON.parse((await running).stdout) as RedecisionReport;
}

function given({ set, requests }: DecidedSet): object {
  const name = digest(set);
  return {
    digest: name,
    file: { digest: name, sections: digestedSet(set) },
    requests: requests.map(({ facts, decision }) => ({
      action: facts.action,
      payload: facts.payload,
      agent: facts.agent,
      request: facts.request,
      nowMs: facts.nowMs,
      meters: Object.fromEntries(
        Object.entries(facts.meters).map(([meter, { low, high }]) => [
          meter,
          [formatDecimal(low), formatDecimal(high)],
        ]),
      ),
      rows: facts.rows?.given ?? {},
      areAll: facts.rows?.areAll ?? false,
      satisfied: facts.satisfied,
      decision,
    })),
  };
}
