// A question that must be answered before anything else, in the browser's own modal dialog: it keeps the
// focus inside, closes with Escape, and gives the focus back. While it holds something that would be lost, it
// asks before it closes.

import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button } from '../layout/button.tsx';
import './dialog.css';

const fields = '.dialog-body :is(input, select, textarea)';

/** Sets the reason against closing, as a sentence; null for none. */
const CloseGuard = createContext<(reason: string | null) => void>(() => undefined);

/**
 * Makes the surrounding dialog ask before it closes, while there is a reason. Outside of a dialog it does
 * nothing.
 */
export function useCloseGuard(reason: string | null): void {
  const guard = useContext(CloseGuard);
  useEffect(() => {
    guard(reason);
    return () => guard(null);
  }, [guard, reason]);
}

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** The dialog is open as long as it is rendered. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useOpenDialog();
  const titleId = useId();
  const [guard, setGuard] = useState<string | null>(null);
  const [isAsking, setAsking] = useState(false);
  const close = (): void => (guard === null ? onClose() : setAsking(true));
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={titleId}
      // When nothing has the focus, no key event arrives and only the browser itself asks to close.
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return;
        event.preventDefault();
        close();
      }}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        <Button variant="quiet" icon="close" label="Close" onClick={close} />
      </header>
      {isAsking && guard !== null && (
        <div class="dialog-guard" role="alert">
          <p>{guard} Close anyway?</p>
          <div class="form-actions">
            <Button variant="danger" onClick={onClose}>
              Close
            </Button>
            <Button onClick={() => setAsking(false)}>Keep open</Button>
          </div>
        </div>
      )}
      <div class="dialog-body">
        <CloseGuard.Provider value={setGuard}>{children}</CloseGuard.Provider>
      </div>
    </dialog>
  );
}

function useOpenDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (element === null) return;
    const before = document.activeElement;
    element.showModal();
    // Focuses the first field rather than the button that closes.
    const first = element.querySelector('[data-first]') ?? element.querySelector(fields);
    if (first instanceof HTMLElement) first.focus();
    return () => {
      element.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return dialog;
}
