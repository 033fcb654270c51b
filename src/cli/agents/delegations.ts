// `writ agent delegations`: what an agent has passed on to sub-agents, and its revocation.

import type { Command } from 'commander';
import type { DelegationView } from '../../service/agents/delegations/delegation-view.ts';
import { show as showResult } from '../client/api-client.ts';
import { localTime } from '../output/local-time.ts';
import { type ExitCode, print } from '../output/output.ts';
import { printable, table } from '../output/table.ts';
import { type AgentOptions, withAgentAdmin, withAgentOptions } from './admin.ts';

export function defineDelegations(command: Command, finish: (code: ExitCode) => void): void {
  const delegations = command
    .command('delegations')
    .description('list and revoke what an agent has passed on to sub-agents');
  withAgentOptions(delegations.command('list'))
    .description('list the delegations of an agent, newest first, with what each allows')
    .argument('<agent>', 'name or id')
    .action(async (agent: string, options: AgentOptions) => {
      finish(
        await withAgentAdmin(options, async (admin) => {
          const items = await admin.delegations(agent);
          showResult(options, items, () => print(delegationTable(items)));
        }),
      );
    });
  withAgentOptions(delegations.command('revoke'))
    .description('revoke a delegation and everything below it')
    .argument('<id>', 'the id in the list')
    .action(async (id: string, options: AgentOptions) => {
      finish(
        await withAgentAdmin(options, async (admin) => {
          const delegation = await admin.revokeDelegation(id);
          const way = delegation.chain.map(printable).join(' > ');
          showResult(options, delegation, () => print(`${way} is ${delegation.status}\n`));
        }),
      );
    });
}

function delegationTable(items: readonly DelegationView[]): string {
  return table(
    ['delegation', 'actions', 'when', 'uses', 'until', 'status', 'id'],
    items.map(({ chain, actions, when, uses, used, until, status, id }) => [
      chain.join(' > '),
      actions.join(' '),
      when ?? '-',
      uses === null ? '-' : `${used ?? 'unknown'} of ${uses}`,
      localTime(until),
      status,
      id,
    ]),
  );
}
