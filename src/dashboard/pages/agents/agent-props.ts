// What every section of an agent's page is given.

import type { Reply } from '../../api/client.ts';

export type Agent = Reply<'getAgent'>;

/** What a section of the page shows and can do: it says when the agent is another than before. */
export interface AgentProps {
  readonly agent: Agent;
  readonly onChange: () => void;
}
