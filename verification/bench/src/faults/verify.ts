import type pg from 'pg';
import { CANCELLATION_RULES } from './cancellation-rules.ts';
import { RETRY_ATTEMPTS } from './deployment.ts';
import { EVENT_RULES } from './event-rules.ts';
import type { Finding, Findings, ViolationName } from './findings.ts';
import type { Ledger } from './ledger.ts';
import { askStatus } from './request.ts';
import { type Patience, waitUntil } from './wait-until.ts';

/** Max examples of one violation. */
const MAX_EXAMPLES = 1000;

const FINAL = "('written', 'duplicate', 'dead')";
const IS_POISON = "r.source_order_id like 'poison-%'";
const RECEIPT = `r.receipt_id::text as id,
  concat_ws(' ', r.source_order_id, r.state, 'attempts', r.attempts, 'crashes', r.crashes, r.error_code, r.history) as detail`;
/** The body of `receipts r` in `receipt_payloads p`. */
const BODY = 'substring(p.bodies from r.body_start for r.body_length)';
/** Its length, with that of the raw body of a delivery to a source. */
const LENGTH = '(r.body_length + coalesce(r.raw_length, 0))';

/**
 * A query per violation that returns the ids and details of the affected rows. The table `accepted` contains the receipts
 * of all 202s with the sent orders.
 */
const RULES: Partial<Record<ViolationName, string>> = {
  'receipt-missing': `
    select a.receipt_id::text as id, a.source_order_id as detail from accepted a
    where not exists (select from receipts r where r.receipt_id = a.receipt_id and r.account_id = a.account_id)`,
  'receipt-differs': `
    select ${RECEIPT} from accepted a join receipts r using (receipt_id)
    where (r.account_id, r.source_order_id) is distinct from (a.account_id, a.source_order_id)`,
  'order-missing': `
    select distinct a.account_id || ' ' || a.source_order_id as id, '' as detail from accepted a
    where not a.is_poison and not exists (
      select from orders o where o.account_id = a.account_id and o.source_order_id = a.source_order_id)`,
  'order-doubled': `
    select account_id || ' ' || source_order_id as id, string_agg(order_id::text, ' and ') as detail from orders
    group by account_id, source_order_id having count(*) > 1`,
  'written-without-order': `
    select ${RECEIPT} from receipts r
    where r.state = 'written' and not exists (
      select from orders o
      where o.account_id = r.account_id and o.order_id = r.order_id and o.receipt_id = r.receipt_id
        and o.source_order_id = r.source_order_id)`,
  'order-without-receipt': `
    select o.order_id::text as id, o.source_order_id as detail from orders o
    where not exists (
      select from receipts r
      where r.receipt_id = o.receipt_id and r.account_id = o.account_id and r.order_id = o.order_id and r.state = 'written')`,
  'key-and-order-differ': `
    select coalesce(o.order_id, k.order_id)::text as id, concat_ws(' ', o.source_order_id, k.source_order_id) as detail
    from orders o
    full join (select * from order_keys where order_id is not null) as k
      on k.account_id = o.account_id and k.source_order_id = o.source_order_id and k.order_id = o.order_id
    where o.order_id is null or k.order_id is null`,
  // The service names the receipt of the order with this account and source_order_id as the original.
  'duplicate-misdirected': `
    select ${RECEIPT} from receipts r
    where r.state = 'duplicate' and not exists (
      select from orders o join receipts w on w.receipt_id = o.receipt_id and w.account_id = o.account_id
      where o.account_id = r.account_id and o.source_order_id = r.source_order_id
        and w.source_order_id = r.source_order_id and w.state = 'written')`,
  'key-misdirected': `
    select a.account_id || ' ' || a.idempotency_key as id, a.receipt_id::text as detail from accepted a
    where a.idempotency_key is not null and not exists (
      select from idempotency_keys k
      where k.account_id = a.account_id and k.idempotency_key = a.idempotency_key and k.receipt_id = a.receipt_id)`,
  'dead-without-fault': `
    select ${RECEIPT} from receipts r where r.state = 'dead' and not ${IS_POISON}`,
  'poison-survived': `
    select ${RECEIPT} from receipts r where r.state in ('written', 'duplicate') and ${IS_POISON}`,
  'attempts-miscounted': `
    select ${RECEIPT} from receipts r
    where r.state in ${FINAL} and r.attempts <> case when r.state = 'dead' then ${RETRY_ATTEMPTS} else 1 end`,
  'half-stored': `
    select ${RECEIPT} from receipts r
    left join receipt_payloads p on p.batch_id = r.batch_id and p.account_id = r.account_id
    where p.batch_id is null or length(substring(p.bodies from r.body_start for ${LENGTH})) <> ${LENGTH}
       or position(convert_to('"source_order_id":"' || r.source_order_id || '"', 'UTF8') in ${BODY}) = 0
    union all
    select 'key ' || k.account_id || ' ' || k.idempotency_key, k.receipt_id::text from idempotency_keys k
    where not exists (select from receipts r where r.receipt_id = k.receipt_id and r.account_id = k.account_id)`,
  'dispatch-missed': `
    select o.order_id::text as id, concat_ws(' ', o.source_order_id, l.position, o.reviewed_at) as detail
    from dispatch_cursor c cross join orders o
    left join dispatch_log l on l.order_id = o.order_id and not l.is_cancellation
    where o.review_state = 'confirmed' and not exists (select from dispatched d where d.order_id = o.order_id)
      and case when l.position is null then not exists (select from undispatched_orders u where u.order_id = o.order_id)
               else l.position <= c.position end`,
  'dispatched-twice': `
    select d.order_id::text as id, concat_ws(' ', d.position, 'now', o.review_state, l.position) as detail
    from dispatched d
    left join orders o on o.order_id = d.order_id
    left join dispatch_log l on l.order_id = d.order_id and not l.is_cancellation
    where d.times > 1 or o.review_state is distinct from 'confirmed' or l.position is distinct from d.position`,
  ...CANCELLATION_RULES,
  ...EVENT_RULES,
};

/** As `RULES`, of work that is not done yet. Such a row is a violation only if it stays for as long as one waits. */
const STUCK_RULES: Partial<Record<ViolationName, string>> = {
  'receipt-stuck': `
    select ${RECEIPT} from receipts r where r.state not in ${FINAL}`,
  'outbox-row-left': `
    select batch_id::text as id, concat_ws(' ', 'due', due_at, array_to_string(receipt_ids, ' ')) as detail from outbox`,
};

/**
 * Waits until no work is left or the patience ends, except for what was found before. What is stored afterwards is no violation: it is of a
 * request whose client has given up.
 *
 * @returns what is left.
 */
export async function untilSettled(client: pg.Client, findings: Findings, patience: Patience): Promise<Finding[]> {
  let stuck: Finding[] = [];
  await waitUntil(async () => {
    stuck = await findStuck(client);
    return stuck.every(findings.has);
  }, patience);
  return stuck;
}

/**
 * The longest time until a receipt was final, from its own commit or from recovery if that was later.
 *
 * @param recoveredAt in Unix milliseconds. Postgres uses the same clock.
 * @returns seconds.
 */
export async function recoverySeconds(client: pg.Client, recoveredAt: number): Promise<number> {
  const { rows } = await client.query(
    `select coalesce(max(extract(epoch from updated_at - greatest(received_at, recovered_at))), 0)::float8 as seconds
     from receipts, to_timestamp($1::float8 / 1000) as recovered_at
     where state in ${FINAL} and updated_at > recovered_at`,
    [recoveredAt],
  );
  return rows[0].seconds;
}

/** @returns the work that is left now. */
export const findStuck = (client: pg.Client): Promise<Finding[]> => runRules(client, STUCK_RULES);

/** Runs all rules on the copied ledger and the stored data, except for those of work that is left. */
export const verifyTables = (client: pg.Client): Promise<Finding[]> => runRules(client, RULES);

async function runRules(client: pg.Client, rules: typeof RULES): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [name, rule] of Object.entries(rules) as [ViolationName, string][]) {
    const { rows } = await client.query<{ id: string; detail: string }>(`${rule} limit ${MAX_EXAMPLES}`);
    found.push(...rows.map(({ id, detail }) => ({ name, id, detail })));
  }
  return found;
}

const MAX_STATUS_REQUESTS = 20;

/** Requests the status of some duplicates of this round. Each reply must name the written receipt. */
export async function verifyStatusReplies(
  client: pg.Client,
  { ledger, url, since }: { ledger: Ledger; url: string; since: number },
): Promise<Finding[]> {
  const { rows } = await client.query(
    `select r.receipt_id as duplicate, w.receipt_id, w.order_id::float8 as order_id
     from accepted a join receipts r using (receipt_id)
     join receipts w on w.account_id = a.account_id and w.source_order_id = a.source_order_id and w.state = 'written'
     where r.state = 'duplicate' and r.received_at > to_timestamp($1::float8 / 1000)
     order by md5(r.receipt_id::text) limit ${MAX_STATUS_REQUESTS}`,
    [since],
  );
  const replies = rows.map(async ({ duplicate, receipt_id, order_id }): Promise<Finding[]> => {
    const apiKey = ledger.accepted.get(duplicate)?.order.sender.apiKey ?? '';
    const { status, body } = await askStatus(url, apiKey, duplicate);
    const original = body?.duplicate_of;
    if (
      status === 200 &&
      body.order_id === null &&
      original?.receipt_id === receipt_id &&
      original.order_id === order_id
    )
      return [];
    return [
      { name: 'duplicate-misdirected', id: `${duplicate} by its status`, detail: `${status} ${JSON.stringify(body)}` },
    ];
  });
  return (await Promise.all(replies)).flat();
}
