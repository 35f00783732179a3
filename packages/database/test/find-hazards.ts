/** Something in a migration that can break a running previous version or concurrent writes. */
interface Hazard {
  /** The statement's first line. */
  statement: string;
  why: string;
}

/** A comment above a statement that is of no safe form: `-- safe: ` and the reason why it is safe. */
const REASON = /^\s*-- safe: \S+( +\S+){4,}/m;

const NAME = '"?[\\w.]+"?';
const LITERAL = "(?:'[^']*'(?:::\\w+)?|-?[\\d.]+|true|false|null|now\\(\\))";
const TYPE = '(?:(?!(?:small|big)?serial)\\w+|double precision)(?:\\([\\d, ]+\\))?(?:\\[\\])?(?: collate "\\w+")?';

/** One action of `alter table` that neither rewrites nor reads the table, and that the previous version does not notice. */
const SAFE_ACTIONS = [
  new RegExp(`^add column (?:if not exists )?${NAME} ${TYPE}(?: default ${LITERAL})?$`),
  new RegExp(
    `^add column (?:if not exists )?${NAME} ${TYPE} (?:default ${LITERAL} not null|not null default ${LITERAL})$`,
  ),
  /^alter column \w+ (?:set default .*|drop default|drop not null)$/,
  /^add constraint \w+ (?:unique|primary key) using index \w+$/,
  /^set \([^()]*\)$/,
];

/** Statements that are safe for every table; `judge` decides about the others. */
const SAFE_STATEMENTS = [
  /^create (?:unlogged )?table (?!.* partition of |.* as select )/,
  /^create (?:function|procedure|view|or replace view) /,
  /^create (?:sequence|type|domain|schema|extension) /,
  /^comment on /,
  /^set local lock_timeout = '[1-5]s'$/,
  /^insert into [^(]*(?:\([^)]*\) )?values /,
  /^alter type \S+ add value /,
];

/** Splits SQL at the semicolons that end statements, not at those in strings, comments and function bodies. */
export function splitStatements(sql: string): string[] {
  const token = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"[^"]*"|(\$\w*\$)[\s\S]*?\1|;|[^;]/gi;
  const statements = [''];
  for (const [part] of sql.matchAll(token)) {
    if (part === ';') statements.push('');
    else statements[statements.length - 1] += part;
  }
  return statements.map((statement) => statement.trim()).filter((statement) => normalize(statement) !== '');
}

/** In one line and lower case, without comments. */
function normalize(statement: string): string {
  return statement
    .replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

/**
 * Reports each statement of a migration that is of no form known to be safe and has no reason. Statements about tables that the migration
 * itself creates are safe: nobody uses them yet.
 */
export function findHazards({ up }: { up: string | readonly string[] }): Hazard[] {
  const isApart = typeof up !== 'string';
  const statements = isApart ? [...up] : splitStatements(up);
  const own = new Set<string>();
  const dropped = new Set<string>();
  let locked: string | undefined;
  const hazards: Hazard[] = [];
  for (const statement of statements) {
    const sql = normalize(statement);
    const made = /^create (?:unlogged )?table (?:if not exists )?(\S+)/.exec(sql)?.[1];
    if (made) own.add(made);
    const altered = isApart ? undefined : alteredTable(sql);
    if (altered && !own.has(altered)) locked ??= altered;
    const isAnother = altered && !own.has(altered) && altered !== locked;
    const why = (isApart ? judgeApart(sql, dropped) : judge(sql, own)) ?? (isAnother ? WHY_ANOTHER : null);
    if (why && !REASON.test(statement)) hazards.push({ statement: sql.slice(0, 120), why });
  }
  return hazards;
}

const WHY_ANOTHER =
  'locks a second table while it holds the first: a deadlock with readers in the other order. Use one migration per table';

function alteredTable(sql: string): string | undefined {
  return /^alter table (?:if exists )?(?:only )?(\S+) /.exec(sql)?.[1];
}

/** @returns why a statement is not known to be safe; null if it is. */
function judge(sql: string, own: Set<string>): string | null {
  if (SAFE_STATEMENTS.some((form) => form.test(sql))) return null;
  const index = /^create (?:unique )?index (?:if not exists )?(?:\S+ )?on (?:only )?(\S+)/.exec(sql);
  if (index) return own.has(index[1] ?? '') ? null : 'writers wait until the index is created: create it concurrently';
  const insert = /^insert into (\S+) .*select/.exec(sql);
  if (insert) return 'reads a table while the locks of this migration are held';
  const table = /^alter table (?:if exists )?(?:only )?(\S+) (.*)$/.exec(sql);
  if (table) {
    if (own.has(table[1] ?? '')) return null;
    const action = splitActions(table[2] ?? '').find((one) => !SAFE_ACTIONS.some((form) => form.test(one)));
    return action ? whyAction(action) : null;
  }
  return whyStatement(sql);
}

/** Outside a transaction, a failure leaves what was done, such as an invalid index, and all statements run again. */
function judgeApart(sql: string, dropped: Set<string>): string | null {
  const drop = /^drop index concurrently if exists (\S+)$/.exec(sql);
  if (drop) {
    dropped.add(drop[1] ?? '');
    return null;
  }
  if (/^alter table \S+ validate constraint \w+$/.test(sql)) return null;
  const index = /^create (unique )?index concurrently (if not exists )?(?:(?!on )(\S+) )?on /.exec(sql);
  if (!index)
    return 'outside a transaction, only statements that can run again: drop index concurrently if exists, create index concurrently, validate constraint';
  const [, unique, ifNotExists, name] = index;
  if (ifNotExists) return 'a failure leaves an index that is not valid: drop it before instead of "if not exists"';
  if (!name || !dropped.has(name))
    return 'a failure leaves an index that is not valid: name it, and drop it before, concurrently if exists';
  return unique ? 'applies to what the previous version writes, even before it is complete' : null;
}

function splitActions(actions: string): string[] {
  let depth = 0;
  const parts = [''];
  for (const character of actions) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

function whyAction(action: string): string {
  if (/^(?:drop|rename)/.test(action)) return 'the previous version still knows the old name';
  if (/^alter column \w+ (?:set data )?type/.test(action))
    return 'rewrites the table, or changes what the previous version reads';
  if (/^alter column \w+ set not null/.test(action))
    return 'reads the table under its strongest lock, and the previous version may write null';
  if (/^add .* not valid$/.test(action)) return 'applies immediately to what the previous version writes';
  if (/^add (?:constraint|check|foreign|unique|primary|exclude)/.test(action))
    return 'reads the table while it is locked: add it "not valid", validate it in a later migration';
  if (/^validate/.test(action))
    return 'reads the table: use a list, so that it does not run in the transaction that locks the table';
  if (/^add column/.test(action))
    return 'more than a type and a constant default: reads or rewrites the table, or the previous version cannot insert';
  return 'not known to be safe';
}

function whyStatement(sql: string): string {
  if (/^(?:update|delete|merge|truncate)/.test(sql))
    return 'a writer of the same rows waits until the whole migration is done';
  if (/^lock /.test(sql)) return 'every writer waits until the whole migration is done';
  if (/^create (?:or replace )?(?:constraint )?trigger/.test(sql))
    return 'every writer waits for the lock, and the previous version does not know what it does';
  if (/^(?:drop|alter|create or replace) /.test(sql)) return 'the previous version still knows the old one';
  return 'not known to be safe';
}
