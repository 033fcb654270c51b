// Shows changes to the reader's own sign-in on every page until they are dismissed, because somebody else may
// have made them.

import { call } from '../api/client.ts';
import { type Session, useSession } from '../api/session.tsx';
import { useSending } from '../parts/form/form.ts';
import { Button } from '../parts/layout/button.tsx';
import { ProblemNote } from '../parts/layout/note.tsx';
import { Ago } from '../parts/layout/time.tsx';
import { PlainText } from '../parts/text/plain-text.tsx';
import type { Banner } from './banners.tsx';

type NoticeItem = Session['notices'][number];

const words: Readonly<Record<NoticeItem['kind'], string>> = {
  'passkey-added': 'A passkey was added to your account',
  'passkey-removed': 'A passkey was removed from your account',
  'codes-set-up': 'One-time codes were set up for your account',
  'codes-removed': 'One-time codes were removed from your account',
  'factors-reset': 'An admin has reset your one-time codes and passkeys',
  'recovery-codes-made': 'New recovery codes were created for your account',
  'recovery-code-used': 'A recovery code of your account was used',
  'password-changed': 'Your password was changed',
  'reset-link-made': 'An admin created a link to set a new password',
  'password-reset': 'Your password was changed by a link from an admin',
  'token-made': 'A personal token was made for your account',
  'chat-linked': 'A chat account was linked to your account',
};

export function useNoticeBanners(): readonly Banner[] {
  const { session } = useSession();
  return (session?.notices ?? []).map((notice) => ({
    key: notice.id,
    tone: 'escalate',
    icon: 'key',
    label: 'Changes of your sign-in',
    words: <NoticeText notice={notice} />,
    actions: <DismissButton id={notice.id} />,
  }));
}

function NoticeText({ notice: { kind, name, created_at: at } }: { readonly notice: NoticeItem }) {
  return (
    <>
      {words[kind]}
      {name !== null && (
        <>
          {' '}
          (<PlainText text={name} isShort />)
        </>
      )}{' '}
      <Ago at={at} />. If it was not you, <a href="/account">change your password</a> and tell an admin.
    </>
  );
}

function DismissButton({ id }: { readonly id: string }) {
  const { take } = useSession();
  const { isBusy, problem, run } = useSending();
  const dismiss = (): Promise<void> =>
    run(async () => {
      await call('dismissNotice', { params: { id } });
      take(await call('getSession'));
    });
  return (
    <>
      <ProblemNote problem={problem} />
      <Button isBusy={isBusy} onClick={() => void dismiss()}>
        It was me
      </Button>
    </>
  );
}
