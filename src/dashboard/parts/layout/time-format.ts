// Formats of times for people, all in the reader's own time zone.

/** Formats a time in the reader's own time zone and form. */
export const exactTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Formats a time to the minute, for lists. */
export const minuteTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Formats a time with its time zone, for times that people plan by. */
export const zonedTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
