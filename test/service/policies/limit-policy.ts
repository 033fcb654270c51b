// Policy sets that differ in one number, and what the active policies decide.

import type { Facts } from '../../../src/language/model/request.ts';
import type { PolicyHost } from '../../../src/service/policies/policy-host.ts';

/** A set that allows `a.b` up to a limit. */
export function limit(max: number): string {
  return `action a.b {\n  n: integer\n}\n\npolicy p on a.b {\n  allow small\n    when payload.n in 0..${max}\n}\n`;
}

export function allows(host: PolicyHost, n: number): boolean {
  const facts: Facts = {
    action: 'a.b',
    payload: { n },
    agent: {},
    request: {},
    nowMs: 0,
    meters: {},
    satisfied: { escalate: [], reauth: [] },
  };
  return host.current().decide(facts).outcome === 'ALLOW';
}
