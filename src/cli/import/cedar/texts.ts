// Texts of Cedar in policies: as literals, and in titles, reasons and comments for people.

/** Characters that are not seen, or that change how others are shown. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** The text as a literal, with escapes for what is not seen. */
export function text(value: string): string {
  return JSON.stringify(value).replaceAll(unseen, (one) =>
    Array.from(one.split(''), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  );
}

/** The text for people, on one line and with nothing unseen. */
export function visible(value: string): string {
  return value.replaceAll(/\s+/g, ' ').replaceAll(unseen, '?');
}

/** The text for people without braces, which would be placeholders. */
export function plain(value: string): string {
  return visible(value).replaceAll('{', '(').replaceAll('}', ')');
}
