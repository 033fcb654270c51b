// Facts about the active policies: since when they are active, their source and size, and the groups and
// meters that they declare.

import type { Reply } from '../../../api/operations.ts';
import { Facts, Section } from '../../parts/layout/page.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

type PolicySet = Reply<'getPolicies'>;

export function SetFacts({ state }: Pick<PolicySet, 'state'>) {
  const { digest, commit, loaded_at: loadedAt, actions, rules } = state;
  return (
    <Facts
      items={[
        ['Active since', <Ago key="at" at={loadedAt} />],
        [
          'Digest',
          <code key="digest" title={digest}>
            {digest.slice(0, 16)}…
          </code>,
        ],
        [
          'Commit',
          commit === null ? (
            'Not under Git'
          ) : (
            <code key="commit" title={commit}>
              {commit.slice(0, 12)}
            </code>
          ),
        ],
        ['Actions', actions.toLocaleString()],
        ['Rules', rules.toLocaleString()],
      ]}
    />
  );
}

export function Names({ set: { approvers, meters } }: { readonly set: PolicySet }) {
  return (
    <div class="policies-names">
      <Section title="Approval groups">
        {approvers.length === 0 ? (
          <p class="policies-never">
            None is declared; <code>owner</code>, the agent’s control owner, needs no declaration.
          </p>
        ) : (
          <ul>
            {approvers.map(({ name, title, chat_max_risk: maxRisk }) => (
              <li key={name}>
                <code>{name}</code> <PlainText text={title} isShort />
                {maxRisk !== null && `, may decide by chat up to risk ${maxRisk}`}
              </li>
            ))}
          </ul>
        )}
      </Section>
      <Section title="Meters">
        {meters.length === 0 ? (
          <p class="policies-never">
            None is declared. A meter counts what was granted, so that a rule can set a limit over time.
          </p>
        ) : (
          <ul>
            {meters.map((name) => (
              <li key={name}>
                <code>{name}</code>
              </li>
            ))}
          </ul>
        )}
      </Section>
    </div>
  );
}
