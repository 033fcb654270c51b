// The guarantees of the copy: which are proved for all requests, and which a request refutes, which can be
// tried at once.

import { AddTest } from '../../parts/diff/add-test.tsx';
import { type CaseRequest, clauseExpects } from '../../parts/diff/test-case.ts';
import { Button } from '../../parts/layout/button.tsx';
import { Icon } from '../../parts/layout/icon.tsx';
import { Section } from '../../parts/layout/page.tsx';
import type { TriedClause } from './marks.ts';

export interface ClauseListProps {
  readonly clauses: readonly TriedClause[];
  readonly onPlace: (clause: TriedClause) => void;
  readonly onTry: (request: object) => void;
}

const words = {
  proved: 'Proved for all requests',
  refuted: 'Refuted',
  undecided: 'Undecided',
} as const;

const classes = {
  proved: 'verdict-proved',
  refuted: 'verdict-error',
  undecided: 'verdict-warning',
} as const;

const icons = { proved: 'check', refuted: 'deny', undecided: 'warning' } as const;

export function ClauseList({ clauses, onPlace, onTry }: ClauseListProps) {
  if (clauses.length === 0) return null;
  return (
    <Section title="Guarantees">
      <ul class="playground-diagnostic-list playground-clauses">
        {clauses.map((clause) => (
          <li key={`${clause.file} ${clause.line} ${clause.column}`} class={classes[clause.result]}>
            <Icon name={icons[clause.result]} />
            <div>
              <button type="button" class="text-button" onClick={() => onPlace(clause)}>
                <code>{clause.clause}</code>
              </button>
              <p>{saidOf(clause)}</p>
              {clause.refuted_by?.request != null && (
                <ClauseActions clause={clause} request={clause.refuted_by.request} onTry={onTry} />
              )}
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface ClauseActionsProps extends Pick<ClauseListProps, 'onTry'> {
  readonly clause: TriedClause;
  readonly request: CaseRequest;
}

function ClauseActions({ clause, request, onTry }: ClauseActionsProps) {
  const { guarantee, clause: text, file, refuted_by: refuted } = clause;
  const expect = refuted === null ? null : clauseExpects(text, refuted.decision);
  return (
    <div class="playground-diagnostic-actions">
      <Button icon="try" onClick={() => onTry(request)}>
        Try this request
      </Button>
      {refuted !== null && expect !== null && (
        <AddTest
          file={file}
          name={`${guarantee}: ${text}`}
          request={request}
          satisfied={refuted.satisfied}
          expects={[['what the guarantee says', expect]]}
        />
      )}
    </div>
  );
}

function saidOf({ result, reason, refuted_by: refuted }: TriedClause): string {
  if (refuted !== null) {
    const met = [...refuted.satisfied.escalate, ...refuted.satisfied.reauth];
    const once = met.length === 0 ? '' : `, once it has the approvals required by ${met.join(', ')}`;
    return `${words[result]}: a request is decided ${refuted.decision} by ${refuted.by}${once}`;
  }
  return reason === null ? words[result] : `${words[result]}: ${reason}`;
}
