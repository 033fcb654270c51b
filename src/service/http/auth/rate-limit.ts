// Limits what each holder sends, by a bucket of tokens that refills steadily and never holds more than the
// burst. INVARIANT: over any time t a holder passes at most burst + t x rate times.

export interface RateLimit {
  readonly perMinute: number;
  /** How many requests may come at once. */
  readonly burst: number;
}

/** A holder's own rate; null leaves a part as it is for all holders. */
export interface OwnRate {
  readonly ratePerMinute: number | null;
  readonly burst: number | null;
}

interface RateReading {
  readonly isWithin: boolean;
  /** Whole tokens that are left in the bucket. */
  readonly remaining: number;
  /** Seconds until the bucket is full again. */
  readonly resetSeconds: number;
  /** Seconds until the next token; 0 while there is one. */
  readonly retryAfterSeconds: number;
  /** The limit as the header `RateLimit-Policy` states it. */
  readonly policy: string;
}

export interface RateLimiter {
  /** Takes one of the holder's tokens if there is one. `nowMs` may be of any clock that never goes back. */
  take(holder: string, nowMs: number, ownRate?: OwnRate): RateReading;
  /**
   * The values of the three headers of draft-ietf-httpapi-ratelimit-headers; `Retry-After` only for a
   * refusal.
   */
  headers(reading: RateReading): Readonly<Record<string, string>>;
}

interface Limit extends RateLimit {
  readonly perMs: number;
  readonly policy: string;
}

interface Bucket {
  limit: Limit;
  tokens: number;
  atMs: number;
}

/** With this many holders, holders whose bucket is full are forgotten. */
const holdersMax = 10_000;
/**
 * If more holders than this are then left, the oldest are forgotten. Many are forgotten at a time, so that a
 * search through all holders is rare.
 */
const holdersKept = 9_000;

const noOwnRate: OwnRate = { ratePerMinute: null, burst: null };

export function createRateLimiter(name: string, limitOfAll: RateLimit): RateLimiter {
  const buckets = new Map<string, Bucket>();

  const limitOf = ({ perMinute, burst }: RateLimit): Limit => {
    const perMs = perMinute / 60_000;
    const fillSeconds = Math.ceil(burst / perMs / 1000);
    return { perMinute, burst, perMs, policy: `"${name}";q=${burst};w=${fillSeconds}` };
  };
  const limitOfMost = limitOf(limitOfAll);

  const refill = (bucket: Bucket, nowMs: number) => {
    const { burst, perMs } = bucket.limit;
    bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, nowMs - bucket.atMs) * perMs);
    bucket.atMs = nowMs;
  };
  /** Changes a bucket's limit; tokens that have been taken stay taken. */
  const change = (bucket: Bucket, limit: Limit) => {
    bucket.tokens = Math.max(0, bucket.tokens + limit.burst - bucket.limit.burst);
    bucket.limit = limit;
  };
  const open = (holder: string, nowMs: number): Bucket => {
    if (buckets.size >= holdersMax) makeRoom(nowMs);
    const bucket = { limit: limitOfMost, tokens: limitOfMost.burst, atMs: nowMs };
    buckets.set(holder, bucket);
    return bucket;
  };
  const makeRoom = (nowMs: number) => {
    for (const [holder, bucket] of buckets) {
      refill(bucket, nowMs);
      if (bucket.tokens >= bucket.limit.burst) buckets.delete(holder);
    }
    for (const holder of buckets.keys()) {
      if (buckets.size <= holdersKept) return;
      buckets.delete(holder);
    }
  };

  return {
    take(holder, nowMs, ownRate = noOwnRate) {
      const bucket = buckets.get(holder) ?? open(holder, nowMs);
      refill(bucket, nowMs);
      const perMinute = ownRate.ratePerMinute ?? limitOfAll.perMinute;
      const burst = ownRate.burst ?? limitOfAll.burst;
      if (bucket.limit.perMinute !== perMinute || bucket.limit.burst !== burst)
        change(bucket, limitOf({ perMinute, burst }));
      const { perMs, policy } = bucket.limit;
      const isWithin = bucket.tokens >= 1;
      if (isWithin) bucket.tokens -= 1;
      return {
        isWithin,
        remaining: Math.floor(bucket.tokens),
        resetSeconds: Math.ceil((burst - bucket.tokens) / perMs / 1000),
        retryAfterSeconds: bucket.tokens >= 1 ? 0 : Math.ceil((1 - bucket.tokens) / perMs / 1000),
        policy,
      };
    },
    headers({ isWithin, remaining, resetSeconds, retryAfterSeconds, policy }) {
      const told = { 'ratelimit-policy': policy, ratelimit: `"${name}";r=${remaining};t=${resetSeconds}` };
      return isWithin ? told : { ...told, 'retry-after': String(retryAfterSeconds) };
    },
  };
}
