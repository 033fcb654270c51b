// What a database promises about records that it has acknowledged.

/**
 * `replicated`: records are also on a second server, for which the database's own server waits. `managed`:
 * the platform that runs the server keeps a second copy in its own way. `single`: records are lost with the
 * one server that has them.
 */
export const durabilities = ['replicated', 'managed', 'single'] as const;

export type Durability = (typeof durabilities)[number];
