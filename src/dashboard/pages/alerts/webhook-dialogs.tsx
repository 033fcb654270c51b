// Dialogs that add a webhook, give it a new secret, and delete it. A secret is shown once.

import { useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { OneTimeSecret, StoredButton } from '../../parts/dialog/one-time-secret.tsx';
import { Field, FieldGroup } from '../../parts/form/field.tsx';
import { useSending } from '../../parts/form/form.ts';
import { SendForm } from '../../parts/form/send-form.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { ProblemNote } from '../../parts/layout/note.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';

export type Webhook = Reply<'listWebhooks'>['items'][number];

type Event = Webhook['events'][number];

const meanings: Readonly<Record<Event, string>> = {
  'request.pending': 'a request needs people',
  'request.decided': 'a pending request was decided',
  'request.commented': 'someone commented on a pending request',
  'request.reminded': 'people are reminded of a pending request',
  'policies.reload_failed': 'changed policies failed to load',
  'proposal.made': 'a change of the policies is proposed',
  'proposal.settled': 'a proposal was accepted, rejected or withdrawn',
  'agent.revoked': 'an agent was revoked',
  'standing_approval.given': 'a standing approval was given',
  'standing_approval.used_up': 'a standing approval is used up',
  'standing_approval.ending': 'a standing approval ends soon',
  'standing_approval.revoked': 'a standing approval was revoked',
  'application.made': 'someone applies for access',
  'alert.began': 'an alert begins',
  'alert.over': 'an alert ends',
};
const events = Object.keys(meanings) as Event[];

const formats = {
  standard: { word: 'A program', meaning: 'signed messages (Standard Webhooks)' },
  chat: { word: 'People in a chat', meaning: 'the incoming webhook of Slack, Mattermost and the like' },
} as const;

interface MakeProps {
  readonly onChange: () => void;
  readonly onClose: () => void;
}

export function MakeWebhookDialog({ onChange, onClose }: MakeProps) {
  const [url, setUrl] = useState('');
  const [chosen, setChosen] = useState<readonly Event[]>(events);
  const [format, setFormat] = useState<Webhook['format']>('standard');
  const [made, setMade] = useState<Reply<'createWebhook'> | null>(null);
  const { isBusy, problem, run } = useSending();
  const make = (): Promise<void> =>
    run(async () => {
      const reply = await call('createWebhook', { body: { url: url.trim(), events: chosen, format } });
      onChange();
      if (reply.secret !== null) return setMade(reply);
      showToast('The chat channel is added');
      onClose();
    });
  if (made?.secret != null) return <Secret secret={made.secret} url={made.webhook.url} onClose={onClose} />;
  return (
    <Dialog title="Add a webhook or chat" onClose={onClose}>
      <SendForm
        word={format === 'chat' ? 'Add the chat' : 'Add the webhook'}
        isBusy={isBusy}
        problem={problem}
        onSend={make}
        onCancel={onClose}
      >
        <FieldGroup legend="Who reads the messages" name="format">
          {(['standard', 'chat'] as const).map((one) => (
            <label class="choice" key={one}>
              <input type="radio" name="format" checked={format === one} onChange={() => setFormat(one)} />
              <span>
                {formats[one].word} <span class="alert-soft">{formats[one].meaning}</span>
              </span>
            </label>
          ))}
        </FieldGroup>
        <Field
          label="Address"
          help="Where to send messages: an https: address on the public Internet."
          name="url"
        >
          <input
            type="url"
            required
            maxLength={2_000}
            autoComplete="off"
            value={url}
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
        </Field>
        <FieldGroup legend="Events" name="events">
          {events.map((one) => (
            <label class="choice" key={one}>
              <input
                type="checkbox"
                checked={chosen.includes(one)}
                onChange={({ currentTarget: { checked } }) =>
                  setChosen(events.filter((event) => (event === one ? checked : chosen.includes(event))))
                }
              />
              <span>
                {one} <span class="alert-soft">{meanings[one]}</span>
              </span>
            </label>
          ))}
        </FieldGroup>
      </SendForm>
    </Dialog>
  );
}

interface SecretProps {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

export function SecretDialog({ webhook, onClose }: SecretProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const { isBusy, problem, run } = useSending();
  const rotate = (): Promise<void> =>
    run(async () => setSecret((await call('rotateWebhookSecret', { params: { id: webhook.id } })).secret));
  if (secret !== null) return <Secret secret={secret} url={webhook.url} onClose={onClose} />;
  return (
    <Dialog title="A new secret" onClose={onClose}>
      <p>For 24 hours messages are signed with both, so that the receiver can switch to the new secret.</p>
      <ProblemNote problem={problem} />
      <div class="form-actions">
        <Button variant="primary" isBusy={isBusy} onClick={() => void rotate()}>
          Create a new secret
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}

function Secret({ secret, url, onClose }: { secret: string; url: string; onClose: () => void }) {
  return (
    <Dialog title="The secret of the webhook" onClose={onClose}>
      <OneTimeSecret title={url} label="secret" text={secret}>
        <p>The receiver uses it to check the signature of each message (Standard Webhooks).</p>
      </OneTimeSecret>
      <StoredButton onClick={onClose} />
    </Dialog>
  );
}

export function RemoveWebhookDialog({ webhook, onChange, onClose }: SecretProps & MakeProps) {
  return (
    <ConfirmDialog
      title="Delete the webhook"
      word="Delete it"
      done="The webhook is deleted"
      work={() => call('deleteWebhook', { params: { id: webhook.id } })}
      onDone={onChange}
      onClose={onClose}
    >
      <PlainText text={webhook.url} /> receives no more messages, and its pending messages are deleted.
    </ConfirmDialog>
  );
}
