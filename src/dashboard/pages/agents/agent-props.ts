// The props of every section of an agent's page.

import type { Reply } from '../../../api/operations.ts';

export type Agent = Reply<'getAgent'>;

/** `onChange` is called when the section has changed the agent. */
export interface AgentProps {
  readonly agent: Agent;
  readonly onChange: () => void;
}
