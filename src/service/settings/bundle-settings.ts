// Settings of a bundle that the service follows instead of the policy directory. INVARIANT: a bundle from
// another machine must be signed.

import type { BundleSettings } from '../policies/bundles/bundled-policies.ts';

export const bundleSettings = {
  bundle: { default: null, kind: { is: 'path-or-address' } },
  'bundle.key': { default: null, kind: { is: 'key' } },
  'bundle.allow_older': { default: false, kind: { is: 'boolean' } },
  'bundle.bytes_max': {
    default: 64 * 1024 ** 2,
    kind: { is: 'integer', from: 1024 ** 2, to: 1024 ** 3 },
  },
  'bundle.poll_seconds': { default: 10, kind: { is: 'integer', from: 1, to: 86_400 } },
} as const;

/** Finds the value of a setting by its name; null when the setting is not set. */
type BundleValues = (name: keyof typeof bundleSettings) => string | number | boolean | null;

export function isWebAddress(place: string): boolean {
  return /^https?:/.test(place);
}

/**
 * Settings of the bundle that are missing or contradict each other, as lines for the person who starts the
 * service.
 */
export function bundleProblems(settingOf: BundleValues, isDirectorySet: boolean): readonly string[] {
  const [place, key] = [settingOf('bundle'), settingOf('bundle.key')];
  if (place === null) return key === null ? [] : ['bundle must be set where bundle.key is'];
  if (isDirectorySet) return ['policies and bundle cannot both be set: the service follows one of them'];
  return isWebAddress(String(place)) && key === null
    ? ['bundle.key must be set where bundle is an address: it says whose signature is taken']
    : [];
}

/** The bundle that the service follows; null when it follows the policy directory. */
export function bundleOf(settingOf: BundleValues): BundleSettings | null {
  const [place, key] = [settingOf('bundle'), settingOf('bundle.key')];
  if (place === null) return null;
  return {
    place: String(place),
    key: key === null ? null : String(key),
    isOlderAllowed: settingOf('bundle.allow_older') === true,
    bytesMax: Number(settingOf('bundle.bytes_max')),
    pollMs: Number(settingOf('bundle.poll_seconds')) * 1_000,
  };
}
