/** SQL: no worker has begun on `receipts r`, and its body was not replaced by an erasure. */
export const IS_NEW = `(r.state = 'received' and r.lease_id is null and not r.runs_alone and r.erased_at is null)`;

/** SQL: `receipts r` may be moved: it is under the lease `$1` or, if `$1` is null, it is still new, as `readNewReceipts` read it. */
export const MAY_MOVE = `case when $1::uuid is null then ${IS_NEW} else r.lease_id = $1::uuid and r.state = 'normalized' end`;

/** SQL: the `normalized_at` of a moved receipt: now, if it was read without a lease. */
export const NORMALIZED_AT = `case when r.state = 'received' then now() else r.normalized_at end`;
