type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

/** Limits, and forms of ids, that may change without notice. */
const CHANGEABLE = ['pattern', 'minLength', 'maxLength', 'minItems', 'maxItems', 'maxProperties'];
/** Members whose values stay the same. */
const STABLE = ['status', 'order_state'];

/**
 * The document in which replies and events are as open as docs/senders/reference.md, "Versions", promises: clients that are
 * generated from it accept members, codes, types and forms of ids that are added later. Requests are unchanged.
 *
 * @param document the exact one; it is not changed.
 */
export function withOpenReplies(document: object): object {
  // Without the objects that requests and replies share.
  const copy = JSON.parse(JSON.stringify(document)) as {
    paths: Record<string, Record<string, { responses: JsonObject; parameters?: { in: string; schema: JsonObject }[] }>>;
    webhooks: Record<string, Record<string, { requestBody: Json }>>;
    components: { schemas: JsonObject };
  };
  const { schemas } = copy.components;
  const opened = new Set<string>();

  function openAll(value: Json, member = ''): void {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const one of value) openAll(one, member);
      return;
    }
    if (typeof value.$ref === 'string') openSchema(value.$ref.replace('#/components/schemas/', ''));
    if (isSchema(value)) open(value, member);
    for (const [name, inner] of Object.entries(value)) {
      // The members of `properties` are schemas, whatever their names.
      if (name === 'properties') for (const [of, schema] of Object.entries(inner as JsonObject)) openAll(schema, of);
      else if (!['examples', 'example', 'headers'].includes(name)) openAll(inner, member);
    }
  }

  function openSchema(name: string): void {
    if (opened.has(name)) return;
    opened.add(name);
    openAll(schemas[name] ?? null);
  }

  for (const operation of Object.values(copy.paths).flatMap((path) => Object.values(path))) {
    openAll(operation.responses);
    // Ids and cursors come from replies.
    for (const { in: position, schema } of operation.parameters ?? []) if (position !== 'header') open(schema, '');
  }
  for (const operation of Object.values(copy.webhooks).flatMap((path) => Object.values(path)))
    openAll(operation.requestBody);
  return copy;
}

const isSchema = (value: JsonObject) => 'type' in value || 'enum' in value || 'properties' in value;

function open(schema: JsonObject, member: string): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.format === 'uuid') delete schema.format;
  for (const keyword of CHANGEABLE) delete schema[keyword];
  if (schema.enum === undefined || STABLE.includes(member)) return;
  const { enum: known = [] } = schema;
  if (!(known as Json[]).every((value) => typeof value === 'string'))
    throw new Error(`${member}: an enum of other values than strings`);
  delete schema.enum;
  Object.assign(schema, { type: 'string', examples: known });
}
