// What a database promises of records that it has acknowledged.

/**
 * `replicated`: they are on a second server, too, which the database's own server waits for. `managed`: the platform that runs the
 * server keeps a second copy in its own way. `single`: they are lost with the one server that has them.
 */
export const durabilities = ['replicated', 'managed', 'single'] as const;

export type Durability = (typeof durabilities)[number];
