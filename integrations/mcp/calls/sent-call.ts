// Changes calls before they are sent to the server.

import type { Allowed } from '../../typescript/client.ts';
import { isObject, type JsonObject, type RpcRequest } from '../protocol/messages.ts';

/** Adds the receipt, by which the server can check that this very call was granted. */
export function withReceipt(request: RpcRequest, { receipt }: Allowed, prefix: string): RpcRequest {
  const { params = {} } = request;
  if (receipt === undefined) return request;
  const meta = isObject(params._meta) ? params._meta : {};
  return { ...request, params: { ...params, _meta: { ...meta, [`${prefix}writ-receipt`]: receipt } } };
}

/** Removes the progress token, because nobody follows the progress of the proxy's own requests. */
export function withoutProgress(params: JsonObject): JsonObject {
  if (!isObject(params._meta)) return params;
  const { progressToken: token, ...meta } = params._meta;
  return { ...params, _meta: meta };
}
