/** What an API key may do: send orders, cancel them, and read their outcomes. */
export const KEY_SCOPES = ['send', 'cancel', 'read'] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];
