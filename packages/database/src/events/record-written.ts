/**
 * SQL: records the event of each receipt of `moved` that became an order, if its account has events enabled. One look-up of
 * the batch's accounts, so that accounts without events add no row and no WAL. The publisher adds the warnings.
 *
 * @param accountIds the parameter with the accounts of `moved`.
 */
export const recordWritten = (accountIds: string) => `
  insert into unpublished_events (account_id, type, receipt_id, source_order_id, order_id)
  select account_id, 'receipt.written', receipt_id, source_order_id, order_id
  from moved
  where account_id = any(array(select account_id from event_logs where account_id = any(${accountIds}::int[]) and is_enabled))
  order by account_id, source_order_id`;
