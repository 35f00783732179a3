import { untilEventsRead } from './event-rules.ts';
import type { Round, RoundsDeps } from './round.ts';
import { feedsOf, SETTLE_TIMEOUT_MS, sumCounts, takeDeliveryCounts } from './round.ts';
import { copyObserved, verifyTables } from './verify.ts';
import { verifyAllDeliveries } from './verify-deliveries.ts';
import { withClient } from './with-client.ts';

/**
 * Ends the reviews, waits until all confirmed orders are dispatched, sends the cancellations left, reads all events again, and waits until
 * they are delivered. New results belong to the last round.
 */
export async function verifyEnd(rounds: readonly Round[], deps: RoundsDeps): Promise<void> {
  const { context, cancellations, canceller, dispatcher, reviewers, follower, findings } = deps;
  await reviewers.stop();
  await dispatcher.untilShown(Date.now() + SETTLE_TIMEOUT_MS);
  const counts = await canceller.finish(Date.now() + SETTLE_TIMEOUT_MS);
  for (const { sender, sourceOrderId, reply } of cancellations.entries()) {
    if (!reply) findings.add({ name: 'cancellation-unanswered', id: `account ${sender.accountId} ${sourceOrderId}` });
  }
  await dispatcher.untilShown(Date.now() + SETTLE_TIMEOUT_MS);
  await withClient(context.postgres.url, async (client) => {
    const { cursor } = dispatcher;
    const { rows } = await client.query(
      `select order_id::text as id, concat_ws(' ', confirmed_xid, reviewed_at) as detail from orders
       where review_state = 'confirmed' and (confirmed_xid, order_id) > ($1::text::xid8, $2::bigint)`,
      [cursor.xid, cursor.orderId],
    );
    for (const { id, detail } of rows) findings.add({ name: 'not-dispatched', id, detail });
    const { requestCursor } = dispatcher;
    const requests = await client.query(
      `select order_id::text as id, concat_ws(' ', request_xid, requested_at) as detail from cancellation_requests
       where (request_xid, order_id) > ($1::text::xid8, $2::bigint)`,
      [requestCursor.xid, requestCursor.orderId],
    );
    for (const { id, detail } of requests.rows) findings.add({ name: 'request-not-shown', id, detail });
    const deadline = Date.now() + SETTLE_TIMEOUT_MS;
    const publishedBefore = await untilEventsRead(client, { follower, findings, from: 'start', deadline, due: 'ever' });
    for (const finding of await verifyAllDeliveries(client, deps)) findings.add(finding);
    const feeds = feedsOf(deps, publishedBefore);
    await client.query('begin');
    await copyObserved(client, { ...deps, feeds });
    for (const finding of await verifyTables(client)) findings.add(finding);
    await client.query('rollback');
  });
  const last = rounds.at(-1);
  if (!last) return;
  last.findings.push(...findings.takeNew());
  last.cancellations = sumCounts([last.cancellations, counts]);
  last.events = sumCounts([last.events, follower.takeCounts()]);
  last.deliveries = sumCounts([last.deliveries, takeDeliveryCounts(deps)]);
}
