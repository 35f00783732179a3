import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: object;
}
interface Response {
  content: Record<string, { schema: object }>;
  headers?: Record<string, unknown>;
}

/** Headers that a reply may only have if the document lists them. */
const DOCUMENTED = ['ratelimit', 'ratelimit-policy', 'retry-after'];

/** @returns a function that throws if a reply does not match the OpenAPI document. */
export function checkReplies(document: object) {
  const { paths, components } = document as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validators = new Map<object, ValidateFunction>();
  ajv.addSchema({ $id: 'document', components });
  return (method: string, path: string, reply: { status: number; headers: Record<string, string>; body: unknown }) => {
    const template = path.replace(/^\/ingest\/status\/.*$/, '/ingest/status/{receipt_id}');
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
    let validate = validators.get(schema);
    if (!validate) {
      validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"document#/components')));
      validators.set(schema, validate);
    }
    const valid: boolean = validate(reply.body);
    if (!valid) throw new Error(`${where}: ${ajv.errorsText(validate.errors)}`);
  };
}
