/** The event that each final receipt of an account with events must have, once. */
const EXPECTED = `(
  select r.account_id, 'receipt.' || r.state as type, r.receipt_id, r.source_order_id,
         case when r.state <> 'dead' then o.order_id end as order_id,
         case when r.state = 'duplicate' then o.receipt_id end as duplicate_of
  from receipts r
  join feed_accounts using (account_id)
  left join orders o on o.account_id = r.account_id and o.source_order_id = r.source_order_id
  where r.state in ('written', 'duplicate', 'dead'))`;

const IS_SAME = `
  f.account_id = e.account_id and f.receipt_id = e.receipt_id and f.type = e.type and f.source_order_id = e.source_order_id
  and f.order_id is not distinct from e.order_id and f.duplicate_of is not distinct from e.duplicate_of`;

/** A query per violation, see `event-rules.ts`. No receipt is redriven in a run, so none is dead twice. */
export const RECEIPT_EVENT_RULES = {
  'receipt-event-missing': `
    select e.receipt_id::text as id, concat_ws(' ', e.type, e.account_id, e.source_order_id) as detail
    from ${EXPECTED} e
    where not exists (select from feed f where ${IS_SAME})`,
  'receipt-event-unfounded': `
    select f.event_id as id, concat_ws(' ', f.type, f.account_id, f.receipt_id, f.source_order_id, 'time', f.time) as detail
    from (
      select *, row_number() over (partition by account_id, receipt_id, type order by sequence) as time
      from feed where type like 'receipt.%'
    ) as f
    left join ${EXPECTED} e on ${IS_SAME}
    where e.receipt_id is null or f.time > 1`,
};
