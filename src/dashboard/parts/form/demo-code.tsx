// In a demo, the code that the authenticator of the demo's account would show; renders nothing elsewhere.

import { useEffect, useState } from 'preact/hooks';
import { codeMs, demoCodeAt } from '../../api/demo.ts';
import { Button } from '../layout/button.tsx';
import { useNow } from '../layout/time.tsx';

export function DemoCode({ onCode }: { readonly onCode: (code: string) => void }) {
  const step = Math.floor(useNow() / codeMs);
  const [code, setCode] = useState<string | null>(null);
  useEffect(() => {
    let isWanted = true;
    void demoCodeAt(step * codeMs).then((next) => isWanted && setCode(next));
    return () => {
      isWanted = false;
    };
  }, [step]);
  if (code === null) return null;
  return (
    <p class="field-help">
      In this demo the authenticator shows <strong>{code}</strong> now.{' '}
      <Button variant="quiet" onClick={() => onCode(code)}>
        Fill it in
      </Button>
    </p>
  );
}
