// The code of a diagnostic, which leads to its page.

export function DiagnosticLink({ code }: { readonly code: string }) {
  return (
    <a href={`/diagnostics/${encodeURIComponent(code)}`}>
      <code>{code}</code>
    </a>
  );
}
