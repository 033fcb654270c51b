// Changes the status of an enforcement point: disables and enables it, or revokes it for good.

import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { useGrant } from '../../api/session.tsx';
import { ConfirmDialog } from '../../parts/dialog/confirm-dialog.tsx';
import { RevokeDialog } from '../../parts/dialog/revoke-dialog.tsx';
import { Button } from '../../parts/layout/button.tsx';
import type { PointProps } from './point-props.ts';

export function PointActions({ point, onChange }: PointProps) {
  const [open, setOpen] = useState<'disable' | 'enable' | 'revoke' | null>(null);
  const mayChange = useGrant('points.change') === 'yes';
  if (!mayChange || point.status === 'revoked') return null;
  const close = (): void => setOpen(null);
  const params = { id: point.id };
  return (
    <>
      {point.status === 'disabled' ? (
        <Button look="primary" onClick={() => setOpen('enable')}>
          Enable
        </Button>
      ) : (
        <Button onClick={() => setOpen('disable')}>Disable</Button>
      )}
      <Button icon="close" onClick={() => setOpen('revoke')}>
        Revoke
      </Button>
      {open === 'disable' && (
        <ConfirmDialog
          title="Disable the enforcement point"
          word="Disable"
          done={`${point.name} is disabled`}
          work={() => call('disablePoint', { params })}
          onDone={onChange}
          onClose={close}
        >
          All its requests are refused from now on, whomever it asks for, and those that wait cannot be
          approved, until someone enables it again.
        </ConfirmDialog>
      )}
      {open === 'enable' && (
        <ConfirmDialog
          title="Enable the enforcement point"
          word="Enable"
          look="primary"
          done={`${point.name} is enabled`}
          work={() => call('enablePoint', { params })}
          onDone={onChange}
          onClose={close}
        >
          Its requests are decided again, with the keys that it has.
        </ConfirmDialog>
      )}
      {open === 'revoke' && (
        <RevokeDialog
          what="enforcement point"
          name={point.name}
          send={(body) => call('revokePoint', { params, body })}
          onDone={onChange}
          onClose={close}
        />
      )}
    </>
  );
}
