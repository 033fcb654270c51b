// The dialog that adds or changes an alert rule.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useSession } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { Field, FieldGroup } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { NameField } from '../../parts/form/name-field.tsx';
import { type Role, RoleChoice } from '../../parts/form/roles.tsx';
import { SendForm } from '../../parts/form/send-form.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { type Kind, kinds, type Rule } from './alert-rule-text.ts';

export type { Rule };

interface RuleDialogProps {
  /** Null to add a rule. */
  readonly rule: Rule | null;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

type Draft = Pick<
  Rule,
  'name' | 'kind' | 'threshold' | 'window_minutes' | 'code' | 'mail_roles' | 'webhook_ids'
>;

const newDraft: Draft = {
  name: '',
  kind: 'refusals',
  threshold: 100,
  window_minutes: 5,
  code: null,
  mail_roles: ['admin', 'operator'],
  webhook_ids: null,
};

export function RuleDialog({ rule, onDone, onClose }: RuleDialogProps) {
  const [draft, setDraft] = useState<Draft>(rule ?? newDraft);
  const { isBusy, problem, run } = useSending();
  const { session } = useSession();
  const change = (part: Partial<Draft>): void => setDraft({ ...draft, ...part });
  const { kind, name, threshold, window_minutes, code, mail_roles, webhook_ids } = draft;
  const save = (): Promise<void> =>
    run(async () => {
      const fields = { name, threshold, window_minutes, mail_roles, webhook_ids };
      const body = { ...fields, code: kind === 'refusals' ? code : null };
      if (rule === null) await call('createAlertRule', { body: { ...body, kind } });
      else await call('updateAlertRule', { params: { id: rule.id }, body });
      showToast(`${name}: saved`);
      onDone();
      onClose();
    });
  return (
    <Dialog title={rule === null ? 'Add a rule' : 'Change the rule'} onClose={onClose}>
      <SendForm word="Save" isBusy={isBusy} problem={problem} onSend={save} onCancel={onClose}>
        {rule === null && (
          <Field label="Measure" name="kind">
            <select
              value={kind}
              onChange={({ currentTarget }) => change({ kind: currentTarget.value as Kind })}
            >
              {(Object.keys(kinds) as Kind[]).map((one) => (
                <option key={one} value={one}>
                  {kinds[one].name}
                </option>
              ))}
            </select>
          </Field>
        )}
        <NameField value={name} onChange={(value) => change({ name: value })} />
        <Measures draft={draft} onChange={change} />
        <RoleChoice
          legend={
            session?.sends_mail === true
              ? 'Mail to these roles'
              : 'Mail to these roles, once a mail server is set up'
          }
          name="mail_roles"
          chosen={mail_roles}
          onChoose={(roles: readonly Role[]) => change({ mail_roles: [...roles] })}
        />
        <ChannelChoice chosen={webhook_ids} onChoose={(ids) => change({ webhook_ids: ids })} />
      </SendForm>
    </Dialog>
  );
}

interface MeasuresProps {
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
}

function Measures({ draft, onChange }: MeasuresProps) {
  const { kind, threshold, window_minutes: minutes, code } = draft;
  const { condition: what, isCounted } = kinds[kind];
  return (
    <>
      <Field
        label={kind === 'denials' ? 'Percent' : 'Number'}
        help={`The alert begins when at least this ${kind === 'denials' ? '' : 'many '}${what}.`}
        name="threshold"
      >
        <input
          type="number"
          required
          min={1}
          max={kind === 'denials' ? 100 : 1_000_000}
          step={1}
          value={threshold}
          onInput={({ currentTarget }) => onChange({ threshold: Number(currentTarget.value) })}
        />
      </Field>
      <Field label={isCounted ? 'Within minutes' : 'For minutes'} name="window_minutes">
        <input
          type="number"
          required
          min={isCounted ? 1 : 0}
          max={isCounted ? 60 : 1_440}
          step={1}
          value={minutes}
          onInput={({ currentTarget }) => onChange({ window_minutes: Number(currentTarget.value) })}
        />
      </Field>
      {kind === 'refusals' && (
        <Field
          label="Code"
          name="code"
          isOptional
          help="Only refusals with this code, such as too_many_open_requests."
        >
          <input
            maxLength={100}
            spellcheck={false}
            value={code ?? ''}
            onInput={({ currentTarget: { value } }) => onChange({ code: value === '' ? null : value })}
          />
        </Field>
      )}
    </>
  );
}

interface ChannelChoiceProps {
  readonly chosen: readonly string[] | null;
  readonly onChoose: (ids: string[] | null) => void;
}

function ChannelChoice({ chosen, onChoose }: ChannelChoiceProps) {
  const { data } = useResource('listWebhooks', {});
  return (
    <FieldGroup legend="Webhooks and chats" name="webhook_ids">
      <label class="choice">
        <input
          type="checkbox"
          checked={chosen === null}
          onChange={({ currentTarget: { checked } }) => onChoose(checked ? null : [])}
        />
        <span>all that subscribe to alerts</span>
      </label>
      {chosen !== null &&
        data?.items.map(({ id, url }) => (
          <label class="choice" key={id}>
            <input
              type="checkbox"
              checked={chosen.includes(id)}
              onChange={({ currentTarget: { checked } }) =>
                onChoose(checked ? [...chosen, id] : chosen.filter((one) => one !== id))
              }
            />
            <span>
              <PlainText text={url} isShort />
            </span>
          </label>
        ))}
    </FieldGroup>
  );
}
