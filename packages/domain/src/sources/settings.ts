import type { OrderMapping } from './mapping.ts';

export const SOURCE_PRESETS = ['shopify', 'woocommerce', 'salla', 'zid', 'standard-webhooks', 'custom'] as const;
export type SourcePreset = (typeof SOURCE_PRESETS)[number];

/** How a delivery proves that it comes from the platform. */
export type SignatureSettings =
  | HmacSettings
  /** https://www.standardwebhooks.com */
  | { scheme: 'standard-webhooks' }
  /** The secret itself, in a header. */
  | { scheme: 'token'; header: string; prefix?: string }
  /** The secret is the password of HTTP Basic authentication; the user name counts for nothing. */
  | { scheme: 'basic' };

/** An HMAC of the raw body in a header. */
export interface HmacSettings {
  scheme: 'hmac';
  header: string;
  algorithm: 'sha256' | 'sha1';
  encoding: 'hex' | 'base64';
  /** Text before the signature, such as `sha256=`. */
  prefix?: string;
}

/** A value in a header, or at a JSON Pointer in the body. */
export type DeliveryValue = { header: string } | { pointer: string };

/**
 * One of these values at a pointer, or at one of several, compared as text without regard to case; `null` for nothing at any of them. Without
 * `values`, any text, number or `true` that is not empty, zero, negative, `false`, `no`, `null` or a first date such as `0000-00-00`.
 */
export interface ValuesAt {
  pointer: string | readonly string[];
  values?: readonly (string | number | boolean | null)[];
}

/** What a source reads from a delivery besides the order. */
export interface SourceSettings {
  signature: SignatureSettings;
  /** The platform's id of a delivery, the same when it is repeated: an idempotency key. */
  deliveryId?: DeliveryValue;
  /** The event. Without it, each delivery is an order. */
  topic?: DeliveryValue;
  /** Topics of new and changed orders, and of cancelled ones; deliveries of other topics are ignored. */
  topics?: { order: readonly string[]; cancellation: readonly string[] };
  /** A delivery with one of these values at the pointer is about nothing to deliver yet, or no more, and is ignored. */
  ignoredIf?: ValuesAt;
  /** An order with one of these values at the pointer is done with: no order is made of it, and one that exists is compared with it. */
  finishedIf?: ValuesAt;
  /** An order with one of these values at the pointer is a test: it is marked as one and never dispatched. */
  testIf?: ValuesAt;
  /** An order that is not paid awaits payment, until a delivery says that it is paid, or will be at the door. */
  waitUntilPaid?: boolean;
  /**
   * An order with one of these values at the pointer is cancelled. `topics` limits it to these. A topic of cancellation among them, or any without
   * that limit, needs this too if the topic is in a header, because headers are not signed.
   */
  cancelledIf?: ValuesAt & { topics?: readonly string[] };
  /** When the platform changed the order: orders its deliveries if they arrive in another sequence. Of a list, the first time counts. */
  modifiedAt?: Pick<ValuesAt, 'pointer'>;
}

/** A preset with its default mapping. */
export interface PresetDefinition {
  settings: SourceSettings;
  mapping: OrderMapping;
}
