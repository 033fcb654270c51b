// Tells by mail that a stand-in was named, confirmed or ended: the two people, and the admins who can confirm it.

import { grantOf, roles } from '../../people/operations.ts';
import type { Person } from '../../people/person.ts';
import type { ShownStandIn } from '../../people/stand-ins.ts';
import { mailRoles } from './access-messages.ts';
import { oneLine } from './assignment-messages.ts';
import type { EventDeps } from './event-messages.ts';

export interface StandInEvents {
  named(standIn: ShownStandIn): void;
  confirmed(standIn: ShownStandIn): void;
  /** `by` is the person who ended it, who gets no mail. */
  ended(standIn: ShownStandIn, by: Pick<Person, 'id'>): void;
}

const whoConfirms = roles.filter((role) => grantOf([role], 'people.change') === 'yes');

export function createStandInEvents(
  deps: Pick<EventDeps, 'directory' | 'publicUrl' | 'mailer' | 'onFailure'>,
): StandInEvents {
  const { publicUrl, mailer, onFailure } = deps;
  const mail = (to: readonly Pick<Person, 'email'>[], shown: ShownStandIn, what: string): void => {
    const about = aboutOf(shown);
    const until = new Date(shown.value.endsAtMs).toISOString();
    const text = `${about}, until ${until}. ${what}\n\n${publicUrl}/account\n`;
    for (const { email } of to) mailer?.post({ to: email, subject: `Writ: ${about}`, text });
  };
  return {
    named: (shown) => {
      mail([shown.standIn], shown, 'It counts once an admin has confirmed it.');
      const text = `${aboutOf(shown)}. It counts once an admin has confirmed it:\n${publicUrl}/access\n`;
      mailRoles(deps, whoConfirms, { subject: 'Writ: a stand-in to confirm', text }).catch(onFailure);
    },
    confirmed: (shown) => mail([shown.person, shown.standIn], shown, 'An admin has confirmed it.'),
    ended: (shown, by) =>
      mail(
        [shown.person, shown.standIn].filter(({ id }) => id !== by.id),
        shown,
        'It has been ended.',
      ),
  };
}

function aboutOf({ person, standIn, value }: ShownStandIn): string {
  return `${oneLine(standIn.name)} stands in for ${oneLine(person.name)} in the group ${oneLine(value.group)}`;
}
