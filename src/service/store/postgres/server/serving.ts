// Which rows of `replicas` belong to processes that serve.

/** A process that has not been seen for this long has ended. */
const goneAfterSeconds = 5;

/** SQL condition on a row of `replicas`. */
export const isServing = `instance IS NOT NULL AND seen_at >= clock_timestamp() - interval '${goneAfterSeconds} s'`;
