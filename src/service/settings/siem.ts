// Settings of the receiver of records. INVARIANT: they are set as a whole or not at all, and the address fits the format.

import {
  type CursorStart,
  isAddressOfFormat,
  type SiemBody,
  type SiemFormat,
  type SiemSettings,
} from '../siem/siem-settings.ts';
import { pairsOf } from './pairs.ts';
import { type SettingName, settingNames, settings } from './table.ts';

type ValueOf = (name: SettingName) => string | number | boolean | null;

/** Settings of the receiver that are missing or contradict each other, as lines for the person who starts the service. */
export function siemProblems(of: ValueOf): readonly string[] {
  const url = of('siem.url');
  if (url === null) {
    const other = settingNames.find(
      (name) => name.startsWith('siem.') && of(name) !== settings[name].default,
    );
    return other === undefined ? [] : [`siem.url is required with ${other}`];
  }
  const problems: string[] = [];
  if (!isAddressOfFormat(String(url), of('siem.format') as SiemFormat))
    problems.push(
      'siem.format cef requires a siem.url with syslog+tls:, and all other formats one with https:',
    );
  if ((of('siem.certificate') === null) !== (of('siem.key') === null))
    problems.push('siem.certificate and siem.key are set together');
  return problems;
}

/** The settings of the receiver; null when none is configured. */
export function siemOf(of: ValueOf): SiemSettings | null {
  const url = of('siem.url');
  if (url === null) return null;
  const path = (name: 'siem.ca' | 'siem.certificate' | 'siem.key') => {
    const value = of(name);
    return value === null ? null : String(value);
  };
  const skip = of('siem.skip');
  return {
    name: String(of('siem.name')),
    url: String(url),
    format: of('siem.format') as SiemFormat,
    body: of('siem.body') as SiemBody,
    headers: pairsOf(String(of('siem.headers') ?? '')) ?? new Map(),
    start: of('siem.start') as CursorStart,
    payloadFields: String(of('siem.payload_fields') ?? '')
      .split(' ')
      .filter((field) => field !== ''),
    recordsMax: Number(of('siem.batch_records')),
    bytesMax: Number(of('siem.batch_bytes')),
    timeoutMs: Number(of('siem.timeout_seconds')) * 1_000,
    isCompressed: of('siem.gzip') === true,
    ca: path('siem.ca'),
    certificate: path('siem.certificate'),
    key: path('siem.key'),
    skip: skip === null ? null : Number(skip),
  };
}

/** Paths of fields from a list, or from a text that separates them by spaces or commas, joined by spaces; null when one is no path. */
export function fieldsOf(value: unknown): string | null {
  const texts = Array.isArray(value) ? value : typeof value === 'string' ? value.split(/[\s,]+/) : [null];
  const paths = texts.filter((text) => text !== '');
  return paths.every(isPath) ? paths.join(' ') : null;
}

function isPath(text: unknown): boolean {
  return typeof text === 'string' && /^[^\s,.]+(?:\.[^\s,.]+)*$/.test(text);
}
