// The kill switch, on every page for people who may see it: a banner shows what is stopped, and a dialog
// stops a scope with a reason.

import { useId, useState } from 'preact/hooks';
import type { KillSwitch } from '../../api/applicable-kill-switch.ts';
import { call } from '../api/client.ts';
import { useResource } from '../api/resource.ts';
import { useGrant } from '../api/session.tsx';
import { Dialog } from '../parts/dialog/dialog.tsx';
import { Field } from '../parts/form/field.tsx';
import { useSending } from '../parts/form/form.ts';
import { ReasonField } from '../parts/form/reason-field.tsx';
import { SendForm } from '../parts/form/send-form.tsx';
import { Button } from '../parts/layout/button.tsx';
import { Ago } from '../parts/layout/time.tsx';
import { showToast } from '../parts/layout/toast.tsx';
import type { useKillSwitches } from '../parts/policy/kill-switches.tsx';
import { PlainText } from '../parts/text/plain-text.tsx';
import type { Banner } from './banners.tsx';

/** The scopes that are stopped now. */
export function stoppedBanners({ data, reload }: ReturnType<typeof useKillSwitches>): readonly Banner[] {
  return (data?.items ?? []).map((one) => ({
    key: one.id,
    tone: 'deny',
    icon: 'stop',
    label: 'What is stopped',
    words: (
      <>
        <strong>
          <ScopeName stopped={one} />: stopped
        </strong>{' '}
        <Ago at={one.created_at} /> by <PlainText text={one.created_by_name} isShort />:{' '}
        <PlainText text={one.reason} isShort />
      </>
    ),
    actions: <ResumeButton stopped={one} onDone={reload} />,
  }));
}

function ResumeButton({ stopped, onDone }: { readonly stopped: KillSwitch; readonly onDone: () => void }) {
  const [isOpen, setOpen] = useState(false);
  if (useGrant('kill-switches.use') !== 'yes') return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>Resume</Button>
      {isOpen && <ResumeDialog resumed={stopped} onDone={onDone} onClose={() => setOpen(false)} />}
    </>
  );
}

interface ResumeDialogProps {
  readonly resumed: KillSwitch;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** To resume everything, the person must also type a word, so that no slip lets all agents act. */
function ResumeDialog({ resumed, onDone, onClose }: ResumeDialogProps) {
  const { id, scope, reason: whyStopped, created_at: at, created_by_name: by } = resumed;
  const [reason, setReason] = useState('');
  const [typed, setTyped] = useState('');
  const { isBusy, problem, run } = useSending();
  const resume = (): Promise<void> =>
    run(async () => {
      await call('deactivateKillSwitch', { params: { id }, body: { reason } });
      showToast(`${scopeLabel(scope)}: resumed`);
      onDone();
      onClose();
    });
  return (
    <Dialog title="Let agents act again" onClose={onClose}>
      <p>
        <strong>
          <ScopeName stopped={resumed} />
        </strong>
        : stopped <Ago at={at} /> by <PlainText text={by} isShort />, because “
        <PlainText text={whyStopped} />
        ”. The policies decide requests again immediately, and pending requests can be approved.
      </p>
      <SendForm
        word="Let act again"
        variant="danger"
        isBusy={isBusy}
        problem={problem}
        onSend={resume}
        onCancel={onClose}
      >
        <ReasonField help="Kept in the record." reason={reason} onChange={setReason} />
        {scope === 'all' && (
          <Field label="Type “all” to let every agent act">
            <input
              required
              pattern="all"
              title="the word all"
              autoComplete="off"
              value={typed}
              onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            />
          </Field>
        )}
      </SendForm>
    </Dialog>
  );
}

function ScopeName({ stopped: { scope, agent_name: name } }: { readonly stopped: KillSwitch }) {
  return name === null ? scopeLabel(scope) : <PlainText text={`Agent ${name}`} isShort />;
}

/** `scope`: a name of the management API, such as `all`, `tier:high`, `area:payment` or `agent:ID`. */
function scopeLabel(scope: string): string {
  const [kind = '', value = ''] = scope.split(/:(.*)/s);
  if (kind === 'tier') return `Agents of ${value} risk`;
  if (kind === 'area') return `Actions of ${value}`;
  return kind === 'agent' ? `Agent ${value}` : 'Everything';
}

export function KillSwitchButton() {
  const [isOpen, setOpen] = useState(false);
  if (useGrant('kill-switches.use') !== 'yes') return null;
  return (
    <>
      <Button variant="quiet" icon="stop" onClick={() => setOpen(true)}>
        Kill switch
      </Button>
      {isOpen && <KillSwitchDialog onClose={() => setOpen(false)} />}
    </>
  );
}

const kinds = {
  agent: { word: 'One agent', value: 'Agent', help: 'By name or id.' },
  tier: { word: 'Agents of one risk tier', value: 'Risk tier', help: '' },
  area: {
    word: 'One area of actions',
    value: 'Area',
    help: 'The beginning of action keys up to a dot: payment covers payment.create.',
  },
  all: { word: 'Everything', value: '', help: '' },
} as const;

type Kind = keyof typeof kinds;

/** Stops the given `agent`; without one, the person chooses a scope. */
export function KillSwitchDialog({
  onClose,
  agent = null,
}: {
  onClose: () => void;
  agent?: { id: string; name: string } | null;
}) {
  const [kind, setKind] = useState<Kind>('agent');
  const [value, setValue] = useState(agent?.name ?? '');
  const [reason, setReason] = useState('');
  const { isBusy, problem, run, clear } = useSending();
  const { word, value: label, help } = kinds[kind];
  const stop = (): Promise<void> =>
    run(async () => {
      const scope = kind === 'all' ? 'all' : `${kind}:${agent?.id ?? value.trim()}`;
      const { agent_name: name, warnings } = await call('createKillSwitch', { body: { scope, reason } });
      const stopped = `${scopeLabel(name === null ? scope : `agent:${name}`)}: stopped`;
      showToast([stopped, ...warnings].join('; '));
      onClose();
    });
  return (
    <Dialog title="Stop agents" onClose={onClose}>
      <p>
        Stopped agents and actions are refused within a second, before any policy is evaluated, until someone
        resumes them. Grants that were already given stay valid until they end.
      </p>
      <SendForm
        word={kind === 'all' ? 'Stop everything' : `Stop: ${agent?.name ?? word.toLowerCase()}`}
        variant="danger"
        icon="stop"
        isBusy={isBusy}
        problem={problem}
        onSend={stop}
        onCancel={onClose}
      >
        {agent === null && (
          <fieldset>
            <legend class="field-legend">Scope</legend>
            {(Object.keys(kinds) as Kind[]).map((one) => (
              <label class="choice" key={one}>
                <input
                  type="radio"
                  name="kind"
                  checked={kind === one}
                  onChange={() => {
                    clear();
                    setKind(one);
                    setValue(one === 'tier' ? 'high' : '');
                  }}
                />
                {kinds[one].word}
              </label>
            ))}
          </fieldset>
        )}
        {kind === 'tier' && (
          <Field label={label} name="scope">
            <select value={value} onChange={({ currentTarget }) => setValue(currentTarget.value)}>
              {['low', 'medium', 'high', 'critical'].map((tier) => (
                <option key={tier}>{tier}</option>
              ))}
            </select>
          </Field>
        )}
        {kind === 'agent' && agent === null && <AgentField value={value} onChange={setValue} />}
        {kind === 'area' && agent === null && (
          <Field label={label} name="scope" help={help}>
            <input required value={value} onInput={({ currentTarget }) => setValue(currentTarget.value)} />
          </Field>
        )}
        <ReasonField
          help="Shown on every page, and kept in the record. Agents are not told why."
          reason={reason}
          onChange={setReason}
        />
      </SendForm>
    </Dialog>
  );
}

interface AgentFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Suggests agents whose names contain the typed text. */
function AgentField({ value, onChange }: AgentFieldProps) {
  const listId = useId();
  const mayView = useGrant('agents.view') !== 'no';
  const { data } = useResource('listAgents', mayView ? { query: { text: value.trim(), limit: '20' } } : null);
  return (
    <>
      <Field label={kinds.agent.value} name="scope" help={kinds.agent.help}>
        <input
          required
          autoComplete="off"
          spellcheck={false}
          list={listId}
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      </Field>
      <datalist id={listId}>
        {(data?.items ?? []).map(({ id, name }) => (
          <option key={id} value={name} />
        ))}
      </datalist>
    </>
  );
}
