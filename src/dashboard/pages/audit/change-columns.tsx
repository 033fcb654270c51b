// The columns of the list of changes: who made each, and the values before and after it.

import type { Reply } from '../../../api/operations.ts';
import type { Column } from '../../parts/layout/data-table.tsx';
import { At } from '../../parts/layout/time.tsx';
import { CollapsibleText } from '../../parts/text/collapsible-text.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import {
  agentOfScope,
  changedScope,
  changeText,
  fieldLabel,
  pageOfScope,
  pageOfSubject,
} from './change-text.ts';
import { type Difference, differences } from './differences.ts';
import { type RecordedStep, stepsOf } from './recorded-steps.ts';

type Change = Reply<'listAuditLog'>['items'][number];

export const changeColumns: readonly Column<Change>[] = [
  { head: 'When', class: 'table-when', cell: ({ at }) => <At at={at} /> },
  { head: 'Who', cell: (change) => <Who change={change} /> },
  { head: 'What', cell: (change) => <What change={change} /> },
  {
    head: 'Before and after',
    label: null,
    cell: (change) => <BeforeAndAfter change={change} />,
  },
  { head: 'Record', kind: 'number', cell: ({ sequence }) => sequence },
];

/** The name of the person or agent, with the address or `agent` beneath; anything else has one line. */
function Who({ change: { who, names } }: { readonly change: Change }) {
  const name = names[idOf(who)] ?? null;
  const address = name !== null && who.startsWith('agent ') ? 'agent' : withoutId(who);
  if (name === null || name === address) return <PlainText text={address} isShort />;
  return (
    <div>
      <PlainText text={name} isShort />
      <div class="audit-subject">
        <PlainText text={address} isShort />
      </div>
    </div>
  );
}

function What({ change: { who, what, subject, before, after, names } }: { readonly change: Change }) {
  const page = pageOfSubject(what, subject) ?? pageOfScope(fieldOf(after ?? before, 'scope'));
  const agent = agentOfScope(fieldOf(after ?? before, 'scope'));
  const name =
    (agent === null ? null : names[agent]) ??
    nameOfSubject(after) ??
    nameOfSubject(before) ??
    names[subject] ??
    subject;
  // The person is already named beside the change.
  const isOwn = name === subject && who.endsWith(`(${subject})`);
  return (
    <div>
      <strong>{changeText(what)}</strong>
      {!isOwn && (
        <div class="audit-subject">
          {page === null ? (
            <PlainText text={name} isShort />
          ) : (
            <a href={page} title={subject}>
              <PlainText text={name} isShort />
            </a>
          )}
        </div>
      )}
    </div>
  );
}

/** The name that people use for the subject, if the change holds it; else null. */
function nameOfSubject(value: unknown): string | null {
  const [email, name] = [fieldOf(value, 'email'), fieldOf(value, 'name') ?? fieldOf(value, 'goal')];
  return typeof email === 'string'
    ? email
    : typeof name === 'string'
      ? name
      : changedScope(fieldOf(value, 'scope'));
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : null;
}

/** The id in "ann@example.com (b3f1...)" or "agent b3f1..."; empty when there is none. */
function idOf(who: string): string {
  const [, person, agent] = /(?: \(([^()]*)\)|^agent (\S+))$/.exec(who) ?? [];
  return person ?? agent ?? '';
}

/** "ann@example.com (b3f1...)" becomes "ann@example.com". */
function withoutId(who: string): string {
  return who.replace(/ \([^()]*\)$/, '');
}

function BeforeAndAfter({ change: { what, subject, before, after, names } }: { readonly change: Change }) {
  const steps = what.startsWith('plan-') ? stepsOf(after) : [];
  return steps.length > 0 ? (
    <Steps steps={steps} />
  ) : (
    <Differences items={differences(before, after).filter((one) => one.after !== subject)} names={names} />
  );
}

const shownMax = 4;

/** The steps of a plan, each with its payload as it was asked for. */
function Steps({ steps }: { readonly steps: readonly RecordedStep[] }) {
  const rest = steps.slice(shownMax);
  return (
    <>
      <StepList steps={steps.slice(0, shownMax)} from={1} />
      {rest.length > 0 && (
        <details class="audit-rest">
          <summary>{rest.length} more</summary>
          <StepList steps={rest} from={shownMax + 1} />
        </details>
      )}
    </>
  );
}

function StepList({ steps, from }: { readonly steps: readonly RecordedStep[]; readonly from: number }) {
  return (
    <ol class="audit-steps" start={from}>
      {steps.map(({ title, action, decision, payload }, at) => (
        <li key={from + at}>
          <PlainText text={title === '' ? action : title} />
          <div class="audit-subject">
            <PlainText text={action} isShort /> · {decision}
          </div>
          {payload !== null && <CollapsibleText text={payload} />}
        </li>
      ))}
    </ol>
  );
}

interface DifferencesProps {
  readonly items: readonly Difference[];
  /** Names of people and agents by their ids. */
  readonly names: Change['names'];
}

function Differences({ items, names }: DifferencesProps) {
  if (items.length === 0) return <span class="audit-soft">nothing else is recorded</span>;
  const [first, rest] = [items.slice(0, shownMax), items.slice(shownMax)];
  return (
    <>
      <DifferenceList items={first} names={names} />
      {rest.length > 0 && (
        <details class="audit-rest">
          <summary>{rest.length} more</summary>
          <DifferenceList items={rest} names={names} />
        </details>
      )}
    </>
  );
}

function DifferenceList({ items, names }: DifferencesProps) {
  return (
    <dl class="audit-differences">
      {items.map(({ path, before, after }) => (
        <div key={path}>
          <dt title={path}>
            <PlainText text={path === '' ? 'value' : fieldLabel(path)} isShort />
          </dt>
          <dd>
            {before !== null && (
              <del>
                <span class="visually-hidden">before: </span>
                <CollapsibleText text={names[before] ?? before} />
              </del>
            )}
            {before !== null && after !== null && <span aria-hidden="true"> → </span>}
            {after !== null && (
              <ins>
                <span class="visually-hidden">after: </span>
                <CollapsibleText text={names[after] ?? after} />
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
