import { createRequire } from 'node:module';
import { promisify } from 'node:util';

const require = createRequire(import.meta.url);
// It ships no types.
const { convertV2 } = require('openapi-to-postmanv2');

/** A request of a Postman collection, as Postman sends it. */
export interface PostmanRequest {
  name: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

interface Item {
  name: string;
  item?: Item[];
  request: {
    method: string;
    url: { path: string[] };
    header: { key: string; value: string; disabled?: boolean }[];
    body?: { raw: string };
  };
}

/**
 * The requests of the Postman collection that is generated from an OpenAPI document.
 *
 * @param parametersResolution the choice of Postman's import: values from examples, or the names of their types.
 */
export async function postmanRequests(
  document: object,
  parametersResolution: 'Example' | 'Schema',
): Promise<PostmanRequest[]> {
  const conversion = await promisify(convertV2)({ type: 'json', data: document }, { parametersResolution });
  if (!conversion.result) throw new Error(conversion.reason);
  return requestsIn(conversion.output[0].data.item);
}

function requestsIn(items: Item[]): PostmanRequest[] {
  return items.flatMap(({ name, item, request }) => {
    if (item) return requestsIn(item);
    const headers = request.header.filter(({ disabled }) => !disabled).map(({ key, value }) => [key, value]);
    const { method, url, body } = request;
    return [{ name, method, path: `/${url.path.join('/')}`, headers: Object.fromEntries(headers), body: body?.raw }];
  });
}
