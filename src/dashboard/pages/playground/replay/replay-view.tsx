// "Run on the last 7 days": what the copy would have decided about the recorded requests, and what it would
// have asked of people.

import { Field } from '../../../parts/form/field.tsx';
import { DecisionBadge } from '../../../parts/layout/badge.tsx';
import { Button } from '../../../parts/layout/button.tsx';
import { Icon } from '../../../parts/layout/icon.tsx';
import { Empty, Note, ProblemNote } from '../../../parts/layout/note.tsx';
import { At } from '../../../parts/layout/time.tsx';
import { MessageText } from '../../../parts/text/message-text.tsx';
import '../../../parts/diff/diff-result.css';
import { Finding, type FindingWays } from '../../../parts/diff/finding.tsx';
import './replay.css';
import { PlainText } from '../../../parts/text/plain-text.tsx';
import {
  dayChoices,
  daysText,
  loosestFirst,
  many,
  type ReplayExample,
  type ReplayFinding,
  replayNotes,
  replayText,
} from './replay-labels.ts';
import { MatrixTable, PeopleTable, VotesTable } from './replay-tables.tsx';
import type { ReplayAnswer, ReplayResult, ReplayState } from './use-replay.ts';

export interface ReplayViewProps {
  readonly ways: FindingWays;
  readonly replaying: ReplayState;
}

export function ReplayView({ replaying, ways }: ReplayViewProps) {
  const { progress, answer, problem, isOfNow, start } = replaying;
  const isRunning = progress !== null;
  return (
    <div class="diff">
      <ReplayControls replaying={replaying} />
      <p role="status">{statusText(replaying)}</p>
      <ProblemNote problem={problem} onRetry={start} />
      {problem?.code === 'playground_failed' && (
        <Note icon="clock">
          On the command line <code>writ replay</code> has no time limit.
        </Note>
      )}
      {!isRunning && answer === null && problem === null && (
        <Empty icon="clock" title="Nothing has been run yet">
          Each recorded request is decided again with your copy. Nothing is granted or recorded.
        </Empty>
      )}
      {answer !== null && !isOfNow && (
        <Note icon="warning" tone="escalate">
          This result is for an earlier copy, other days or other active policies. Run it again to update it.
        </Note>
      )}
      {answer !== null && <Answer answer={answer} ways={ways} />}
    </div>
  );
}

function ReplayControls({ replaying }: Pick<ReplayViewProps, 'replaying'>) {
  const { days, setDays, progress, start, cancel } = replaying;
  return (
    <div class="replay-controls">
      <Field label="Requests of the">
        <select
          value={String(days)}
          disabled={progress !== null}
          onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}
        >
          {dayChoices.map((choice) => (
            <option key={choice} value={String(choice)}>
              {daysText(choice)}
            </option>
          ))}
        </select>
      </Field>
      {progress === null ? (
        <Button icon="try" variant="primary" onClick={start}>
          Run
        </Button>
      ) : (
        <>
          <progress value={progress} max={1} aria-label="Records read" />
          <Button onClick={cancel}>Cancel</Button>
        </>
      )}
    </div>
  );
}

function statusText({ progress, answer, problem }: ReplayState): string {
  // Spoken only once; the progress bar shows the rest.
  if (progress !== null) return 'Your copy is being tried on the recorded requests…';
  if (problem !== null) return 'There is no result.';
  if (answer === null) return '';
  return answer.replay === null
    ? 'Your copy cannot be tried while the policies have errors. They are listed under the editor.'
    : replayText(answer.replay);
}

interface AnswerProps extends Pick<ReplayViewProps, 'ways'> {
  readonly answer: ReplayAnswer;
}

function Answer({ answer, ways }: AnswerProps) {
  const { replay, requests } = answer;
  if (replay === null || replay.requests === 0) return null;
  const notes = replayNotes(replay);
  return (
    <>
      {notes.length > 0 && (
        <ul class="diff-closing" aria-label="Notes on the figures">
          {notes.map((text) => (
            <li key={text} class="verdict-warning">
              <Icon name="warning" />
              <span>
                <MessageText text={text} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <MatrixTable matrix={replay.matrix} />
      <PeopleTable people={replay.people} minutes={replay.minutes_per_vote.minutes} />
      <ChangedRequests replay={replay} requests={requests} ways={ways} />
    </>
  );
}

// Recorded requests that the copy decides differently, each under the finding that it meets, the loosest
// first. INVARIANT: a finding without a request says so, and requests without a finding are shown last.

interface ChangedRequestsProps {
  readonly ways: FindingWays;
  readonly replay: ReplayResult;
  readonly requests: ReplayAnswer['requests'];
}

function ChangedRequests({ replay, requests, ways }: ChangedRequestsProps) {
  const { findings, examples, without_finding: rest, people_without_finding: people } = replay;
  const byFinding = Map.groupBy(examples, ({ finding }) => finding);
  const others = byFinding.get(null) ?? [];
  return (
    <>
      {findings.length > 0 && (
        <ol class="diff-findings" aria-label="Different decisions, loosest first">
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
            Their cause is not a difference of the two sets, but for example a decision by other policies.
          </p>
          <ExampleList examples={others} />
          <VotesTable people={people.filter(({ votes }) => votes.before !== votes.now)} />
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
    return <p class="playground-soft">No recorded request matches: only the proof shows this finding.</p>;
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
      <VotesTable people={people} />
    </div>
  );
}

function ExampleList({ examples }: { readonly examples: readonly ReplayExample[] }) {
  return (
    <ul class="replay-examples">
      {examples.toSorted(loosestFirst).map(({ request_id: id, at, agent, action, before, now, asks }) => (
        <li key={id}>
          <a href={`/requests/${encodeURIComponent(id)}`}>
            <PlainText text={action} isShort /> by <PlainText text={agent} isShort />, <At at={at} />
          </a>{' '}
          {before.outcome !== now.outcome && (
            <>
              <DecisionBadge decision={before.outcome} /> <span aria-hidden="true">→</span>
              <span class="visually-hidden">becomes</span>{' '}
            </>
          )}
          <DecisionBadge decision={now.outcome} />{' '}
          <span>
            {asks.length > 0 && (
              <>
                <strong>
                  <PlainText text={asks.join(', ')} isShort />
                </strong>
                ,{' '}
              </>
            )}
            by <code>{now.by}</code>
            {before.by !== now.by && (
              <>
                , before by <code>{before.by}</code>
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
