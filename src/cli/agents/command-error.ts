/** An operation that is not possible; the message holds the lines to print. A class because it is thrown. */
export class CommandError extends Error {}
