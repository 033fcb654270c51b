// The person's linked chat accounts: a code to enter in the chat, the account that has entered it for the person to
// confirm, and the end of a link. Shown where the service is set up for a chat.

import { useEffect, useState } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useReloadSession } from '../../api/session.tsx';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { Dialog } from '../../parts/dialog/dialog.tsx';
import { type Proof, ProofForm } from '../../parts/form/proof-form.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { ListSection } from '../../parts/layout/list-section.tsx';
import { Empty } from '../../parts/layout/note.tsx';
import { Ago, At } from '../../parts/layout/time.tsx';
import { ChatAccountName } from '../../parts/people/chat-account.tsx';
import { chatServiceNames } from '../../parts/people/chat-services.ts';
import { CopyText } from '../../parts/text/copy.tsx';

type Link = Reply<'listChatLinks'>['items'][number];
type ChatService = Reply<'listChatLinks'>['services'][number];
type Question = 'link' | { readonly kind: 'confirm' | 'end'; readonly link: Link };

/** How often the list is read while a code waits for its entry, in milliseconds. */
const waitMs = 3_000;

export function ChatAccounts() {
  const list = useResource('listChatLinks', {});
  const [open, setOpen] = useState<Question | null>(null);
  const { items = [], services = [] } = list.data ?? {};
  const isWaiting = items.some(({ status }) => status === 'waiting');
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(list.reload, waitMs);
    return () => clearInterval(timer);
  }, [isWaiting, list.reload]);
  if (services.length === 0 && items.length === 0) return null;
  const dialog = { onChange: list.reload, onClose: () => setOpen(null) };
  return (
    <>
      <ListSection
        title="Chat accounts"
        lead={
          <p class="account-soft">
            In a linked chat you can approve and reject what the policies allow there. Each vote is recorded
            as yours.
          </p>
        }
        actions={
          services.length > 0 && (
            <Button icon="plus" onClick={() => setOpen('link')}>
              Link an account
            </Button>
          )
        }
        list={list}
        lines={2}
        empty={
          <Empty icon="inbox" title="No linked account">
            <p>
              Link your account of {services.map((one) => chatServiceNames[one]).join(' or ')} to vote there.
            </p>
          </Empty>
        }
      >
        {(links) => (
          <DataTable
            label="Chat accounts"
            columns={columnsOf((kind, link) => setOpen({ kind, link }))}
            rows={links}
            rowKey={({ id }) => id}
          />
        )}
      </ListSection>
      {open === 'link' && <LinkDialog services={services} {...dialog} />}
      {open !== null && open !== 'link' && <QuestionDialog {...open} {...dialog} />}
    </>
  );
}

function columnsOf(ask: (kind: 'confirm' | 'end', link: Link) => void): readonly Column<Link>[] {
  return [
    {
      head: 'Account',
      kind: 'row',
      cell: ({ account }) =>
        account === null ? 'Code not entered yet' : <ChatAccountName account={account} />,
    },
    { head: 'Created', cell: ({ created_at: at }) => <Ago at={at} /> },
    { head: 'Code ends', cell: ({ ends_at: at }) => (at === null ? '' : <Ago at={at} />) },
    {
      head: 'Actions',
      kind: 'actions',
      cell: (link) => (
        <>
          {link.status === 'entered' && (
            <Button variant="primary" onClick={() => ask('confirm', link)}>
              Confirm…
            </Button>
          )}{' '}
          <Button onClick={() => ask('end', link)}>
            {link.status === 'linked' ? 'End the link' : 'Cancel'}
          </Button>
        </>
      ),
    },
  ];
}

interface DialogProps {
  readonly onChange: () => void;
  readonly onClose: () => void;
}

const entryWords: Readonly<Record<ChatService, (code: string) => string>> = {
  slack: (code) => `/writ link ${code}`,
  teams: (code) => `link ${code}`,
};

const placeWords: Readonly<Record<ChatService, string>> = {
  slack: 'In Slack, write:',
  teams: 'In Teams, send this message to the bot:',
};

function LinkDialog({
  services,
  onChange,
  onClose,
}: DialogProps & { readonly services: readonly ChatService[] }) {
  const [made, setMade] = useState<Reply<'createChatLinkCode'> | null>(null);
  const make = async (proof: Proof): Promise<void> => {
    setMade(await call('createChatLinkCode', { body: proof }));
    onChange();
  };
  if (made === null)
    return (
      <Dialog title="Link a chat account" onClose={onClose}>
        <ProofForm word="Create a code" onProof={make} onClose={onClose}>
          <p>You enter the code in the chat, and then confirm here which account has entered it.</p>
        </ProofForm>
      </Dialog>
    );
  return (
    <Dialog title="Enter the code in the chat" onClose={onClose}>
      {services.map((service) => (
        <div key={service}>
          <p>{placeWords[service]}</p>
          <CopyText text={entryWords[service](made.code)} label="message" />
        </div>
      ))}
      <p>
        The code works once, until <At at={made.ends_at} />. Give it to nobody. Then confirm the account in
        the list.
      </p>
      <div class="form-actions">
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}

function QuestionDialog({ kind, link, onChange, onClose }: DialogProps & Exclude<Question, 'link'>) {
  const reload = useReloadSession();
  const { id, account, status } = link;
  const name = account === null ? 'the account' : <ChatAccountName account={account} />;
  if (kind === 'confirm')
    return (
      <ConfirmDialog
        title="Confirm the account"
        word="It is mine: link it"
        variant="primary"
        done="The account is linked"
        work={async () => {
          await call('confirmChatLink', { params: { id } });
          await reload();
        }}
        onDone={onChange}
        onClose={onClose}
      >
        <strong>{name}</strong> has entered your code. Whoever has this account can vote as you. Link it only
        if it is yours.
      </ConfirmDialog>
    );
  return (
    <ConfirmDialog
      title={status === 'linked' ? 'End the link' : 'Cancel the code'}
      word={status === 'linked' ? 'End it' : 'Cancel it'}
      done={status === 'linked' ? 'The link has ended' : 'The code is cancelled'}
      work={() => call('deleteChatLink', { params: { id } })}
      onDone={onChange}
      onClose={onClose}
    >
      {status === 'linked' ? (
        <>Nobody can vote as you by {name} from now on.</>
      ) : (
        'The code cannot be used any more.'
      )}
    </ConfirmDialog>
  );
}
