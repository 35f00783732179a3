import type { Knex } from 'knex';

/** Relations of the schema, without the weekly partitions: two systems of different ages have different weeks. */
const RELATIONS = `
  with relations as (
    select c.*, c.oid::regclass::text as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and (not c.relispartition or c.relname like '%\\_default')
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e'))`;

const INDEXES_OF_PARTITIONS = 'i.indexrelid in (select inhrelid from pg_inherits)';

/** Each query returns lines; together they contain what `pg_dump --schema-only` would. */
const QUERIES = [
  `${RELATIONS} select format('relation %s kind %s persistence %s owner %s options %s grants %s', name, relkind, relpersistence,
     relowner::regrole, reloptions, array(select unnest(relacl)::text order by 1)) as line
   from relations where relkind <> 'i' and relkind <> 'I'`,
  `${RELATIONS} select format('column %s.%s position %s type %s not null %s default %s identity %s generated %s collation %s storage %s compression %s grants %s',
     name, attname, row_number() over (partition by attrelid order by attnum), format_type(atttypid, atttypmod), attnotnull,
     pg_get_expr(adbin, adrelid), attidentity, attgenerated, attcollation::regcollation, attstorage, attcompression,
     array(select unnest(attacl)::text order by 1)) as line
   from relations join pg_attribute a on a.attrelid = relations.oid and attnum > 0 and not attisdropped
   left join pg_attrdef d on d.adrelid = attrelid and d.adnum = attnum
   where relkind in ('r', 'p', 'v', 'm')`,
  `${RELATIONS} select format('index %s valid %s ready %s options %s', pg_get_indexdef(indexrelid), indisvalid, indisready, c.reloptions) as line
   from relations join pg_index i on i.indrelid = relations.oid join pg_class c on c.oid = indexrelid
   where not ${INDEXES_OF_PARTITIONS}`,
  `${RELATIONS} select format('constraint %s on %s: %s validated %s', conname, name, pg_get_constraintdef(o.oid), convalidated) as line
   from relations join pg_constraint o on o.conrelid = relations.oid`,
  `${RELATIONS} select format('trigger %s enabled %s', pg_get_triggerdef(t.oid), tgenabled) as line
   from relations join pg_trigger t on t.tgrelid = relations.oid where not tgisinternal`,
  `${RELATIONS} select format('view %s: %s', name, pg_get_viewdef(oid)) as line from relations where relkind = 'v'`,
  `${RELATIONS} select format('sequence %s: %s %s %s %s %s', name, seqtypid::regtype, seqstart, seqincrement, seqmax, seqcycle) as line
   from relations join pg_sequence s on s.seqrelid = relations.oid`,
  `select format('function %s owner %s grants %s', pg_get_functiondef(p.oid), proowner::regrole, array(select unnest(proacl)::text order by 1)) as line
   from pg_proc p where pronamespace = 'public'::regnamespace
     and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
  `select format('type %s: %s', t.oid::regtype, array(select enumlabel from pg_enum where enumtypid = t.oid order by enumsortorder)) as line
   from pg_type t where typnamespace = 'public'::regnamespace and typtype in ('e', 'd', 'r')`,
  `select format('extension %s %s', extname, extversion) as line from pg_extension`,
];

/**
 * Everything in the schema `public` that a migration can create, one line each: tables and their columns, indexes, constraints, triggers,
 * views, sequences, functions, types, and the privileges and storage parameters of each. Two databases with the same lines have the same
 * schema, except for their weekly partitions.
 */
export async function describeSchema(knex: Knex): Promise<string[]> {
  const lines: string[] = [];
  for (const query of QUERIES) {
    const { rows } = await knex.raw<{ rows: { line: string }[] }>(query.replaceAll('?', '\\?'));
    lines.push(...rows.map(({ line }) => line));
  }
  return lines;
}

/** @returns the lines that only one of two schemas has; both are empty if the schemas are equal. */
export async function compareSchemas(
  upgraded: Knex,
  fresh: Knex,
): Promise<{ missing: string[]; unexpected: string[] }> {
  const [have, want] = [new Set(await describeSchema(upgraded)), new Set(await describeSchema(fresh))];
  return {
    missing: [...want].filter((line) => !have.has(line)),
    unexpected: [...have].filter((line) => !want.has(line)),
  };
}
