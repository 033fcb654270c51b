// Turns events into messages in the Common Event Format (CEF:0), each in a syslog message of RFC 5424. Vertical bars and
// backslashes are escaped in the header, equals signs and backslashes in values, and line breaks become `\n`.
// INVARIANT: a message is one line and has at most 8,000 bytes, which common receivers take whole; values that are too long are cut.

import { codeOf, messageOf, type Severity, type SiemEvent, severityOf } from '../events/event.ts';

export interface CefSource {
  /** The version of Writ. */
  readonly version: string;
  readonly host: string;
  readonly processId: number;
}

/** Values of the dictionary of CEF; a name of a custom field has a second field with its label. */
type Fields = readonly (readonly [string, string | number | null])[];

const bytesMax = 8_000;
/** The longest custom value; other values are shorter. */
const valueLengthMax = 4_000;
const textLengthMax = 1_023;

export function cefMessage(event: SiemEvent, source: CefSource): string {
  const [cefSeverity, syslogSeverity] = severities[severityOf(event)];
  const time = new Date(event.atMs).toISOString();
  const head = `<${facility * 8 + syslogSeverity}>1 ${time} ${hostName(source.host)} writ ${source.processId} ${messageId(event)} - `;
  const name = messageOf(event);
  const cef = ['Writ', 'Writ', source.version, codeOf(event), name.slice(0, 512)].map(headerText).join('|');
  const begin = `${head}CEF:0|${cef}|${cefSeverity}|`;
  return withFields(begin, [...commonFields(event), ...fieldsOf(event)]);
}

/** Leaves out fields from the first on that does not fit, and says so. */
function withFields(begin: string, fields: Fields): string {
  const cut = ' flexString1Label=cut flexString1=true';
  let [text, bytes] = [begin, Buffer.byteLength(begin)];
  for (const [name, value] of fields) {
    if (value === null || value === '') continue;
    const field = `${text === begin ? '' : ' '}${name}=${valueText(String(value).slice(0, lengthMax(name)))}`;
    bytes += Buffer.byteLength(field);
    if (bytes + cut.length > bytesMax) return text + cut;
    text += field;
  }
  return text;
}

function lengthMax(name: string): number {
  return /^cs\d$/.test(name) ? valueLengthMax : textLengthMax;
}

/** The facility `log audit`. */
const facility = 13;

/** The severity of CEF, from 0 to 10, and that of syslog. */
const severities: Readonly<Record<Severity, readonly [number, number]>> = {
  informational: [1, 6],
  low: [3, 5],
  medium: [5, 4],
  high: [8, 3],
};

function commonFields({ atMs, sequence, uid, lane, follows }: SiemEvent): Fields {
  return [
    ['rt', atMs],
    ['externalId', sequence],
    ['cn1', sequence],
    ['cn1Label', 'sequence'],
    ['cn2', lane],
    ['cn2Label', 'lane'],
    ['cn3', follows],
    ['cn3Label', follows === null ? null : 'follows'],
    ['flexString2', uid],
    ['flexString2Label', 'uid'],
  ];
}

function custom(at: number, label: string, value: string | null): Fields {
  return value === null || value === ''
    ? []
    : [
        [`cs${at}`, value],
        [`cs${at}Label`, label],
      ];
}

function fieldsOf(event: SiemEvent): Fields {
  switch (event.kind) {
    case 'decision': {
      const { payload } = event;
      return [
        ['cat', 'decision'],
        ['act', event.action],
        ['outcome', event.outcome],
        ['src', event.clientAddress],
        ['suid', event.agentId],
        ['suser', event.agentName],
        ['duid', event.user?.id ?? null],
        ['duser', event.user?.email ?? null],
        ['reason', event.rule],
        ...custom(1, 'requestId', event.requestId),
        ...custom(2, 'policy', event.policy),
        ...custom(3, 'status', event.status),
        ...custom(4, 'risk', String(event.risk)),
        ...custom(5, 'enforcementPoint', event.point),
        ...custom(6, 'payload', Object.keys(payload).length === 0 ? null : JSON.stringify(payload)),
      ];
    }
    case 'refusal':
      return [
        ['cat', 'refusal'],
        ['outcome', 'REFUSED'],
        ['src', event.clientAddress],
        ['suid', event.agentId],
        ['reason', event.code],
        ['msg', event.detail],
        ...custom(1, 'refusalId', event.refusalId),
        ...custom(4, 'httpStatus', String(event.httpStatus)),
      ];
    case 'request-change':
      return [
        ['cat', 'request-change'],
        ['act', event.what],
        ['suser', event.who],
        ['outcome', event.decision?.outcome ?? null],
        ['reason', event.decision?.rule ?? null],
        ...custom(1, 'requestId', event.requestId),
        ...custom(2, 'policy', event.decision?.policy ?? null),
        ...custom(3, 'status', event.status),
        ...custom(4, 'group', event.group),
        ...custom(5, 'executed', event.wasExecuted === null ? null : String(event.wasExecuted)),
      ];
    case 'change':
      return [
        ['cat', 'change'],
        ['act', event.what],
        ['suser', event.who],
        ...custom(1, 'subject', event.subject),
        ...custom(5, 'before', event.before === null ? null : JSON.stringify(event.before)),
        ...custom(6, 'after', event.after === null ? null : JSON.stringify(event.after)),
      ];
    case 'gap':
      return [
        ['cat', 'gap'],
        ['reason', event.because],
        ...custom(1, 'firstSequence', String(event.firstSequence)),
        ...custom(2, 'lastSequence', String(event.sequence)),
      ];
    case 'knot':
    case 'unreadable':
      return [['cat', event.kind]];
  }
}

function headerText(text: string): string {
  return oneLine(text).replace(/[\\|]/g, '\\$&');
}

function valueText(text: string): string {
  return text
    .replace(/[\\=]/g, '\\$&')
    .replace(/\r\n?|\n|\u2028|\u2029/g, '\\n')
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed();
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ').toWellFormed();
}

/** A name of the syslog header: visible ASCII. */
function hostName(host: string): string {
  const name = host.replace(/[^!-~]/g, '').slice(0, 255);
  return name === '' ? '-' : name;
}

function messageId(event: SiemEvent): string {
  return codeOf(event)
    .replace(/[^!-~]/g, '')
    .slice(0, 32);
}
