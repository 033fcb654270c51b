// The link of a new invitation, which is shown only this once.

import type { Reply } from '../../api/client.ts';
import { ShownOnce } from '../../parts/dialog/shown-once.tsx';
import { At } from '../../parts/layout/time.tsx';

export function InvitationLink({ invited }: { readonly invited: Reply<'invite'> }) {
  const link = `${window.location.origin}/invitation#token=${invited.token}`;
  return (
    <ShownOnce title={`Invitation for ${invited.email}`} label="invitation link" text={link}>
      <p>
        Give this link to them and to nobody else. It works once, until <At at={invited.ends_at} />. If a mail
        server is set up, Writ also sends it by mail; otherwise send it yourself.
      </p>
    </ShownOnce>
  );
}
