// Examines how the service is reached and what it has to reach: its port, its address, the mail server and
// issuers of tokens.

import { createServer, isIP } from 'node:net';
import { connect, type PeerCertificate } from 'node:tls';
import { areLinksLocal, publicUrlOf } from '../../service/http/service-address.ts';
import { listenFault } from '../../service/http/start-error.ts';
import type { Config } from '../../service/settings/load.ts';
import { readKeys } from '../../service/users/issuer-keys.ts';
import { tryMailServer } from '../../service/webhooks/mail.ts';
import type { WorkloadIssuer } from '../../service/workloads/read-token.ts';
import { many } from '../output/many.ts';
import { codeOf, findingFromError, ok, type PartFinding, unused, warned, wrong } from './finding.ts';
import type { ClockSample } from './records.ts';

const waitMs = 5_000;
const dayMs = 24 * 60 * 60_000;
const certificateDays = 14;

/** Examines the port. A port in use is right when a process serves the records. */
export async function examinePort(config: Config, isServed: boolean): Promise<PartFinding> {
  const { host, port } = config;
  const server = createServer();
  try {
    await new Promise<void>((done, fail) => {
      server.once('error', fail).listen({ host, port }, done);
    });
    return ok(port === 0 ? `any free port of ${host}` : `${host}:${port} is free`);
  } catch (error) {
    if (isServed && codeOf(error) === 'EADDRINUSE')
      return ok(`${host}:${port} is in use, as expected while the service runs`);
    return findingFromError(
      new Error(listenFault(error, config) ?? `cannot listen on ${host} (${codeOf(error)})`),
    );
  } finally {
    server.close();
  }
}

/**
 * Examines the address that people type: encrypted, with a valid certificate, and known to be behind a proxy.
 */
export async function examineAddress(config: Config): Promise<PartFinding> {
  const { publicUrl, trustedProxies, host, port: listened } = config;
  if (areLinksLocal(config))
    return warned(
      `no public_url: links in mails, webhook messages and invitations begin with ${publicUrlOf(host, listened)}`,
      'set public_url (WRIT_PUBLIC_URL) to the address that people and agents use, such as https://writ.example.com',
    );
  if (publicUrl === null) return unused('no public_url: people can reach the service only on this machine');
  const { protocol, hostname, port } = new URL(publicUrl);
  if (protocol === 'http:')
    return isOfThisMachine(hostname)
      ? ok(`${publicUrl}, only on this machine`)
      : wrong(
          `${publicUrl} is not encrypted: others on the network can read passwords and keys, and browsers allow no passkeys`,
          'use a proxy for TLS, and start public_url with https:',
        );
  try {
    const certificate = await certificateOf(hostname, port === '' ? 443 : Number(port));
    const days = Math.floor((Date.parse(certificate.valid_to) - Date.now()) / dayMs);
    if (days < certificateDays)
      return warned(
        `the certificate of ${publicUrl} expires in ${many(days, 'day')}`,
        'renew it, and find out why it was not renewed automatically',
      );
    return trustedProxies.length === 0
      ? warned(
          `records and limits see the proxy of ${publicUrl} instead of its clients`,
          'set trusted_proxies to the network of the proxy, such as 127.0.0.1/32',
        )
      : ok(`${publicUrl}, with a certificate that expires in ${many(days, 'day')}`);
  } catch (error) {
    return wrong(`no secure connection to ${publicUrl} (${codeOf(error)})`, tlsFix(codeOf(error)));
  }
}

/** Asks the running service which conditions of its policies this installation cannot satisfy. */
export async function examineGaps({ host, port }: Config, isServed: boolean): Promise<PartFinding> {
  if (!isServed || port === 0) return unused('only the running service knows the members of groups');
  const address =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : isIP(host) === 6 ? `[${host}]` : host;
  try {
    const reply = await fetch(`http://${address}:${port}/readyz`, { signal: AbortSignal.timeout(waitMs) });
    const { policies } = (await reply.json()) as { policies: { gaps: readonly string[] } };
    const [first, ...others] = policies.gaps;
    if (first === undefined) return ok('the policies require nothing that is missing');
    const more = others.length === 0 ? '' : ` (and ${others.length} more: GET /readyz lists them)`;
    return warned(
      `${first}${more}`,
      'add the people, the issuer or the enforcement point, or change the rule',
    );
  } catch (error) {
    return warned(
      `a process serves these records, but none responds at ${address}:${port} (${codeOf(error)})`,
      'give the host and the port of `writ serve`, such as --port 8080, on the same machine',
    );
  }
}

function isOfThisMachine(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\./.test(host);
}

function certificateOf(host: string, port: number): Promise<PeerCertificate> {
  return new Promise((done, fail) => {
    const socket = connect(
      { host, port, ...(isIP(host) === 0 ? { servername: host } : {}), timeout: waitMs },
      () => {
        done(socket.getPeerCertificate());
        socket.end();
      },
    );
    socket.on('timeout', () => socket.destroy(new Error('no response')));
    socket.on('error', fail);
  });
}

function tlsFix(code: string): string {
  if (code === 'CERT_HAS_EXPIRED') return 'renew the certificate';
  if (/ALTNAME/.test(code))
    return 'use a certificate for this name, or set public_url to a name in the certificate';
  if (/CERT|SIGN|ISSUER/.test(code))
    return 'use a certificate from an authority that clients trust; NODE_EXTRA_CA_CERTS adds your own';
  return "start the proxy, check its DNS name, and test from a user's machine";
}

export async function examineMail({ smtp }: Config): Promise<PartFinding> {
  if (smtp === null) return unused('no smtp.url: invitations, resets and alerts are not mailed');
  const { hostname } = new URL(smtp.url);
  try {
    await tryMailServer({ url: smtp.url, timeoutMs: waitMs });
    return ok(`${hostname} accepts mail`);
  } catch (error) {
    const code = codeOf(error);
    return wrong(
      `the mail server ${hostname} refuses the connection (${code})`,
      code === 'EAUTH'
        ? 'set its user and password in smtp.url or WRIT_SMTP_URL'
        : 'set smtp.url to its address (smtps: for immediate TLS), and check firewalls',
    );
  }
}

/**
 * The issuer that a setting names. `keys` is the address of its keys; null when the issuer itself names that
 * address.
 */
interface Issuer {
  readonly setting: string;
  readonly issuer: string;
  readonly keys: string | null;
}

export async function examineIssuer({ setting, issuer, keys }: Issuer): Promise<PartFinding> {
  try {
    const { keys: found } = JSON.parse(await readKeys({ issuer, keys }, AbortSignal.timeout(waitMs))) as {
      readonly keys?: readonly unknown[];
    };
    if (Array.isArray(found) && found.length > 0) return ok(`${issuer} has ${many(found.length, 'key')}`);
    return wrong(`${issuer} has no keys`, `${setting} must be an OpenID Connect issuer`);
  } catch (error) {
    return wrong(
      `${issuer} cannot be used (${codeOf(error)})`,
      `make it reachable from this machine, and set ${setting} to exactly the issuer in its discovery document`,
    );
  }
}

/** Examines the issuers of agents' tokens: the first one that cannot be used, or all of them. */
export async function examineWorkloadIssuers(issuers: readonly WorkloadIssuer[]): Promise<PartFinding> {
  if (issuers.length === 0) return unused('no agents.issuers: agents have keys');
  const findings = await Promise.all(
    issuers.map((settings) => examineIssuer({ setting: 'agents.issuers', ...settings })),
  );
  return findings.find(({ state }) => state === 'wrong') ?? ok(findings.map(({ what }) => what).join('; '));
}

/** The time of another machine, by the `Date` header of any answer; null when there is none. */
export async function clockOf(address: string): Promise<ClockSample | null> {
  try {
    const reply = await fetch(address, {
      method: 'HEAD',
      redirect: 'manual',
      signal: AbortSignal.timeout(waitMs),
    });
    const atMs = Date.parse(reply.headers.get('date') ?? '');
    return Number.isNaN(atMs) ? null : { whose: new URL(address).host, atMs };
  } catch {
    return null;
  }
}
