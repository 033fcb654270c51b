// Tells webhooks of standing approvals, and by mail those who gave them. INVARIANT: a message holds nothing of a
// payload, and tells where to look.

import { type StandingNewsKind, standingNewsKinds } from '../../requests/approvals/standing-approval.ts';
import type { StandingMessages, StandingNews } from '../../requests/standing/watch-standing.ts';
import { oneLine } from './assignment-messages.ts';
import type { EventDeps } from './event-messages.ts';

const texts: Readonly<Record<StandingNewsKind, string>> = {
  given: 'was given',
  used_up: 'is used up',
  ending: 'ends soon',
  revoked: 'was revoked',
};

/** Those who gave it know that it was given. */
const mailed: readonly StandingNewsKind[] = standingNewsKinds.filter((kind) => kind !== 'given');

export function createStandingMessages({
  publicUrl,
  dispatcher,
  mailer,
  directory,
  onFailure,
}: Omit<EventDeps, 'controlOwnerOf'>) {
  async function mailGivers({ kind, approval, givers }: StandingNews, text: string): Promise<void> {
    if (mailer === null || !mailed.includes(kind)) return;
    for (const id of givers) {
      const person = (await directory.people.find(id))?.value;
      if (person?.status !== 'active') continue;
      const page = `${publicUrl}/requests/${approval.requestId}`;
      mailer.post({
        to: person.email,
        subject: `Writ: a standing approval ${texts[kind]}`,
        text: `${text}\n\nIt began with this request:\n${page}\n\nAll standing approvals:\n${publicUrl}/standing-approvals\n`,
      });
    }
  }

  return async (news: StandingNews): Promise<StandingMessages> => {
    const { kind, approval, agent, atMs } = news;
    const subject = `A standing approval for the agent ${oneLine(agent.name)} (\`${oneLine(approval.rule)}\`)`;
    const text = `${subject} ${texts[kind]}.`;
    const { writes, taken } = await dispatcher.prepare({
      type: `standing_approval.${kind}`,
      id: approval.id,
      atMs,
      text,
      page: `${publicUrl}/standing-approvals`,
      links: {
        standing_approval: `${publicUrl}/v1/standing-approvals/${approval.id}`,
        request: `${publicUrl}/v1/requests/${approval.requestId}`,
      },
    });
    return {
      writes,
      taken: () => {
        taken();
        mailGivers(news, text).catch(onFailure);
      },
    };
  };
}
