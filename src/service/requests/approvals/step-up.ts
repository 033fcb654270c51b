// Step-ups of an agent's control owner, remembered per agent with their time, for rules that ask for a
// step-up `within` some time. INVARIANT: a step-up counts only while the person who gave it is active and the
// control owner.

import type { RuleRequirement } from '../../../language/model/rule-requirement.ts';
import { isControlOwner } from '../../agents/agent-facts.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import type { DocumentVersion } from '../../store/contract/grant-precondition.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import type { FindPeople } from './current-person.ts';

export interface StepUp {
  readonly atMs: number;
  /** The person's id. */
  readonly person: string;
  readonly email: string;
}

export interface StepUpPerson {
  /** The person's id. */
  readonly id: string;
  readonly email: string;
  /** The person's name in the record. */
  readonly who: string;
}

const kind = 'step-up';
const triesMax = 10;

export interface StepUpDeps {
  readonly documents: Pick<DocumentStore, 'find'>;
  readonly findPeople: FindPeople;
}

/** The last step-up that counts now, with the version of the person's document that was seen. */
export interface LastStepUp extends StepUp {
  readonly version: DocumentVersion;
}

/**
 * The agent's last step-up; null when there is none, or when the person who gave it is disabled or no longer
 * the control owner.
 */
export async function lastStepUp(
  { documents, findPeople }: StepUpDeps,
  agent: AgentRow,
): Promise<LastStepUp | null> {
  const row = await documents.find(kind, agent.id);
  if (row === null) return null;
  // `rememberStepUp` has written this text.
  const stepUp = JSON.parse(row.json) as StepUp;
  if (!isControlOwner({ id: stepUp.person, email: stepUp.email }, agent.controlOwner)) return null;
  const person = (await findPeople([stepUp.person])).get(stepUp.person);
  return person?.isActive === true ? { ...stepUp, version: person.version } : null;
}

/**
 * Stores that the agent's control owner has stepped up, together with a record of it. Throws if other writes
 * come first each time.
 */
export async function rememberStepUp(
  documents: DocumentStore,
  agent: AgentRow,
  { person, nowMs }: { readonly person: StepUpPerson; readonly nowMs: number },
): Promise<StepUp> {
  const { id, email, who } = person;
  const stepUp: StepUp = { atMs: nowMs, person: id, email };
  const fixed = { kind, id: agent.id, name: null, parent: null, endsAtMs: null };
  const change = { atMs: nowMs, who, what: 'stepped-up', subject: agent.id, before: null, after: { email } };
  // Two people may step up at the same time: both step-ups are recorded, and the one stored last counts.
  for (let tries = 0; tries < triesMax; tries += 1) {
    const row = await documents.find(kind, agent.id);
    const put = { seen: row?.version ?? 0, createdAtMs: row?.createdAtMs ?? nowMs };
    const write = { ...fixed, ...put, json: JSON.stringify(stepUp) };
    if ((await documents.write([write], change)) === 'changed') return stepUp;
  }
  throw new Error('the step-up could not be stored: each attempt met a concurrent change');
}

/**
 * Returns the ids of rules that the step-up satisfies because it was fresh at the moment `atMs`. A rule
 * without `within` is never satisfied this way.
 */
export function freshReauths(
  rules: readonly RuleRequirement[],
  stepUp: StepUp | null,
  atMs: number,
): readonly string[] {
  if (stepUp === null) return [];
  return rules.flatMap((rule) =>
    rule.kind === 'reauth' && rule.withinSeconds !== null && stepUp.atMs >= atMs - rule.withinSeconds * 1000
      ? [rule.rule]
      : [],
  );
}
