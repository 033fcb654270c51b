// Examines an installation part by part, as the settings describe it. INVARIANT: nothing is changed except
// for a small file that is written to the data directory and deleted again.

import type { Config } from '../../service/settings/settings.ts';
import { type PartFinding, unused } from './finding.ts';
import { examineData, examinePackages, examineRoom } from './machine.ts';
import { clockOf, examineAddress, examineGaps, examineIssuer, examineMail, examinePort } from './network.ts';
import { examineBundle, examinePolicies } from './policies.ts';
import { examineClock, examineRecords, type SeenTime } from './records.ts';

/** The parts of an installation, in the words of docs/CLI.md. */
export type InstallationPart =
  | ('packages' | 'data' | 'disk' | 'key' | 'store' | 'clock' | 'policies' | 'bundle')
  | ('gaps' | 'port' | 'address' | 'mail' | 'sign-on' | 'users');

export type NamedFinding = PartFinding & { readonly part: InstallationPart };

/** Examines all parts. Parts on which other parts depend come first. */
export async function examineInstallation(config: Config): Promise<readonly NamedFinding[]> {
  const packages = await examinePackages(config);
  // Without the packages, the findings about other parts would only repeat this one.
  if (packages.state === 'wrong') return [{ part: 'packages', ...packages }];
  const { key, store, examined } = await examineRecords(config);
  const { sso, users } = config;
  const [policies, bundle, gaps, port, address, mail, signOn, onBehalf, times] = await Promise.all([
    examinePolicies(config),
    examineBundle(config),
    examineGaps(config, examined?.isServed === true),
    examinePort(config, examined?.isServed === true),
    examineAddress(config),
    examineMail(config),
    sso === null
      ? unused('no sso.issuer: people have passwords and passkeys')
      : examineIssuer({ setting: 'sso.issuer', issuer: sso.issuer, keys: null }),
    users === null
      ? unused("no users.issuer: agents ask on nobody's behalf")
      : examineIssuer({ setting: 'users.issuer', ...users }),
    timesOf(config, examined?.serverMs ?? null),
  ]);
  const named = {
    packages,
    disk: examineRoom(config),
    key,
    store,
    clock: examineClock(Date.now(), examined?.newestMs ?? null, times),
    policies,
    bundle,
    gaps,
    port,
    address,
    mail,
    'sign-on': signOn,
    users: onBehalf,
  } as const satisfies Partial<Record<InstallationPart, PartFinding>>;
  const findings = Object.entries(named).map(([part, finding]) => ({
    part: part as InstallationPart,
    ...finding,
  }));
  const data = examineData(config).map((finding): NamedFinding => ({ part: 'data', ...finding }));
  return [...findings.slice(0, 1), ...data, ...findings.slice(1)];
}

/** The clocks of other machines that the settings name, and that of the database. */
async function timesOf(
  { publicUrl, sso, users }: Config,
  serverMs: number | null,
): Promise<readonly SeenTime[]> {
  const addresses = [publicUrl, sso?.issuer ?? null, users?.issuer ?? null].filter((one) => one !== null);
  const seen = await Promise.all([...new Set(addresses)].map(clockOf));
  const ofDatabase = serverMs === null ? null : { whose: 'the database', atMs: serverMs };
  return [...seen, ofDatabase].filter((one) => one !== null);
}
