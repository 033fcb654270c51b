// Implements `writ agent identity` on the store of a data directory.

import {
  addIdentity,
  endIdentity,
  type NewIdentity,
} from '../../service/agents/identities/change-identity.ts';
import { type AgentIdentity, identitiesIn, identitiesMax } from '../../service/agents/identities/identity.ts';
import { viewIdentity } from '../../service/agents/identities/identity-view.ts';
import type { AgentRow } from '../../service/store/contract/records.ts';
import type { Store } from '../../service/store/contract/store.ts';
import { commandLineUser } from '../client/with-store.ts';
import type { AgentAdmin } from './agent-admin.ts';
import { CommandError } from './command-error.ts';

type IdentityAdmin = Pick<AgentAdmin, 'identities' | 'mapIdentity' | 'removeIdentity'>;

interface FindAgent {
  /** Both throw a CommandError; `agentLeft` also for a revoked agent. */
  readonly agentOf: (name: string) => Promise<AgentRow>;
  readonly agentLeft: (name: string) => Promise<AgentRow>;
}

export function storeIdentities({ documents }: Store, { agentOf, agentLeft }: FindAgent): IdentityAdmin {
  const changer = () => ({ documents, who: commandLineUser(), nowMs: Date.now() });
  // The settings of the service are not known here, and with them not which issuers it accepts.
  const shown = (identity: AgentIdentity) => viewIdentity({ documents, issuers: null }, identity);
  return {
    identities: async (name) => {
      const { id: parent } = await agentOf(name);
      const found = await identitiesIn(documents).list({ parent, countMax: identitiesMax });
      return await Promise.all(found.map(({ value }) => shown(value)));
    },
    mapIdentity: async (name, draft) => {
      const added = await addIdentity(changer(), await agentLeft(name), draft);
      if (added.kind !== 'added') throw refused(added);
      return await shown(added.identity);
    },
    removeIdentity: async (name, id) => {
      const ended = await endIdentity(changer(), (await agentOf(name)).id, id);
      if (ended.kind === 'ended') return await shown(ended.identity);
      throw new CommandError(
        ended.kind === 'unknown' ? `the agent has no identity \`${id}\`` : changedMeanwhile,
      );
    },
  };
}

const changedMeanwhile = 'somebody else changed this at the same time: try again';

function refused(added: Exclude<NewIdentity, { readonly kind: 'added' }>): CommandError {
  switch (added.kind) {
    case 'invalid':
      return new CommandError(added.problems.map(({ field, detail }) => `${field}: ${detail}`).join('\n'));
    case 'alike':
      return new CommandError(
        `a token could also fit the identity \`${added.identity.id}\` of the agent ${added.identity.agentId}: require another value of a claim that both name`,
      );
    case 'too-many':
      return new CommandError(`there are at most ${identitiesMax} identities`);
    case 'conflict':
      return new CommandError(changedMeanwhile);
  }
}
