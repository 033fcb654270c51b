// A button that shows when it is busy, and a link that looks like a button. INVARIANT: while a button is busy
// a second press does nothing, so nothing is sent twice.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import './button.css';
import { Icon, type IconName } from './icon.tsx';

type ButtonVariant = 'plain' | 'primary' | 'danger' | 'quiet';

interface ButtonProps extends Omit<JSX.IntrinsicElements['button'], 'icon' | 'onClick' | 'label'> {
  readonly variant?: ButtonVariant;
  readonly icon?: IconName;
  /**
   * A returned promise keeps the button busy until it settles; the caller has to show its errors. Any other
   * value is ignored.
   */
  readonly onClick?: () => unknown;
  /** The label of a button that has only an icon. */
  readonly label?: string;
  readonly isBusy?: boolean;
  readonly children?: ComponentChildren;
}

export function Button({
  variant = 'plain',
  icon,
  label,
  onClick,
  isBusy = false,
  children,
  ...rest
}: ButtonProps) {
  const [isAtWork, setAtWork] = useState(false);
  const isThere = useRef(true);
  useEffect(() => {
    isThere.current = true;
    return () => {
      isThere.current = false;
    };
  }, []);
  const busy = isBusy || isAtWork;
  const press = (): void => {
    if (busy) return;
    const result = onClick?.();
    if (!(result instanceof Promise)) return;
    setAtWork(true);
    const done = (): void => {
      if (isThere.current) setAtWork(false);
    };
    result.then(done, (error: unknown) => {
      done();
      throw error;
    });
  };
  return (
    <button
      type="button"
      {...rest}
      class={`button button-${variant}${children === undefined ? ' button-icon' : ''}`}
      aria-label={label ?? rest['aria-label']}
      title={label ?? rest.title}
      aria-busy={busy}
      onClick={onClick === undefined ? undefined : press}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface ButtonLinkProps {
  readonly href: string;
  readonly variant?: ButtonVariant;
  readonly icon?: IconName;
  /** Whether the reply is saved as a file, under the name that the service gives it. */
  readonly download?: boolean;
  readonly children: ComponentChildren;
}

export function ButtonLink({ href, variant = 'plain', icon, download = false, children }: ButtonLinkProps) {
  return (
    <a class={`button button-${variant}`} href={href} download={download ? '' : undefined}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </a>
  );
}
