// A text that is shown whole, with a button that copies it and confirms that.

import { useState } from 'preact/hooks';
import { Button } from '../layout/button.tsx';
import './copy.css';

interface CopyTextProps {
  readonly text: string;
  readonly label: string;
  readonly onCopied?: () => void;
}

export function CopyText({ text, label, onCopied }: CopyTextProps) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  const copy = async (): Promise<void> => {
    const next = await navigator.clipboard.writeText(text).then(
      () => 'copied' as const,
      () => 'failed' as const,
    );
    setState(next);
    if (next === 'copied') onCopied?.();
    setTimeout(() => setState('idle'), 2_000);
  };
  return (
    <div class="copy" onCopy={onCopied}>
      <pre>{text}</pre>
      <Button icon={state === 'copied' ? 'check' : 'copy'} onClick={copy}>
        Copy<span class="visually-hidden"> {label}</span>
      </Button>
      <span role="status" class="visually-hidden">
        {state === 'copied'
          ? `${label}: copied`
          : state === 'failed'
            ? 'Could not copy: select the text'
            : ''}
      </span>
    </div>
  );
}
