// Short messages that something was done. Screen readers read them out, and they disappear by themselves. A
// failure is never shown only in this way.

import { useEffect, useState } from 'preact/hooks';

type Listener = (text: string) => void;

const listeners = new Set<Listener>();
const shownMs = 5_000;

export function showToast(text: string): void {
  for (const listener of [...listeners]) listener(text);
}

export function Toasts() {
  const [toasts, setToasts] = useState<readonly { readonly id: number; readonly text: string }[]>([]);
  useEffect(() => {
    let id = 0;
    const listener: Listener = (text) => {
      id += 1;
      const toast = { id, text };
      setToasts((before) => [...before, toast].slice(-3));
      setTimeout(() => setToasts((before) => before.filter((one) => one !== toast)), shownMs);
    };
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return (
    <div class="toasts" role="status">
      {toasts.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
