// Webhooks and chat channels: who receives which events, whether delivery works, and what an admin can
// change. The address says which webhook's deliveries are shown.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { setQuery, useAddress } from '../../navigation/navigation.ts';
import { useSending } from '../../parts/form/form.ts';
import { Marks } from '../../parts/form/roles.tsx';
import { Badge, StatusBadge } from '../../parts/layout/badge.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty, Note, ProblemNote } from '../../parts/layout/note.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { Deliveries } from './deliveries.tsx';
import { MakeWebhookDialog, RemoveWebhookDialog, SecretDialog, type Webhook } from './webhook-dialogs.tsx';

export function Webhooks() {
  const mayChange = useGrant('webhooks.change') === 'yes';
  const list = useResource('listWebhooks', {});
  const [isMaking, setMaking] = useState(false);
  return (
    <>
      <ListSection
        title="Webhooks and chat"
        actions={
          mayChange && (
            <Button icon="plus" onClick={() => setMaking(true)}>
              Add a webhook or chat
            </Button>
          )
        }
        list={list}
        empty={
          <Empty icon="open" title="No webhook yet">
            A webhook notifies another service or a chat when a request is pending or decided, policies fail
            to load, someone applies for access, or an alert begins or ends.
          </Empty>
        }
      >
        {(webhooks) => (
          <ul class="webhook-list">
            {webhooks.map((webhook) => (
              <OneWebhook key={webhook.id} webhook={webhook} mayChange={mayChange} onChange={list.reload} />
            ))}
          </ul>
        )}
      </ListSection>
      {isMaking && <MakeWebhookDialog onChange={list.reload} onClose={() => setMaking(false)} />}
    </>
  );
}

interface OneWebhookProps {
  readonly webhook: Webhook;
  readonly mayChange: boolean;
  readonly onChange: () => void;
}

function OneWebhook({ webhook, mayChange, onChange }: OneWebhookProps) {
  const { query } = useAddress();
  const { id, url, format, events, status, disabled_reason: because, failing_since: failing } = webhook;
  const isOpen = query.get('webhook') === id;
  return (
    <li>
      <div class="webhook-head">
        <code>
          <PlainText text={url} isShort />
        </code>
        <StatusBadge status={status} />
        {format === 'chat' && <Badge tone="unknown">Chat</Badge>}
      </div>
      <Marks words={events} />
      {because !== null && (
        <Note tone="deny" icon="warning">
          Disabled: <PlainText text={because} />
        </Note>
      )}
      {failing !== null && because === null && (
        <Note tone="escalate" icon="warning">
          Every attempt has failed since <Ago at={failing} />.
        </Note>
      )}
      <div class="form-actions">
        <Button
          icon={isOpen ? 'down' : 'right'}
          aria-expanded={isOpen}
          onClick={() => setQuery({ webhook: isOpen ? null : id })}
        >
          Deliveries<span class="visually-hidden"> to {url}</span>
        </Button>
        {mayChange && <WebhookActions webhook={webhook} onChange={onChange} />}
      </div>
      {isOpen && <Deliveries webhookId={id} />}
    </li>
  );
}

function WebhookActions({ webhook, onChange }: Omit<OneWebhookProps, 'mayChange'>) {
  const { id, url, format, status } = webhook;
  const [open, setOpen] = useState<'secret' | 'remove' | null>(null);
  const { problem, run } = useSending();
  const params = { id };
  const test = (): Promise<void> =>
    run(async () => {
      await call('testWebhook', { params });
      showToast('Test message sent: see the deliveries');
      setQuery({ webhook: id });
    });
  const setStatus = (next: Webhook['status']): Promise<void> =>
    run(async () => {
      await call('updateWebhook', { params, body: { status: next } });
      showToast(next === 'active' ? 'The webhook is enabled' : 'The webhook is disabled');
      onChange();
    });
  const close = (): void => setOpen(null);
  const to = <span class="visually-hidden"> {url}</span>;
  return (
    <>
      <Button onClick={test}>Send a test{to}</Button>
      {format === 'standard' && <Button onClick={() => setOpen('secret')}>New secret{to}</Button>}
      <Button onClick={() => setStatus(status === 'active' ? 'disabled' : 'active')}>
        {status === 'active' ? 'Disable' : 'Enable'}
        {to}
      </Button>
      <Button onClick={() => setOpen('remove')}>Delete{to}</Button>
      <ProblemNote problem={problem} />
      {open === 'secret' && <SecretDialog webhook={webhook} onClose={close} />}
      {open === 'remove' && <RemoveWebhookDialog webhook={webhook} onChange={onChange} onClose={close} />}
    </>
  );
}
