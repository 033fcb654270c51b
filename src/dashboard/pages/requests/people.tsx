// The people in a request by their names; the address of each is in the title of the name.

import type { Reply } from '../../../api/operations.ts';
import { OwnerName } from '../../parts/people/owner-name.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { type People, personName } from './person-name.ts';

interface PersonNameProps {
  readonly by: string;
  readonly people: People;
}

export function PersonName({ by, people }: PersonNameProps) {
  return (
    <span title={by}>
      <PlainText text={personName(by, people)} isShort />
    </span>
  );
}

interface ControlOwnerProps {
  readonly request: Pick<Reply<'getRequest'>, 'agent' | 'people'>;
}

/** The control owner of the agent at the time of the request. */
export function ControlOwner({ request: { agent, people } }: ControlOwnerProps) {
  const owner = typeof agent.control_owner === 'string' ? agent.control_owner : '';
  if (owner === '') return <>unknown</>;
  const person = people.find(({ id, email }) => id === owner || email.toLowerCase() === owner.toLowerCase());
  return <OwnerName address={person?.email ?? owner} name={person?.name ?? null} />;
}
