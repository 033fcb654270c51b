// Keyboard shortcuts of a page, a list of them under `?`, and a switch that turns them off (WCAG 2.1.4), kept
// in this browser. INVARIANT: no key is taken while a person types or a dialog is open.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import './shortcuts.css';

export interface Shortcut {
  /**
   * Key names as in keyboard events. Arrow keys are taken only when they would do nothing but scroll the
   * page.
   */
  readonly keys: readonly string[];
  readonly label: string;
  /** Absent when the browser itself acts on the keys. */
  readonly run?: () => void;
}

const storageKey = 'writ.shortcuts';

/** Returns the list of shortcuts while it is open, else null. */
export function useShortcuts(shortcuts: readonly Shortcut[]) {
  const [isOpen, setOpen] = useState(false);
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  // A layout effect, so that no key is lost between the first sight of the page and its effects.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!isForPage(event)) return;
      if (event.key === '?') {
        event.preventDefault();
        setOpen(true);
      }
      if (event.key === '?' || !areOn()) return;
      const shortcut = latest.current.find(({ keys, run }) => run !== undefined && keys.includes(event.key));
      if (shortcut === undefined) return;
      event.preventDefault();
      shortcut.run?.();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return isOpen ? <ShortcutList shortcuts={shortcuts} onClose={() => setOpen(false)} /> : null;
}

/** Opens the list of the shortcuts of the page. */
export function openShortcutList(): void {
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true, cancelable: true }));
}

/** Returns the list of the shortcuts that every page has, while it is open, on pages without shortcuts of their own. */
export function useShortcutsOfAllPages() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '?' || !isForPage(event)) return;
      event.preventDefault();
      setOpen(true);
    };
    // The window hears a key after the document, where a page with shortcuts takes it.
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, []);
  return isOpen ? <ShortcutList shortcuts={[]} onClose={() => setOpen(false)} /> : null;
}

/** Tells sighted readers that there are shortcuts. */
export function ShortcutHint() {
  return (
    <p class="shortcut-hint">
      Press <kbd>?</kbd> for keyboard shortcuts
    </p>
  );
}

function isForPage(event: KeyboardEvent): boolean {
  const { target, key } = event;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
  if (!(target instanceof Element) || document.querySelector('dialog[open]') !== null) return false;
  if (target.closest('input, textarea, select, [contenteditable]') !== null) return false;
  const isArrow = key.startsWith('Arrow');
  return !isArrow || target.closest('[tabindex="0"], button, summary') === null;
}

function ShortcutList({
  shortcuts,
  onClose,
}: {
  readonly shortcuts: readonly Shortcut[];
  readonly onClose: () => void;
}) {
  const [isOn, setOn] = useState(areOn);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {[
          ...shortcuts,
          { keys: ['Ctrl + K'], label: 'Go to a page, an agent or a request' },
          { keys: ['?'], label: 'Show this list' },
        ].map(({ keys, label }) => (
          <div key={label}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{keyNames[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
      <label class="choice">
        <input
          type="checkbox"
          checked={isOn}
          onChange={({ currentTarget }) => {
            turn(currentTarget.checked ? 'on' : 'off');
            setOn(currentTarget.checked);
          }}
        />
        Shortcuts are on
      </label>
    </Dialog>
  );
}

const keyNames: Readonly<Record<string, string>> = {
  ArrowDown: '↓',
  ArrowUp: '↑',
  ArrowRight: '→',
  ' ': 'Space',
};

function areOn(): boolean {
  try {
    return window.localStorage.getItem(storageKey) !== 'off';
  } catch {
    return true;
  }
}

function turn(to: 'on' | 'off'): void {
  try {
    window.localStorage.setItem(storageKey, to);
  } catch {
    // If storage is not available, the setting does not change.
  }
}
