// The alert rules: what counts as out of the ordinary, whether each rule is on, and who is told.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant, useSession } from '../../api/session.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Badge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { ProblemNote } from '../../parts/layout/note.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { recipientsText, ruleChangeText } from './alert-rule-text.ts';
import { type Rule, RuleDialog } from './rule-dialog.tsx';

export function AlertRules() {
  const mayChange = useGrant('alerts.change') === 'yes';
  const { session } = useSession();
  const list = useResource('listAlertRules', {}, ['alerts']);
  const [open, setOpen] = useState<Rule | 'new' | null>(null);
  const actionsColumn: Column<Rule> = {
    head: 'Actions',
    kind: 'actions',
    class: 'alerts-actions',
    cell: (rule) => <RuleActions rule={rule} onChange={list.reload} onOpen={() => setOpen(rule)} />,
  };
  return (
    <>
      <ListSection
        title="Rules"
        actions={
          mayChange && (
            <Button icon="plus" onClick={() => setOpen('new')}>
              Add a rule
            </Button>
          )
        }
        list={list}
        empty={null}
      >
        {(rules) => (
          <DataTable
            label="Alert rules"
            columns={[...columnsOf(session?.sends_mail === true), mayChange && actionsColumn]}
            rows={rules}
            rowKey={({ id }) => id}
          />
        )}
      </ListSection>
      {open !== null && (
        <RuleDialog rule={open === 'new' ? null : open} onDone={list.reload} onClose={() => setOpen(null)} />
      )}
    </>
  );
}

const columnsOf = (sendsMail: boolean): readonly Column<Rule>[] => [
  { head: 'Rule', kind: 'row', cell: ({ name }) => <PlainText text={name} isShort /> },
  { head: 'An alert when', cell: ruleChangeText },
  { head: 'Notified', cell: (rule) => recipientsText(rule, sendsMail) },
  {
    head: 'State',
    cell: ({ active }) => <Badge tone={active ? 'allow' : 'unknown'}>{active ? 'On' : 'Off'}</Badge>,
  },
];

interface RuleActionsProps {
  readonly rule: Rule;
  readonly onChange: () => void;
  readonly onOpen: () => void;
}

function RuleActions({ rule, onChange, onOpen }: RuleActionsProps) {
  const { id, name, active: isOn, is_built_in: isShipped, is_changed: isChanged } = rule;
  const { problem, run } = useSending();
  const params = { id };
  const turn = (): Promise<void> =>
    run(async () => {
      await call('updateAlertRule', { params, body: { active: !isOn } });
      showToast(`${name}: ${isOn ? 'off' : 'on'}`);
      onChange();
    });
  const remove = (): Promise<void> =>
    run(async () => {
      await call('deleteAlertRule', { params });
      showToast(isShipped ? `${name}: as shipped` : `${name}: deleted`);
      onChange();
    });
  const ofRule = <span class="visually-hidden"> {name}</span>;
  return (
    <div class="form-actions">
      <Button onClick={onOpen}>Change{ofRule}</Button>
      <Button onClick={turn}>
        {isOn ? 'Turn off' : 'Turn on'}
        {ofRule}
      </Button>
      {(isChanged || !isShipped) && (
        <Button onClick={remove}>
          {isShipped ? 'As shipped' : 'Delete'}
          {ofRule}
        </Button>
      )}
      <ProblemNote problem={problem} />
    </div>
  );
}
