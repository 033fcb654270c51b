// Addresses of workers. The page's content policy allows a worker to start only from an address that a policy of
// the page has approved.

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string;
  };
}

/** Approves the address that the build has given to a worker. */
export function trustedScript(built: string): string {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  if (trustedTypes === undefined) return built;
  const policy = trustedTypes.createPolicy('writ-worker', {
    createScriptURL(url) {
      if (url !== built) throw new TypeError(`${url} is no worker of this page`);
      return url;
    },
  });
  return policy.createScriptURL(built);
}
