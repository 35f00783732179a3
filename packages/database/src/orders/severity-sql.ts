import {
  type Blocker,
  blockersOfDelivery,
  CORRECTED_CODES,
  REACHABLE_PHONE,
  type Severity,
  severityFrom,
} from '@orders/domain/severity.ts';

// The same rules as `blockersOf` and `severityOf` of the domain; a test compares them.

/** SQL: whether an item has a name or an SKU, from `orders o`. */
const HAS_ITEMS = `jsonb_path_exists(o.items,
  '$[*] ? ((@.name != null && @.name != "") || (@.sku != null && @.sku != ""))')`;

/** SQL: whether a person should check a warning. */
const HAS_CHECK = `jsonb_path_exists(o.warnings,
  '$[*] ? (!(${CORRECTED_CODES.map((code) => `@.code == "${code}"`).join(' || ')}))')`;

const IS_BLOCKED = `(o.customer_phone is null or o.customer_phone !~ '${REACHABLE_PHONE}' or coalesce(o.address, '') = ''
  or coalesce(o.emirate_code, '') = '' or not ${HAS_ITEMS})`;

/** SQL: the severity of `orders o`. */
export const SEVERITY = `
case when ${IS_BLOCKED} then 'blocks' when o.warnings = '[]' then 'none' when ${HAS_CHECK} then 'check' else 'corrected' end`;

/** SQL: columns from which `severityColumns` derives severity and blockers. */
export const SEVERITY_COLUMNS = `
  ${HAS_ITEMS} as has_items, case when o.warnings = '[]' then 'none' when ${HAS_CHECK} then 'check' else 'corrected' end as worst`;

export interface SeverityRow {
  customer_phone: string | null;
  address: string | null;
  emirate_code: string | null;
  has_items: boolean;
  worst: 'check' | 'corrected' | 'none';
}

export function severityColumns(row: SeverityRow): { severity: Severity; blockers: Blocker[] } {
  const blockers = blockersOfDelivery({
    phone: row.customer_phone,
    address: row.address,
    emirateCode: row.emirate_code,
    hasItems: row.has_items,
  });
  return { severity: severityFrom(blockers, row.worst === 'none' ? null : row.worst), blockers };
}
