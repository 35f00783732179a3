/** The version of the service that this client came with. A test compares it. */
export const VERSION = '0.3.0';
