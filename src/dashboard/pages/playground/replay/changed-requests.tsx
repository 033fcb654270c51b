// Recorded requests that the copy decides differently, each under the finding that it meets, the loosest
// first. INVARIANT: a finding without a request says so, and requests without a finding are shown last.

import { Finding, type FindingWays } from '../../../parts/comparison/finding.tsx';
import { DecisionBadge } from '../../../parts/layout/badge.tsx';
import { At } from '../../../parts/layout/time.tsx';
import { PlainText } from '../../../parts/text/plain-text.tsx';
import { AskedOfPeople } from './replay-tables.tsx';
import { loosestFirst, many, type ReplayExample, type ReplayFinding } from './replay-words.ts';
import type { ReplayAnswer, ReplayResult } from './use-replay.ts';

interface ChangedRequestsProps {
  readonly ways: FindingWays;
  readonly replay: ReplayResult;
  readonly requests: ReplayAnswer['requests'];
}

export function ChangedRequests({ replay, requests, ways }: ChangedRequestsProps) {
  const { findings, examples, without_finding: rest, people_without_finding: people } = replay;
  const byFinding = Map.groupBy(examples, ({ finding }) => finding);
  const others = byFinding.get(null) ?? [];
  return (
    <>
      {findings.length > 0 && (
        <ol class="comparison-findings" aria-label="What is decided otherwise, the loosest first">
          {findings.map((finding, index) => (
            <Finding key={finding.log.id} finding={finding} request={requests[index] ?? null} ways={ways}>
              <Filed log={finding.log} examples={byFinding.get(finding.log.id) ?? []} />
            </Finding>
          ))}
        </ol>
      )}
      {rest > 0 && (
        <section aria-label="Without a finding" class="replay-filed">
          <h3>{many(rest, 'request')} without a finding</h3>
          <p>
            They turn on something that is not a difference of the two sets, such as who decided them then.
          </p>
          <ExampleList examples={others} />
          <AskedOfPeople people={people.filter(({ votes }) => votes.before !== votes.now)} />
        </section>
      )}
    </>
  );
}

interface FiledProps {
  readonly log: ReplayFinding['log'];
  readonly examples: readonly ReplayExample[];
}

function Filed({ log: { requests: count, agents, people }, examples }: FiledProps) {
  if (count === 0)
    return <p class="playground-soft">No recorded request meets it: only the proof shows it.</p>;
  return (
    <div class="replay-filed">
      <p>
        <strong>{many(count, 'recorded request')}</strong> of {many(agents, 'agent')}{' '}
        {count === 1 ? 'meets' : 'meet'} it
        {examples.length > 0 && examples.length < count
          ? `; ${examples.length} of them:`
          : examples.length > 0
            ? ':'
            : '.'}
      </p>
      <ExampleList examples={examples} />
      <AskedOfPeople people={people} />
    </div>
  );
}

function ExampleList({ examples }: { readonly examples: readonly ReplayExample[] }) {
  return (
    <ul class="replay-examples">
      {examples.toSorted(loosestFirst).map(({ request_id: id, at, agent, action, before, now }) => (
        <li key={id}>
          <a href={`/requests/${encodeURIComponent(id)}`}>
            <PlainText text={action} isShort /> by <PlainText text={agent} isShort />, <At at={at} />
          </a>{' '}
          <DecisionBadge decision={before.outcome} /> <span aria-hidden="true">→</span>
          <span class="visually-hidden">becomes</span> <DecisionBadge decision={now.outcome} />{' '}
          <span>
            by <code>{now.by}</code>
          </span>
        </li>
      ))}
    </ul>
  );
}
