// Whose agent it is: an agent names its control owner as text, a person's address or id.

export function isControlOwner(
  { id, email }: { readonly id: string; readonly email: string },
  controlOwner: string,
): boolean {
  return controlOwner === id || controlOwner.toLowerCase() === email.toLowerCase();
}
