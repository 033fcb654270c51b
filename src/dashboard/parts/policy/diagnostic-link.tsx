// The code of a diagnostic as a link to its page.

export function DiagnosticLink({ code }: { readonly code: string }) {
  return (
    <a href={`/diagnostics/${encodeURIComponent(code)}`}>
      <code>{code}</code>
    </a>
  );
}
