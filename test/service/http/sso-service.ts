// A service whose people sign in at a real identity provider, and a browser without pages that follows the
// redirects.

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { parseRoleRules } from '../../../src/service/people/sso/mapping.ts';
import type { SsoSettings } from '../../../src/service/people/sso/provider.ts';
import { clientId, clientSecret, type Oidc, startOidc } from '../people/oidc.ts';
import { type Service, startService } from './service.ts';

const rules = 'writ-admins=admin, payments=approver:finance, everybody=auditor';

export interface SsoService {
  readonly service: Service;
  readonly oidc: Oidc;
  readonly time: { aheadMs: number };
}

export async function startSsoService(changes: Partial<SsoSettings> = {}): Promise<SsoService> {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const oidc = await startOidc(() => `${publicUrl}/sso/callback`);
  const time = { aheadMs: 0 };
  const sso = { ...ssoSettings(oidc.issuer), ...changes };
  const service = await startService({ publicUrl, sso, clock: () => Date.now() + time.aheadMs }, port);
  return { service, oidc, time };
}

export function ssoSettings(issuer: string): SsoSettings {
  return {
    issuer,
    clientId,
    clientSecret,
    name: 'Example',
    scopes: 'openid email profile offline_access',
    groupsClaim: 'groups',
    rules: parseRoleRules(rules) ?? [],
    recheckMs: 120_000,
    isOnlyWay: false,
    scimToken: null,
    externalIdClaim: 'sub',
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** A browser that keeps cookies by host and port, and follows no redirect by itself. */
export class Visitor {
  readonly cookies = new Map<string, Map<string, string>>();

  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as object), ...(cookie === '' ? {} : { cookie }) };
    const reply = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const one of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      if (/Max-Age=0|expires=Thu, 01 Jan 1970/i.test(one)) jar.delete(name);
      else jar.set(name, value);
    }
    return reply;
  }

  /** Goes to the provider, signs in there as `subject`, and returns the address that it is sent back to. */
  async visit(start: string, origin: string, subject: string): Promise<string> {
    let reply = await this.fetch(start);
    for (let i = 0, at = start; i < 20; i++) {
      const next = reply.headers.get('location');
      if (next !== null) {
        at = new URL(next, at).href;
        if (at.startsWith(`${origin}/`)) return at;
        reply = await this.fetch(at);
        continue;
      }
      const page = await reply.text();
      const [, action] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
      const [, prompt = ''] = /name="prompt" value="([^"]+)"/.exec(page) ?? [];
      if (action === undefined) throw new Error(`${at}: ${reply.status} ${page.slice(0, 500)}`);
      at = new URL(action, at).href;
      const body = new URLSearchParams({ prompt, login: subject, password: 'x' });
      reply = await this.fetch(at, { method: 'POST', body });
    }
    throw new Error('the provider goes round in circles');
  }

  /** Signs in; returns where the service sends the browser in the end. */
  async signIn(service: Pick<Service, 'url'>, subject: string, next = '/requests'): Promise<string> {
    const start = `${service.url}/sso/start?next=${encodeURIComponent(next)}`;
    const callback = await this.visit(start, service.url, subject);
    return await this.bring(callback);
  }

  /**
   * Opens the callback address of the provider at the service; returns where the service sends the browser.
   */
  async bring(callback: string): Promise<string> {
    return (await this.fetch(callback)).headers.get('location') ?? '';
  }

  async session(service: Pick<Service, 'url'>) {
    const reply = await this.fetch(`${service.url}/v1/session`);
    return { status: reply.status, body: await reply.json() };
  }
}
