// Lists every route of the service, in the order of the OpenAPI document, which is made from this list.

import type { DescribedRoute } from '../contract/operation.ts';
import { managementRoutes } from './management.ts';
import { getHealth, getReadiness } from './operations/health.ts';
import { getMetrics } from './operations/metrics.ts';
import { getOpenApi } from './operations/openapi.ts';
import { addPlant } from './policies/plants.ts';
import { describeAuthorize } from './requests/authorize.ts';
import { scimDescribed } from './scim/scim-openapi.ts';

/** All routes; the route for decisions is described with the configured limit on its body. */
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
