// Turns a request and its expected decision into a case of a `*.test.yaml` file. INVARIANT: read by `writ
// test`, the case has exactly the facts of the request.

import type { Reply } from '../../../api/operations.ts';

export type CaseRequest = NonNullable<Reply<'diffPolicies'>['requests'][number]>;

type Decision = NonNullable<Reply<'tryPolicies'>['decision']>['decision'];
type ClauseSource = NonNullable<Reply<'tryPolicies'>['guarantees']>[number];

export type Expectation = { readonly decision: string; readonly by?: string } | { readonly not: string };

export interface CaseToAdd {
  readonly name: string;
  readonly request: CaseRequest;
  readonly satisfied?: NonNullable<ClauseSource['refuted_by']>['satisfied'] | undefined;
  readonly expect: Expectation;
}

/**
 * Lines for the end of the list of `tests`. `at`: the time to use when the request names none, in RFC 3339.
 */
export function caseText({ name, request, satisfied, expect }: CaseToAdd, at: string): string {
  const { action_key: action, payload, agent, session, address, signed, user, meters } = request;
  const of = { ip: address, signed, session, user };
  const met = Object.entries(satisfied ?? {}).filter(([, rules]) => rules.length > 0);
  const facts = {
    action,
    payload,
    agent,
    request: Object.values(of).every((value) => value === undefined) ? undefined : of,
    now: request.at ?? at,
    meters,
    satisfied: met.length === 0 ? undefined : Object.fromEntries(met),
    expect,
  };
  const lines = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `    ${key}: ${flow(value)}\n`);
  return `  - name: ${flow(name)}\n${lines.join('')}`;
}

/** JSON, which is also YAML. */
function flow(value: unknown): string {
  return JSON.stringify(value);
}

/** Path of the test file that belongs to a policy file. */
export function testPath(file: string): string {
  return file.replace(/\.policy$/, '.test.yaml');
}

/**
 * The expectation that a clause states about the request that refutes it. Returns null for a clause about who
 * is asked, because a decision alone does not tell that.
 */
export function clauseExpects(clause: string, decision: Decision): Expectation | null {
  const [, mode = '', effect = ''] = /^(always|never)?\s*(\w+)/.exec(clause) ?? [];
  if (effect === 'ask' || effect === 'standing') return null;
  if (mode !== 'always') return { not: decision };
  const outcome = outcomeOf[effect];
  return outcome === undefined ? null : { decision: outcome };
}

const outcomeOf: Readonly<Record<string, string>> = {
  allow: 'ALLOW',
  deny: 'DENY',
  escalate: 'ESCALATE',
  reauth: 'REAUTH_REQUIRED',
};

/** The satisfied rules of a request in the form of `writ decide`; undefined when there are none. */
export function satisfiedIn(request: Readonly<Record<string, unknown>>): CaseToAdd['satisfied'] {
  const { escalate = [], reauth = [] } = Object(request.satisfied) as Partial<
    NonNullable<CaseToAdd['satisfied']>
  >;
  return escalate.length + reauth.length === 0 ? undefined : { escalate, reauth };
}
