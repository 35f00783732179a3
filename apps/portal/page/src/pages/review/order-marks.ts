/** Placeholder for the pointer of the first field with a warning. */
export const FIRST_WARNED = 'first warned';

/** Element id, used to focus the panel. */
export const RESEND_PANEL = 'resend-panel';
