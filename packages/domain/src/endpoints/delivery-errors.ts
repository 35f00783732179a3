/** Why an attempt to deliver an event failed. Codes are stable; no text repeats what an endpoint replied. */
export const DELIVERY_ERRORS = {
  refused_status: 'The endpoint replied with a status other than 2xx.',
  redirect: 'The endpoint replied with a redirect. Redirects are not followed: register the final URL.',
  gone: 'The endpoint replied 410. It is disabled.',
  timeout: 'The endpoint did not reply within 15 seconds.',
  address_refused:
    'This service does not call the address of this URL. It must be https, with a host name whose addresses are public. If it is, ask the operator.',
  host_not_found: 'The host name of the URL was not found, or has an address that is not public.',
  tls_failed: 'The TLS connection failed; the certificate may be wrong or expired.',
  connection_failed: 'The connection failed or was closed before a reply.',
  proxy_failed: 'The proxy of this service did not connect to the host. If that goes on, tell the operator.',
  invalid_response: 'The reply was not valid HTTP.',
} as const;

export type DeliveryError = keyof typeof DELIVERY_ERRORS;
