// The alert rules: what counts as out of the ordinary, whether each rule is on, and who is told.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { useSending } from '../../parts/form/form.ts';
import { Badge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { tellDone } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { type Rule, RuleDialog } from './rule-dialog.tsx';
import { ruleWords, toldWords } from './rule-words.ts';

export function AlertRules() {
  const mayChange = useGrant('alerts.change') === 'yes';
  const { data, problem, reload } = useResource('listAlertRules', {}, ['alerts']);
  const [open, setOpen] = useState<Rule | 'new' | null>(null);
  return (
    <Section
      title="Rules"
      actions={
        mayChange && (
          <Button icon="plus" onClick={() => setOpen('new')}>
            Add a rule
          </Button>
        )
      }
    >
      <ProblemNote problem={problem} onRetry={reload} />
      {data === null && problem === null && <Loading />}
      {data !== null && (
        <TableScroll label="Rules of alerts">
          <table class="table table-stack">
            <thead>
              <tr>
                <th scope="col">Rule</th>
                <th scope="col">An alert when</th>
                <th scope="col">Told</th>
                <th scope="col">State</th>
                {mayChange && (
                  <th scope="col">
                    <span class="visually-hidden">Changes</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {data.items.map((rule) => (
                <tr key={rule.id}>
                  <th scope="row">
                    <PlainText text={rule.name} isShort />
                  </th>
                  <td data-label="An alert when">{ruleWords(rule)}</td>
                  <td data-label="Told">{toldWords(rule)}</td>
                  <td data-label="State">
                    <Badge tone={rule.active ? 'allow' : 'unknown'}>{rule.active ? 'On' : 'Off'}</Badge>
                  </td>
                  {mayChange && (
                    <td class="alerts-actions">
                      <RuleActions rule={rule} onChange={reload} onOpen={() => setOpen(rule)} />
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </TableScroll>
      )}
      {open !== null && (
        <RuleDialog rule={open === 'new' ? null : open} onDone={reload} onClose={() => setOpen(null)} />
      )}
    </Section>
  );
}

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
      tellDone(`${name}: ${isOn ? 'off' : 'on'}`);
      onChange();
    });
  const remove = (): Promise<void> =>
    run(async () => {
      await call('deleteAlertRule', { params });
      tellDone(isShipped ? `${name}: as shipped` : `${name}: deleted`);
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
