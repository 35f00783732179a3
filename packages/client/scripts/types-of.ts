/** The supported part of JSON Schema. Any other keyword is an error, so that none is ignored. */
interface Schema {
  $ref?: string;
  description?: string;
  type?: string | string[];
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

const READ = ['$ref', 'description', 'type', 'const', 'enum', 'anyOf', 'oneOf', 'items', 'properties', 'required'];
/** Keywords that TypeScript cannot express or need not. */
const PASSED_OVER = [
  ...['additionalProperties', 'default', 'examples', 'format', 'pattern'],
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems'],
];

const PRIMITIVES: Record<string, string> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
  undefined: 'undefined',
};

/**
 * Generates an exported TypeScript type with descriptions for each schema of an OpenAPI 3.1 document.
 *
 * @throws {Error} for an unknown keyword.
 */
export function typesOf(document: { components: { schemas: Record<string, object> } }): string {
  const types = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${docstring(schema, '')}export type ${name} = ${typeOf(schema, '')};\n`,
  );
  return `// Made of the OpenAPI document by \`npm run client:types\`; not to be edited.\n\n${types.join('\n')}`;
}

function typeOf(schema: Schema, indent: string): string {
  const unknown = Object.keys(schema).find((keyword) => !READ.includes(keyword) && !PASSED_OVER.includes(keyword));
  if (unknown) throw new Error(`No type is known for the keyword "${unknown}" of ${JSON.stringify(schema)}.`);
  if (schema.$ref) return schema.$ref.replace('#/components/schemas/', '');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, indent)).join(' | ');
  if (schema.oneOf)
    return alternatives(schema.oneOf)
      .map((one) => typeOf(one, indent))
      .join(' | ');
  const types = [schema.type ?? []].flat().map((type) => {
    if (type === 'object') return objectOf(schema, indent);
    if (type === 'array') return `${bracketed(typeOf(schema.items ?? {}, indent))}[]`;
    return PRIMITIVES[type] ?? 'unknown';
  });
  return types.join(' | ') || 'unknown';
}

function objectOf({ properties, required = [] }: Schema, indent: string): string {
  if (!properties) return 'Record<string, unknown>';
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, schema]) => {
    // Newer services may send codes, and types of events, that this client does not know.
    const isOpen = (name === 'code' || name === 'type') && schema.enum;
    const type = `${typeOf(schema, inner)}${isOpen ? ' | (string & Record<never, never>)' : ''}`;
    const optional = type === 'undefined' ? `${name}?: undefined` : `${name}?: ${type} | undefined`;
    const member = required.includes(name) ? `${name}: ${type}` : optional;
    return `${docstring(schema, inner)}${inner}${member};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

/** Declares members of other alternatives as absent, so that they can be used to distinguish the alternatives. */
function alternatives(schemas: Schema[]): Schema[] {
  const names = new Set(schemas.flatMap(({ properties }) => Object.keys(properties ?? {})));
  const absent = Object.fromEntries(Array.from(names, (name) => [name, { type: 'undefined' }]));
  return schemas.map((one) => (one.properties ? { ...one, properties: { ...absent, ...one.properties } } : one));
}

const bracketed = (type: string) => (/^[^{]*\|/.test(type) ? `(${type})` : type);

function docstring({ description }: Schema, indent: string): string {
  if (!description) return '';
  const lines = description.replaceAll('*/', '*\\/').split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}
