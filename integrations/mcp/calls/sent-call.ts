// Calls as the server gets them, where they differ from what the client sent.

import type { Allowed } from '../../typescript/client.ts';
import { isObject, type JsonObject, type RpcRequest } from '../protocol/messages.ts';

/** The server may check that just this was granted. */
export function withReceipt(request: RpcRequest, { receipt }: Allowed, prefix: string): RpcRequest {
  const { params = {} } = request;
  if (receipt === undefined) return request;
  const meta = isObject(params._meta) ? params._meta : {};
  return { ...request, params: { ...params, _meta: { ...meta, [`${prefix}writ-receipt`]: receipt } } };
}

/** Nobody hears of the progress of what the proxy asks for itself. */
export function withoutProgress(params: JsonObject): JsonObject {
  if (!isObject(params._meta)) return params;
  const { progressToken: token, ...meta } = params._meta;
  return { ...params, _meta: meta };
}
