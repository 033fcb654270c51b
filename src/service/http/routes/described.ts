// Every route of the service, in the order of the OpenAPI document, which is made from this list.

import type { DescribedRoute } from '../contract/operation.ts';
import { getHealth, getReadiness } from './health.ts';
import { managementRoutes } from './management.ts';
import { getMetrics } from './metrics.ts';
import { getOpenApi } from './openapi.ts';
import { addPlant } from './plants.ts';
import { describeAuthorize } from './requests/authorize.ts';
import { scimDescribed } from './scim/scim-described.ts';

/** The document names the configured limit on the body of a request for a decision. */
export function describedRoutes(bodyBytesMax: number): readonly DescribedRoute[] {
  return [
    describeAuthorize(bodyBytesMax),
    ...managementRoutes,
    ...scimDescribed,
    addPlant,
    getHealth,
    getReadiness,
    getMetrics,
    getOpenApi,
  ];
}
