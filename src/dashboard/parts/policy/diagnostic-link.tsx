// The code of a diagnostic as a link to its page in the documentation.

import { diagnosticAddress } from '../../../site/address.ts';

export function DiagnosticLink({ code }: { readonly code: string }) {
  return (
    <a href={diagnosticAddress(code)} aria-label={`Learn more about ${code}`}>
      <code>{code}</code>
    </a>
  );
}
