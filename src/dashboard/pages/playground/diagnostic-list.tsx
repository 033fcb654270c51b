// The diagnostics of the playground's policies: each links to its place and offers its fix, if there is one.

import { Button } from '../../parts/layout/button.tsx';
import { Icon } from '../../parts/layout/icon.tsx';
import { DiagnosticLink } from '../../parts/policy/diagnostic-link.tsx';
import { MessageText } from '../../parts/text/message-text.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import type { Fix, PolicyDiagnostic } from './marks.ts';

interface DiagnosticListProps {
  /** Null until the first answer. */
  readonly diagnostics: readonly PolicyDiagnostic[] | null;
  readonly onFix: (fix: Fix) => void;
  readonly onGo: (diagnostic: PolicyDiagnostic) => void;
}

export function DiagnosticList({ diagnostics, onFix, onGo }: DiagnosticListProps) {
  if (diagnostics === null) return null;
  return (
    <div class="playground-diagnostics">
      <p role="status" class={diagnostics.length === 0 ? 'playground-soft' : ''}>
        {summary(diagnostics)}
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

function summary(diagnostics: readonly PolicyDiagnostic[]): string {
  return `The policies have ${diagnosticCounts(diagnostics)}.`;
}

/** "no errors", or "2 errors and 1 warning". */
export function diagnosticCounts(diagnostics: readonly PolicyDiagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const warnings = diagnostics.length - errors;
  const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
  const parts = [
    ...(errors > 0 ? [counted(errors, 'error')] : []),
    ...(warnings > 0 ? [counted(warnings, 'warning')] : []),
  ];
  return parts.length === 0 ? 'no errors' : parts.join(' and ');
}
