// The OpenID Connect provider for services that have one configured; its package is loaded when somebody
// first signs on.

import type { Provider, SsoSettings } from './provider.ts';

export function createProviderOnDemand(settings: SsoSettings, clock: () => number): Provider {
  let made: Promise<Provider> | null = null;
  const provider = (): Promise<Provider> => {
    made ??= import('./provider.ts').then(({ createProvider }) => createProvider(settings, clock));
    return made;
  };
  return {
    begin: async (redirectUri) => await (await provider()).begin(redirectUri),
    finish: async (address, ticket) => await (await provider()).finish(address, ticket),
    ask: async (refreshToken, subject) => await (await provider()).ask(refreshToken, subject),
  };
}
