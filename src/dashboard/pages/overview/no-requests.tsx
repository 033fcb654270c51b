// Shown on the overview while there is nothing to count: how to send a first request.

import { useGrant } from '../../api/session.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { CopyText } from '../../parts/text/copy.tsx';
import { type RangeName, ranges } from './range.ts';

const payload = '{"amount": 120, "currency": "USD", "vendor": "Staples"}';

export function NoRequests({ name }: { readonly name: RangeName | null }) {
  const mayRegister = useGrant('agents.register') === 'yes';
  const stretch = name === null ? 'in the time that you zoomed into' : `in the last ${ranges[name].word}`;
  const command = [
    `curl ${window.location.origin}/v1/authorize`,
    "-H 'Content-Type: application/json' -H 'X-Agent-API-Key: writ_...'",
    `-d '{"action_key": "payment.create", "payload": ${payload}}'`,
  ].join(' \\\n  ');
  return (
    <Section title="Decisions">
      <Empty icon="chart" title={`No agent asked for anything ${stretch}`}>
        <p>
          An agent asks before it acts, with its key. What Writ answers is counted here at once; latency,
          policies, risk and approvals follow from it.
        </p>
      </Empty>
      <CopyText text={command} label="the command that asks" />
      <div class="overview-next">
        {mayRegister && (
          <ButtonLink href="/agents/new" icon="plus" look="primary">
            Register an agent
          </ButtonLink>
        )}
        {name !== '30d' && <ButtonLink href="/overview?range=30d">Show the last 30 days</ButtonLink>}
      </div>
    </Section>
  );
}
