// Formats times for people at a terminal.

/** A time such as `2026-03-02 11:00 CET` in the zone of this machine; `--json` has the exact time. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())} ${zoneOf(at)}`;
}

const zoneForm = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' });

/** The zone of this machine at that time, such as `UTC`, `CET` or `GMT+5:30`. */
function zoneOf(at: Date): string {
  return zoneForm.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}
