// GET /metrics: the metrics of the service for Prometheus.

import type { FastifyInstance } from 'fastify';
import type { DescribedRoute, Operation } from '../../contract/operation.ts';
import { metricsType } from '../../telemetry/metric-registry.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

const operation: Operation = {
  id: 'getMetrics',
  summary: 'Metrics in the Prometheus text format',
  security: null,
  replies: {
    200: {
      description: 'All metrics',
      contentType: 'text/plain',
      schema: { type: 'string' },
      example: 'writ_decisions_total{decision="ALLOW",matched_policy="vendor_payments"} 17\n',
    },
  },
  problems: ['internal_error'],
};

export const getMetrics: DescribedRoute = { method: 'GET', url: '/metrics', operation };

/**
 * Turns a function that returns the metrics of this process into one that returns those of all processes that
 * serve its address.
 */
export type ShareMetrics = (own: () => Promise<string>) => () => Promise<string>;

export interface MetricsRouteOptions {
  readonly metrics: Pick<Metrics, 'text'>;
  /** Null when a single process serves the address. */
  readonly shareMetrics: ShareMetrics | null;
}

export async function metricsRoute(
  app: FastifyInstance,
  { metrics, shareMetrics }: MetricsRouteOptions,
): Promise<void> {
  const ownText = () => metrics.text();
  const text = shareMetrics === null ? ownText : shareMetrics(ownText);
  app.get(getMetrics.url, async (_request, reply) => {
    reply.type(metricsType);
    return await text();
  });
}
