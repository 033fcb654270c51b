// The diagnostics of the playground's policies: each links to its place and offers its fix, if there is one.

import { Button } from '../../parts/layout/button.tsx';
import { Icon } from '../../parts/layout/icon.tsx';
import { DiagnosticLink } from '../../parts/policy/diagnostic-link.tsx';
import { MessageText } from '../../parts/text/message-text.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import type { Fix, PolicyDiagnostic } from './marks.ts';

interface DiagnosticListProps {
  readonly diagnostics: readonly PolicyDiagnostic[];
  readonly onFix: (fix: Fix) => void;
  readonly onGo: (diagnostic: PolicyDiagnostic) => void;
}

export function DiagnosticList({ diagnostics, onFix, onGo }: DiagnosticListProps) {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  return (
    <div class="playground-diagnostics">
      <p role="status" class={diagnostics.length === 0 ? 'playground-soft' : ''}>
        {summary(errors, diagnostics.length - errors)}
      </p>
      {diagnostics.length > 0 && (
        <ul class="playground-diagnostic-list">
          {diagnostics.map((one, index) => (
            <li key={index} class={`playground-${one.severity}`}>
              <Icon name={one.severity === 'error' ? 'deny' : 'warning'} />
              <div>
                <p>
                  <span class="visually-hidden">{one.severity}: </span>
                  <MessageText text={one.message} />
                </p>
                <p class="playground-soft">
                  {one.help !== null && <MessageText text={one.help} />} <DiagnosticLink code={one.code} />
                </p>
              </div>
              <div class="playground-diagnostic-actions">
                {one.file !== '' && (
                  <button type="button" class="text-button" onClick={() => onGo(one)}>
                    <PlainText text={one.file.split('/').at(-1) ?? one.file} isShort />:{one.line}:
                    {one.column}
                  </button>
                )}
                {one.fix !== undefined && <FixButton fix={one.fix} onFix={onFix} />}
              </div>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function FixButton({ fix, onFix }: { readonly fix: Fix } & Pick<DiagnosticListProps, 'onFix'>) {
  return (
    <Button onClick={() => onFix(fix)}>
      <span>
        <MessageText text={fix.title} />
      </span>
    </Button>
  );
}

function summary(errors: number, warnings: number): string {
  if (errors + warnings === 0) return 'The policies have no errors.';
  const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
  const parts = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ];
  return `The policies have ${parts.join(' and ')}.`;
}
