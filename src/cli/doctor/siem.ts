// Examines the stream of records to a SIEM: whether the receiver can be reached under its verified name, and how far it
// has the records.

import { readFileSync } from 'node:fs';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';
import { isoTime } from '../../language/value/iso-time.ts';
import type { Config } from '../../service/settings/load.ts';
import type { Cursor } from '../../service/siem/cursor.ts';
import { type SiemSettings, syslogPort } from '../../service/siem/siem-settings.ts';
import type { ExaminedCursor, ExaminedStore } from '../../service/store/examine/examined-store.ts';
import { many } from '../output/many.ts';
import { codeOf, ok, type PartFinding, unused, warned, wrong } from './finding.ts';

const waitMs = 5_000;
/** A receiver that lacks a record of this age is behind, as for the alert. */
const behindMs = 15 * 60_000;
const gapShownMs = 24 * 60 * 60_000;

export async function examineSiem(
  { siem }: Config,
  examined: Pick<ExaminedStore, 'cursors'> | null,
): Promise<PartFinding> {
  if (siem === null) return unused('no siem.url: records are not sent to a SIEM');
  const { host } = new URL(siem.url);
  const connection = await connectionFault(siem);
  if (connection !== null)
    return wrong(
      `${host} cannot be used (${connection})`,
      'make it reachable from this machine; siem.ca names the authority of its certificate',
    );
  const cursor = examined?.cursors.find(({ name }) => name === siem.name);
  return cursor === undefined
    ? ok(`${host} can be reached; nothing was sent under the name ${siem.name} yet`)
    : examineCursor(host, cursor, Date.now());
}

function examineCursor(host: string, { json, lacking, lackingSinceMs }: ExaminedCursor, nowMs: number) {
  const { refused, gap, failure } = JSON.parse(json) as Cursor;
  const lacks =
    lackingSinceMs === null
      ? `${host} has all records`
      : `${host} lacks ${many(lacking, 'record')}, the oldest from ${isoTime(lackingSinceMs)}`;
  if (refused !== null)
    return wrong(
      `${lacks}: it refuses record ${refused.sequence} (${refused.reason})`,
      'correct the receiver, or set siem.skip to this number',
    );
  if (lackingSinceMs !== null && nowMs - lackingSinceMs > behindMs)
    return wrong(
      failure === null ? lacks : `${lacks}: ${failure.reason}`,
      'start the service if it does not run, and look at its log',
    );
  if (gap !== null && nowMs - gap.atMs < gapShownMs)
    return warned(
      `${host} did not get the records ${gap.firstSequence} to ${gap.sequence}`,
      'prune only what was sent; `writ audit export` of a backup still has them',
    );
  return ok(lacks);
}

/** Why no connection can be made; null when one can. */
async function connectionFault(siem: SiemSettings): Promise<string | null> {
  try {
    const socket = await connected(siem);
    socket.end();
    return null;
  } catch (error) {
    return codeOf(error);
  }
}

function connected({ url, ca, certificate, key }: SiemSettings): Promise<Socket> {
  const { protocol, hostname, port: given } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const usual = protocol === 'https:' ? 443 : protocol === 'http:' ? 80 : syslogPort;
  const place = { host, port: given === '' ? usual : Number(given), timeout: waitMs };
  const read = (path: string | null) => (path === null ? undefined : readFileSync(path, 'utf8'));
  const tls = { ca: read(ca), cert: read(certificate), key: read(key) };
  return new Promise((done, fail) => {
    const socket: Socket =
      protocol === 'http:'
        ? connectPlain(place, () => done(socket))
        : connect({ ...place, ...tls, ...(isIP(host) === 0 ? { servername: host } : {}) }, () =>
            done(socket),
          );
    socket.on('timeout', () => socket.destroy(new Error('no response')));
    socket.on('error', fail);
  });
}
