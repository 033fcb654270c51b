// Opens the command palette: by Ctrl+K or Cmd+K, unless a dialog is open, or by its button in the menu. The
// palette's code is loaded when it is first opened.

import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Dialog } from '../parts/dialog/dialog.tsx';
import { Button } from '../parts/layout/button.tsx';
import { ProblemNote } from '../parts/layout/note.tsx';
import { KillSwitchDialog } from './kill-switch.tsx';
import type { Page } from './page.ts';

export interface PaletteProps {
  /** All pages; the palette offers those in the menu. */
  readonly pages: readonly Page[];
  readonly onStop: () => void;
  readonly onClose: () => void;
}

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

export interface PaletteState {
  readonly open: () => void;
  /** The open palette or dialog. It must be rendered outside of the menu, which may be hidden. */
  readonly shown: ComponentChildren;
}

export function usePalette(pages: readonly Page[]): PaletteState {
  const [open, setOpen] = useState<'palette' | 'stop' | null>(null);
  const { Palette, problem, load } = usePaletteCode(open === 'palette');
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!isPaletteKey(event) || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      setOpen('palette');
    };
    // Captures the keys before an editor that uses the same keys.
    document.addEventListener('keydown', onKey, { capture: true });
    return () => document.removeEventListener('keydown', onKey, { capture: true });
  }, []);
  const close = (): void => setOpen(null);
  return {
    open: () => setOpen('palette'),
    shown: (
      <>
        {open === 'palette' && Palette !== null && (
          <Palette pages={pages} onStop={() => setOpen('stop')} onClose={close} />
        )}
        {open === 'palette' && problem !== null && (
          <Dialog title="Go to…" onClose={close}>
            <ProblemNote problem={problem} onRetry={load} />
          </Dialog>
        )}
        {open === 'stop' && <KillSwitchDialog onClose={close} />}
      </>
    ),
  };
}

export function PaletteButton({ onOpen }: { readonly onOpen: () => void }) {
  return (
    <Button variant="quiet" icon="search" onClick={onOpen}>
      Go to… <kbd class="palette-key">{isApple ? '⌘ K' : 'Ctrl K'}</kbd>
    </Button>
  );
}

function isPaletteKey({ ctrlKey, metaKey, altKey, shiftKey, key }: KeyboardEvent): boolean {
  return (isApple ? metaKey : ctrlKey) && !altKey && !shiftKey && key.toLowerCase() === 'k';
}

function usePaletteCode(isWanted: boolean) {
  const [Palette, setPalette] = useState<ComponentType<PaletteProps> | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const load = (): void => {
    setProblem(null);
    import('./palette.tsx').then((module) => setPalette(() => module.default), setProblem);
  };
  useEffect(() => {
    if (isWanted && Palette === null) load();
  }, [isWanted, Palette]);
  return { Palette, problem, load };
}
