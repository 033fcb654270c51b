// The account that a demo offers on its sign-in page. Only the service of a demo puts it into the page.

interface DemoAccount {
  readonly email: string;
  readonly password: string;
  /** The secret of its one-time codes, in base32; absent when it has none. */
  readonly totp_secret?: string;
}

/** Null when the service is not a demo. */
export const demoAccount: DemoAccount | null = readAccount(document.documentElement.dataset.demo);

function readAccount(text: string | undefined): DemoAccount | null {
  return text === undefined ? null : (JSON.parse(text) as DemoAccount);
}

export const codeMs = 30_000;

/** The code that the demo's authenticator shows at a time; null when there is none. */
export async function demoCodeAt(atMs: number): Promise<string | null> {
  const secret = demoAccount?.totp_secret;
  if (secret === undefined) return null;
  const { totpAt } = await import('./totp.ts');
  return await totpAt(secret, Math.floor(atMs / codeMs));
}
