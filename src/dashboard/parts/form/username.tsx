// Tells a password manager whose password a form sets. The field is not visible and is not sent.

export function UsernameOf({ email }: { readonly email: string }) {
  return (
    <input
      class="visually-hidden"
      type="email"
      name="username"
      autoComplete="username"
      aria-label="E-mail address"
      readOnly
      tabIndex={-1}
      value={email}
    />
  );
}
