// The banner that a demo shows on every page, and the account that its sign-in page offers. Only the service
// of a demo puts that account into the page.

import { Icon } from '../parts/layout/icon.tsx';

export interface DemoAccount {
  readonly email: string;
  readonly password: string;
}

/** Null when the service is not a demo. */
export const demoAccount: DemoAccount | null = readAccount(document.documentElement.dataset.demo);

function readAccount(text: string | undefined): DemoAccount | null {
  return text === undefined ? null : (JSON.parse(text) as DemoAccount);
}

export function DemoBanner() {
  if (demoAccount === null) return null;
  return (
    <p class="demo" role="note">
      <Icon name="try" /> Demo: agents and colleagues are simulated, and nothing here is real.
    </p>
  );
}
