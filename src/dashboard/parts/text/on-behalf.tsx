// The person on whose behalf an agent asks, as rows of facts about the request; empty when no token was sent.

import type { Operations } from '../../../api/operations.ts';
import { PlainText } from './plain-text.tsx';

type OnBehalf = Operations['getRequest']['reply']['on_behalf_of'];

export function onBehalfFacts({ on_behalf_of: onBehalf }: { readonly on_behalf_of: OnBehalf }) {
  if (onBehalf === null) return [];
  const { user, unknown } = onBehalf;
  const row = (name: string, text: string) => [name, <PlainText key={name} text={text} isShort />] as const;
  if (user === null) return [row('On behalf of', `Unknown. ${unknown ?? ''}.`)];
  const { id = '', email, roles = [], groups = [] } = user;
  return [
    row('On behalf of', email === undefined ? id : `${email} (${id})`),
    ...(roles.length === 0 ? [] : [row('Their roles', roles.join(', '))]),
    ...(groups.length === 0 ? [] : [row('Their groups', groups.join(', '))]),
  ];
}
