/** The advisory locks of this service. A number must be unique in the database. */

/** Exclusive while migrations run. */
export const MIGRATION_LOCK = 7_310_441;
/** Exclusive while a partition is checked and dropped; shared for redrives, the only way in which a final receipt becomes pending. */
export const RETENTION_LOCK = 7_310_442;
/** Exclusive for the worker that rolls up the activity. */
export const ACTIVITY_LOCK = 7_310_443;
/** Exclusive for the worker that fills the search terms. */
export const SEARCH_TERMS_LOCK = 7_310_444;
/** Exclusive for the worker that publishes events. */
export const PUBLISH_LOCK = 7_310_445;
/** With the hash of an e-mail address as second key: exclusive while the invitation of the address is accepted. */
export const INVITATION_LOCK = 7_310_446;
