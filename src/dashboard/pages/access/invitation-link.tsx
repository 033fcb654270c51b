// The link of an invitation, shown this once.

import type { Reply } from '../../api/client.ts';
import { ShownOnce } from '../../parts/dialog/shown-once.tsx';
import { At } from '../../parts/layout/time.tsx';

export function InvitationLink({ invited }: { readonly invited: Reply<'invite'> }) {
  const link = `${window.location.origin}/invitation#token=${invited.token}`;
  return (
    <ShownOnce title={`The invitation of ${invited.email}`} label="invitation link" text={link}>
      <p>
        Give it to them, and to nobody else: it is good once, until <At at={invited.ends_at} />. Where the
        service has a mail server it was sent to them, too.
      </p>
    </ShownOnce>
  );
}
