// Shows a secret that cannot be shown again, with its purpose. It takes the focus, because the person has
// just asked for it.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../layout/button.tsx';
import { Icon } from '../layout/icon.tsx';
import { CopyText } from '../text/copy.tsx';
import { PlainText } from '../text/plain-text.tsx';
import { useCloseGuard } from './dialog.tsx';
import './one-time-secret.css';

interface OneTimeSecretProps {
  readonly title: string;
  readonly label: string;
  readonly text: string;
  /** What to do with the secret. */
  readonly children?: ComponentChildren;
}

export function OneTimeSecret({ title, label, text, children }: OneTimeSecretProps) {
  const heading = useRef<HTMLParagraphElement>(null);
  const [isCopied, setCopied] = useState(false);
  useEffect(() => heading.current?.focus(), [text]);
  useCloseGuard(isCopied ? null : `The ${label} is not copied yet.`);
  return (
    <div class="shown-once">
      <p class="shown-once-title" ref={heading} tabIndex={-1}>
        <Icon name="key" /> <PlainText text={title} isShort />
      </p>
      <CopyText text={text} label={label} onCopied={() => setCopied(true)} />
      <p class="shown-once-warning">Copy it now: it is shown only once and is not stored in clear text.</p>
      {children}
    </div>
  );
}

/** The button that closes the display of a secret. */
export function StoredButton({ onClick }: { readonly onClick: () => void }) {
  return (
    <div class="form-actions">
      <Button variant="primary" onClick={onClick}>
        I have stored it
      </Button>
    </div>
  );
}
