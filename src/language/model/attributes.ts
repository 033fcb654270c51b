// The names that are available in every expression besides the payload and declared names, with a description
// each, for code that completes or explains a policy. A test keeps the list equal to docs/LANGUAGE.md.

import type { FactName } from './expression.ts';

export type Attribute = FactName | 'now' | 'risk';

export const attributes: Readonly<Record<Attribute, string>> = {
  'agent.id': 'the id under which the agent is registered',
  'agent.name': 'the name under which the agent is registered',
  'agent.risk_tier': 'the risk tier that people gave the agent',
  'agent.control_owner': 'the person who answers for the agent, by address or id',
  'agent.tags': 'the tags that people gave the agent',
  'action.key': 'the whole key of the action, such as `payment.create`',
  'action.area': 'the key up to its last dot',
  'action.verb': 'the key after its last dot',
  'request.ip': 'the address that the request came from',
  'request.signed': 'whether the request carries a valid signature',
  'request.session': 'the session that the agent names in `X-Agent-Session`, not verified',
  'request.point': 'the enforcement point that sent the request; unknown if the agent sent it',
  'request.delegated': 'whether a sub-agent asks, by a delegation of the agent',
  'request.delegate': 'the name of that delegation; unknown if the agent asks itself',
  'request.chain':
    'the names of all delegations from the agent to the sub-agent; empty if the agent asks itself',
  'request.user.id': 'the person on whose behalf the agent asks, as a verified token names them',
  'request.user.email': 'the address of that person, where the issuer has verified it',
  'request.user.roles': 'the roles in the token',
  'request.user.groups': 'the groups in the token',
  now: 'the time of the decision',
  risk: 'the sum of the risk that rules add, from 0 to 100',
};
