import { exactDocument } from '@orders/intake/docs/openapi/document.ts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Content = Record<string, { schema: object }>;
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: object;
}
interface Operation {
  parameters?: { name: string; in: string; schema: object }[];
  requestBody?: { content: Content };
  responses: Record<string, { content: Content; headers?: Record<string, unknown> }>;
}
interface Request {
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}
interface Reply {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

/** Headers that a reply may only have if the document lists them. */
const DOCUMENTED = ['ratelimit', 'ratelimit-policy', 'retry-after'];

/** Compiling its schemas takes a second; modules of this folder are loaded once per process, and keep them. */
let exactCheck: ReturnType<typeof checkAgainst> | undefined;

/** Throws if a reply, or a request that was accepted, does not match what this version says of itself, which is stricter than the published document. */
export const checkReply: ReturnType<typeof checkAgainst> = (...args) => {
  exactCheck ??= checkAgainst(exactDocument(''));
  exactCheck(...args);
};

/** @returns the same function for another OpenAPI document. */
export function checkAgainst(document: object) {
  const { paths, components } = document as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validators = new Map<object, ValidateFunction>();
  ajv.addSchema({ $id: 'document', components });

  function check(where: string, schema: object, value: unknown) {
    let validate = validators.get(schema);
    if (!validate) {
      validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')));
      validators.set(schema, validate);
    }
    const valid: boolean = validate(value);
    if (!valid) throw new Error(`${where}: ${ajv.errorsText(validate.errors)}`);
  }

  /** A gateway that validates requests must not reject what the service accepts. */
  function checkAccepted(where: string, { parameters = [], requestBody }: Operation, { headers, body }: Request) {
    const sent = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    for (const { name, schema } of parameters.filter((parameter) => parameter.in === 'header')) {
      const value = sent.get(name.toLowerCase());
      if (value !== undefined) check(`${where}, its header ${name}`, schema, value);
    }
    if (!requestBody) return;
    const [type = ''] = String(sent.get('content-type')).toLowerCase().split(/ *;/);
    const schema = (requestBody.content[type] ?? requestBody.content['*/*'])?.schema;
    if (!schema) throw new Error(`${where}: the OpenAPI document does not know the media type ${type} of its body`);
    // Anything is accepted, even if it is no JSON.
    if (Object.keys(schema).length === 0) return;
    const text = new TextDecoder().decode(Buffer.from(body ?? ''));
    check(`${where}, its body`, schema, type === 'application/json' ? JSON.parse(text) : text);
  }

  return (method: string, path: string, reply: Reply, request?: Request) => {
    const template = path
      .replace(/\?.*$/, '')
      .replace(/^\/ingest\/status\/.*$/, '/ingest/status/{receipt_id}')
      .replace(/^\/ingest\/sources\/.*$/, '/ingest/sources/{source_id}');
    const operation = paths[template]?.[method.toLowerCase()];
    if (!operation) {
      const { code } = Object(reply.body) as { code?: string };
      if (path.startsWith('/docs') || code === 'not_found' || code === 'method_not_allowed') return;
      throw new Error(`${method} ${path}: the OpenAPI document does not know this operation`);
    }
    const where = `${method} ${template} → ${reply.status}`;
    const response = operation.responses[reply.status];
    if (!response) throw new Error(`${where}: the OpenAPI document does not know this status`);
    const known = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
    const unknown = DOCUMENTED.filter((name) => name in reply.headers && !known.includes(name));
    if (unknown.length > 0) throw new Error(`${where}: the OpenAPI document does not know its header ${unknown}`);
    const [type = ''] = String(reply.headers['content-type']).split(';');
    const schema = response.content[type]?.schema;
    if (!schema) throw new Error(`${where}: the OpenAPI document does not know the media type ${type}`);
    check(where, schema, reply.body);
    if (request && reply.status < 300) checkAccepted(where, operation, request);
  };
}
