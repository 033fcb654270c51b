// The result of trying a request: the decision with its reason, how the rules turned out, and what would
// change the decision. INVARIANT: a result for older texts is marked as such.

import { AddTest } from '../../parts/diff/add-test.tsx';
import type { CaseRequest } from '../../parts/diff/test-case.ts';
import { DecisionBadge, Risk } from '../../parts/layout/badge.tsx';
import { Icon } from '../../parts/layout/icon.tsx';
import { Empty, Loading, Note, ProblemNote } from '../../parts/layout/note.tsx';
import { Facts, Section } from '../../parts/layout/page.tsx';
import { ConditionTree } from '../../parts/policy/condition-tree.tsx';
import { MessageText } from '../../parts/text/message-text.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { ownerGroup } from '../requests/person-name.ts';
import { ClauseList, type ClauseListProps } from './clause-list.tsx';
import type { RequestIssue } from './marks.ts';
import type { TryReply, TryState } from './use-try.ts';

interface AnswerProps {
  readonly trying: TryState;
  readonly issues: readonly RequestIssue[];
  /** Whether the request's text is not valid JSON. */
  readonly hasFault: boolean;
  readonly onRule: (rule: string) => void;
  readonly clauses: ClauseListProps;
  /**
   * The request that was decided, if it is written in the playground, and the file that its test belongs to;
   * else null.
   */
  readonly written: { readonly request: CaseRequest; readonly file: string } | null;
}

type Decision = NonNullable<TryReply['decision']>;

export function Answer({ trying, issues, hasFault, onRule, clauses, written }: AnswerProps) {
  const { tried, decided, isOfNow, problem, retry } = trying;
  const decision = decided?.decision ?? null;
  /** While the first answer is on its way, there is nothing to say about the request. */
  const isFirst = tried === null && problem === null;
  const why = isOfNow && !isFirst ? whyNone({ tried, issues, hasFault }) : null;
  const isOld = !isOfNow || problem !== null || tried?.answer !== decided;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <aside class="playground-answer" aria-label="Result" tabIndex={0}>
      {!isFirst && <State why={why} isOld={isOld} hasDecision={decision !== null} isAsking={!isOfNow} />}
      <p role="status" class="visually-hidden">
        {decision !== null && !isOld ? spoken(decision) : (why ?? '')}
      </p>
      {isOfNow && issues.length === 0 && <ProblemNote problem={problem} onRetry={retry} />}
      {decision === null ? (
        <Section title="Decision">
          {isFirst ? (
            <Loading label="The first answer takes a moment: the policies are being compiled" lines={5} />
          ) : (
            <Empty icon="try" title="No decision yet" />
          )}
        </Section>
      ) : (
        <Decided
          decision={decision}
          isOld={isOld}
          onRule={onRule}
          digested={decided?.digested ?? []}
          written={isOld ? null : written}
        />
      )}
      <ClauseList {...clauses} />
    </aside>
  );
}

interface StateProps {
  readonly why: string | null;
  readonly isOld: boolean;
  readonly hasDecision: boolean;
  readonly isAsking: boolean;
}

/** Always one line, so that nothing jumps while a person types. */
function State({ why, isOld, hasDecision, isAsking }: StateProps) {
  const old = hasDecision ? ' Below is the previous result.' : '';
  const isWaiting = isOld && !isAsking;
  return (
    <p class={isWaiting ? 'playground-state playground-state-waits' : 'playground-state'}>
      <Icon name={isAsking ? 'refresh' : isWaiting ? 'warning' : 'check'} />
      {isAsking
        ? `Deciding…${old}`
        : isWaiting
          ? `${why ?? 'There is no answer.'}${old}`
          : 'Up to date. Nothing was granted or recorded.'}
    </p>
  );
}

function whyNone({
  tried,
  issues,
  hasFault,
}: Pick<TryState, 'tried'> & Pick<AnswerProps, 'issues' | 'hasFault'>): string | null {
  if (hasFault) return 'The request is not JSON yet.';
  if (tried?.answer.diagnostics.some(({ severity }) => severity === 'error') === true)
    return 'The policies have errors, so they could not be activated.';
  return issues.length > 0 && tried?.answer.decision == null
    ? 'The request has errors; they are listed below it.'
    : null;
}

interface DecidedProps extends Pick<AnswerProps, 'written'> {
  readonly decision: Decision;
  readonly isOld: boolean;
  readonly digested: readonly string[];
  readonly onRule: (rule: string) => void;
}

function Decided({ decision, isOld, digested, onRule, written }: DecidedProps) {
  const {
    reason,
    message,
    rule,
    matched_policy: policy,
    risk_score: risk,
    requires,
    change,
    trace,
    trace_omitted: others,
  } = decision;
  return (
    <div class={isOld ? 'playground-decided playground-old' : 'playground-decided'}>
      <Section title="Decision">
        <p class="playground-outcome">
          <DecisionBadge decision={decision.decision} />
          <strong>
            <PlainText text={reason} />
          </strong>
        </p>
        <p>
          <PlainText text={message} />
        </p>
        <Facts
          items={[
            [
              'Decided by',
              rule === null ? (
                <PlainText key="gate" text={policy} isShort />
              ) : (
                <button key="rule" type="button" class="text-button" onClick={() => onRule(rule)}>
                  {rule}
                </button>
              ),
            ],
            ['Risk', <Risk key="risk" score={risk} />],
            ...(requires === null ? [] : [['Asks for', requiredText(requires)] as const]),
          ]}
        />
        {written !== null && (
          <div>
            <AddTest
              file={written.file}
              name={reason}
              request={written.request}
              expects={[['as it is decided', { decision: decision.decision, by: rule ?? policy }]]}
            />
          </div>
        )}
        {digested.length > 0 && (
          <Note icon="key">
            A digest replaces the secret at {digested.join(', ')}: whether rules match its value is unknown.
          </Note>
        )}
      </Section>
      <Section title="What would change it">
        {change === null ? (
          <p class="playground-soft">No single small change was found.</p>
        ) : (
          <p>
            <MessageText text={change} />
          </p>
        )}
      </Section>
      <Section title="Rules">
        <ConditionTree trace={trace} others={others} decidedBy={rule} />
      </Section>
    </div>
  );
}

function requiredText({ approvals, step_up: isStepUp }: NonNullable<Decision['requires']>): string {
  const parts = approvals.map(({ group, needs }) =>
    group === ownerGroup ? 'the control owner' : `${needs} of ${group}`,
  );
  return [...(isStepUp ? ['a step-up'] : []), ...parts].join(', ');
}

const spokenLabels: Readonly<Record<string, string>> = {
  ALLOW: 'Allow',
  DENY: 'Deny',
  ESCALATE: 'Escalate',
  REAUTH_REQUIRED: 'Step-up',
};

function spoken({ decision, reason }: Decision): string {
  return `${spokenLabels[decision] ?? decision}: ${reason.slice(0, 200)}`;
}
