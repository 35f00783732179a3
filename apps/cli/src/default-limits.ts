/** What an order may have in bytes, unless the service is set up otherwise. */
export const DEFAULT_MAX_BODY_BYTES = 262_144;
