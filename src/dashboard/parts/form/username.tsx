// Tells a password manager whose password a form sets; nobody sees it, and it is sent nowhere.

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
