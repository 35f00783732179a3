// Made of the OpenAPI document by `npm run client:types`; not to be edited.

/** Only `source_order_id` is required. No other member can make the order fail: its errors become warnings. */
export type Order = {
  /** Your own unique id of the order, compared exactly; reuse it on every resend. */
  source_order_id: string;
  /** Shown on the order; the source_order_id if absent. */
  order_number?: string | null | undefined;
  customer?: {
    /** Name */
    name?: string | null | undefined;
    /** The driver uses it on arrival; any usual spelling */
    phone?: string | null | undefined;
    /** E-mail address */
    email?: string | null | undefined;
    /** Your own id of the customer */
    id?: string | null | undefined;
  } | null | undefined;
  /** The full delivery address */
  address?: string | null | undefined;
  /** The emirate, used for routing: name, ISO 3166-2 code or usual abbreviation, English or Arabic */
  emirate?: string | null | undefined;
  /** Area or district within the emirate */
  area?: string | null | undefined;
  /** Further items are only stored in the raw payload, with a warning. */
  items?: {
    /** Name */
    name?: string | null | undefined;
    quantity?: number | null | undefined;
    /** Stock keeping unit */
    sku?: string | null | undefined;
  }[] | null | undefined;
  /** Order total; exact if sent as a string */
  total?: number | string | null | undefined;
  /** ISO 4217; AED if absent */
  currency?: string | null | undefined;
  /** How the order is paid: `paid`, `unpaid`, `cash_on_delivery` or `refunded` */
  payment_state?: string | null | undefined;
  /** When the customer wants the order, or that it is picked up, as the sender writes it */
  delivery_time?: string | null | undefined;
  /** How the customer gets the order: `delivery` or `pickup` */
  delivery_method?: string | null | undefined;
  /** Free text for the driver */
  delivery_instructions?: string | null | undefined;
  /** What else belongs to the order, up to 30 facts: a list of `{ "label", "value" }`, an object, or text with a line `label: value` for each */
  details?: {
    label?: string | undefined;
    value?: string | number | boolean | null | undefined;
  }[] | Record<string, unknown> | string | null | undefined;
};

export type Accepted = {
  receipt_id: string;
  /** Only on a repeated Idempotency-Key */
  duplicate?: true | undefined;
  /** The key was used before with other content. This content is stored under its own receipt */
  payload_mismatch?: true | undefined;
  /** With `payload_mismatch`: the receipt of this content. With the same `source_order_id`, it is processed as a changed delivery. Otherwise it is `dead` with the error `idempotency_key_reused`, and can be redriven as a separate order */
  kept_as?: string | undefined;
  /** Only with `Prefer: wait` */
  status?: "received" | "normalized" | "written" | "duplicate" | "failed" | "dead" | undefined;
  order_id?: number | null | undefined;
};

/** `accepted`, `refused` and `mismatched` add up to the number of orders. */
export type BatchReply = {
  /** Orders that are stored under the `receipt_id` of their result, by this request or an earlier one */
  accepted: number;
  /** Orders that are not stored; their results contain `error` */
  refused: number;
  /** Orders whose key was first used with other content; each is stored under `kept_as` of its result */
  mismatched: number;
  /** One per order, in the order in which they were sent */
  results: BatchResult[];
};

export type BatchResult = {
  receipt_id: string;
  /** Only in a batch whose Idempotency-Key was used before */
  duplicate?: true | undefined;
  /** The key was used before with other content at this position of the batch. This content is stored under its own receipt */
  payload_mismatch?: true | undefined;
  /** With `payload_mismatch`: the receipt of this content. With the same `source_order_id`, it is processed as a changed delivery. Otherwise it is `dead` with the error `idempotency_key_reused`, and can be redriven as a separate order */
  kept_as?: string | undefined;
  error?: undefined;
} | {
  receipt_id?: undefined;
  duplicate?: undefined;
  payload_mismatch?: undefined;
  kept_as?: undefined;
  /** The error that the order would get if it were sent alone. */
  error: {
    status: number;
    code: "malformed_body" | "payload_too_large" | "validation_failed" | "internal_error" | (string & Record<never, never>);
    detail: string;
    errors?: FieldError[] | undefined;
  };
};

export type Cancellation = {
  /** Your own id of the order */
  source_order_id: string;
  /** Shown to the people who review orders */
  reason?: string | null | undefined;
};

export type CancellationList = {
  cancellations: Cancellation[];
};

export type CancelResult = {
  /** `cancelled`: the order will not be dispatched, unless a reviewer reopens it. `requested`: the dispatching system may have seen the order, so a person decides. `held`: there is no order with this id yet; it is cancelled when it arrives. `archived`: the order is so old that it was moved to an archive, and nothing happened. */
  outcome: "cancelled" | "requested" | "held" | "archived";
  source_order_id: string;
  /** Null if it is `held` */
  order_id: number | null;
};

export type CancelReply = {
  /** One per cancellation, in the order of the request */
  results: CancelResult[];
};

export type DeliveryReply = {
  /** `ignored`: an event that is about no order. `finished`: an order that the shop has finished and that was never sent before. `ping`: a check of the URL. The others are the outcomes of a cancellation. */
  outcome: "ignored" | "finished" | "ping" | "cancelled" | "requested" | "held" | "archived" | "outdated";
};

/** Something that happened to a receipt or an order. It contains no data of customers. */
export type Event = {
  /** Unique; the same in the feed and in all deliveries */
  id: string;
  /**
   * More types may be added: ignore unknown ones.
   *
   * - `receipt.written`: the order exists
   * - `receipt.duplicate`: the account already had an order with this id
   * - `receipt.dead`: processing has failed and will not be tried again, unless the receipt is redriven
   * - `order.confirmed`: a reviewer confirmed it, the undo time is over, and the dispatching system can see it
   * - `order.rejected`: a reviewer rejected it
   * - `order.reopened`: it needs review again, after it was rejected or cancelled
   * - `order.edited`: a reviewer changed it, or accepted a change that was sent
   * - `order.cancelled`: it was cancelled and will not be dispatched, unless a reviewer reopens it
   * - `order.cancel_requested`: it was cancelled after the dispatching system could see it, so a person decides
   */
  type: "receipt.written" | "receipt.duplicate" | "receipt.dead" | "order.confirmed" | "order.rejected" | "order.reopened" | "order.edited" | "order.cancelled" | "order.cancel_requested" | (string & Record<never, never>);
  /** When it happened; of `order.confirmed`, the end of the undo time */
  timestamp: string;
  data: {
    /** Its position in the account's log */
    sequence: number;
    /** The receipt; of an order, the one that created it */
    receipt_id: string;
    /** Your own id of the order; the receipt_id if a delivery had none */
    source_order_id: string;
    /** Null if there is no order */
    order_id: number | null;
    /** `receipt.written`: what was corrected. The pointer of an `unknown_field` is that of its parent. After 100 of them, `more_warnings` follows. */
    warnings?: {
      pointer: string;
      code: string;
    }[] | undefined;
    /** `receipt.duplicate`: the receipt that came first */
    duplicate_of?: string | undefined;
    /** `receipt.duplicate`: pointers of the fields that differ from the order */
    changed?: string[] | undefined;
    /** `receipt.dead`: the code of its error */
    error?: string | undefined;
    /** Why, where a reason was given; removed when the customer is erased */
    reason?: string | undefined;
  };
};

export type EventPage = {
  events: Event[];
  /** The cursor for the next request */
  next: string;
  /** Whether there are more events now */
  more: boolean;
};

export type Receipt = {
  receipt_id: string;
  status: "received" | "normalized" | "written" | "duplicate" | "failed" | "dead";
  /** Set once `written` */
  order_id: number | null;
  channel: "rest" | "webhook";
  source_order_id: string;
  received_at: string;
  updated_at: string;
  /** Finished attempts, including the successful one */
  attempts: number;
  next_attempt_at: string | null;
  warnings: Warning[];
  error: {
    code: string;
    detail: string;
  } | null;
  duplicate_of: {
    receipt_id: string;
    order_id: number;
  } | null;
  /** Differences between a `duplicate` and the order as you first sent it, or your last accepted changed delivery */
  changes: {
    /** RFC 6901, into the normalized order; `/items` if the number of items differs; `/cancelled`, from true to false, if the platform had cancelled the order and sent it again; `/finished`, from false to true, if it is done with an order that still needs review */
    pointer: string;
    from: string | number | boolean | null | {
      name: string | null;
      quantity: number | null;
      sku: string | null;
    }[];
    to: string | number | boolean | null | {
      name: string | null;
      quantity: number | null;
      sku: string | null;
    }[];
    /** Both values are null: they are too long to be stored (16 KiB for all changes) */
    cut?: true | undefined;
  }[];
  /** Of a `duplicate` from a platform: by the clock of the platform there is a newer version, which came before it, or after it and before anybody decided */
  outdated: boolean;
  /** The present state of its order, of a `duplicate` too; null if there is no order */
  order_state: "needs_review" | "awaiting_payment" | "confirmed" | "rejected" | "cancelled" | null;
  /** Of a delivery to a source: its name, and the id of the order on the platform, which `source_order_id` has behind the prefix of the source. `platform_id` is null if the mapping found none */
  source: {
    name: string;
    platform_id: string | null;
  } | null;
};

export type Preview = {
  normalized: {
    source_order_id: string;
    order_number: string;
    customer: {
      name: string | null;
      /** E.164, followed by ` ext. N` if there is an extension; as sent if it is not a phone number */
      phone: string | null;
      email: string | null;
      id: string | null;
    };
    address: string | null;
    /** One of the seven emirates, in English; otherwise as sent, without a code */
    emirate: string | null;
    /** ISO 3166-2 */
    emirate_code: string | null;
    area: string | null;
    items: {
      name: string | null;
      quantity: number | null;
      sku: string | null;
    }[];
    /** A decimal number */
    total: string | null;
    /** ISO 4217; otherwise as sent */
    currency: string;
    payment_state: string | null;
    delivery_time: string | null;
    delivery_method: string | null;
    delivery_instructions: string | null;
    details: string | null;
  };
  warnings: Warning[];
  /** The order that was written with this `source_order_id`: if sent now, this order would become a `duplicate`. Also null while the first order is not written yet. */
  duplicate_of: {
    receipt_id: string;
    order_id: number;
  } | null;
  /** Whether a cancellation is held for this `source_order_id`: if sent now, the order would be cancelled. */
  cancellation_held: boolean;
};

export type ReconcileReply = {
  /** One per id, in the order of the request */
  results: {
    source_order_id: string;
    /** The status of the newest receipt with this id; `never_seen` if there is none, so it is safe to send the order */
    status: "received" | "normalized" | "written" | "duplicate" | "failed" | "dead" | "never_seen";
    /** Null if it was never seen, or its order was moved to an archive */
    receipt_id: string | null;
    /** The order with this id, even if its newest receipt is a `duplicate` */
    order_id: number | null;
    received_at: string | null;
  }[];
};

export type Warning = {
  /** RFC 6901, into the payload as sent */
  pointer: string;
  /**
   * Stable. One of
   *
   * - `not_text`: Neither a string nor a number; left empty.
   * - `means_nothing`: A text such as None, False or n/a, which stands for nothing; left empty.
   * - `pair_as_text`: A pair of an id and a name instead of a text; the name was read.
   * - `json_as_text`: JSON in a string; read as what it contains.
   * - `number_as_text`: A number instead of a string; kept as a decimal string.
   * - `inexact_number`: A number too large for JSON to carry exactly; its last digits may be wrong: send it as a string.
   * - `out_of_range`: The number is out of range; left empty.
   * - `characters_removed`: Contains control characters, bidirectional controls or noncharacters; these were removed.
   * - `too_long`: Longer than the limit of this field; the end was cut off.
   * - `customer_as_text`: A string instead of an object; kept as the name, and searched for a phone number.
   * - `customer_in_list`: A list instead of an object; its only entry was read.
   * - `not_an_object`: Not an object; ignored.
   * - `phone_unreadable`: Not a possible phone number; kept as sent.
   * - `phone_not_valid`: A phone number of a possible length that no numbering plan has; kept.
   * - `phone_in_parts`: Parts instead of one string; joined and read as one string.
   * - `phone_extension`: The phone number has an extension or a code; it is kept behind the number.
   * - `phone_second_number`: More than one phone number; the first is kept.
   * - `phone_with_text`: There is more than a phone number; only the number is kept.
   * - `phone_without_plus`: A country code without + or 00 before it; read as if it had one.
   * - `phone_scientific`: A phone number in scientific notation; read as the number it stands for.
   * - `phone_digits_lost`: A spreadsheet rounded the last digits of this phone number away; kept as sent.
   * - `email_implausible`: Does not look like an e-mail address; kept as sent.
   * - `address_joined`: Parts instead of one string; joined in their order.
   * - `emirate_unknown`: Not one of the seven emirates; kept as sent, without a code.
   * - `emirate_ambiguous`: May be in more than one emirate; kept as sent, without a code.
   * - `emirate_corrected`: The name of the emirate is misspelled; read as the only one with a similar name.
   * - `emirate_from_place`: A place instead of an emirate; its emirate was filled in; the place went to the area, if that was empty.
   * - `emirate_extracted`: More than the name of an emirate; the rest went to the area, if that was empty.
   * - `emirate_contradicted`: The area or the address names another emirate; the emirate is kept.
   * - `inferred`: The emirate is missing or unknown; it was inferred from what is written here.
   * - `too_many_items`: More than 1,000 items; the first 1,000 are kept, the others in the raw payload only.
   * - `items_in_object`: A list of items in another form; its entries were read as the items.
   * - `items_not_a_list`: Not a list of items; read as a single item.
   * - `item_as_text`: A string instead of an item object; kept as the name of the item.
   * - `not_an_item`: Neither an item object nor a string; ignored.
   * - `quantity_from_text`: A string instead of a whole number; read as the number it spells.
   * - `quantity_unreadable`: The quantity is not a whole number above zero; left empty.
   * - `total_in_object`: An object instead of an amount; its amount and its currency were read.
   * - `total_unreadable`: Not an amount of money; left empty.
   * - `total_negative`: A negative amount; left empty.
   * - `total_ambiguous`: The separator in the amount can be read in two ways; please check the amount.
   * - `total_fraction`: More decimals than the currency has; kept.
   * - `total_rounded`: More than 6 decimals; rounded to 6.
   * - `currency_unknown`: Not an ISO 4217 currency; kept as sent.
   * - `currency_ambiguous`: The currency beside the amount may be one of several; left empty: name it in `currency`.
   * - `currency_conflict`: Differs from the currency written in the total; this one is kept.
   * - `value_unknown`: None of the values that this field can have; left empty.
   * - `unknown_field`: Not a field of this interface; kept in the raw payload only.
   * - `more_warnings`: There are more problems than are listed; they were corrected too.
   */
  code: string;
  detail: string;
};

export type FieldError = {
  /** RFC 6901, into the payload as sent */
  pointer: string;
  /**
   * Stable. One of
   *
   * - `required`: source_order_id is missing or null. Send your own unique id for the order, the same one on every resend.
   * - `not_a_string`: source_order_id must be a JSON string. Put a numeric id in quotes: large numbers would lose digits.
   * - `blank`: source_order_id must not be empty.
   * - `blank`: source_order_id must not be white space only.
   * - `too_long`: source_order_id must be at most 255 characters long.
   * - `control_character`: source_order_id must not contain control characters such as line breaks, tabs or U+0000.
   * - `lone_surrogate`: source_order_id contains half of a surrogate pair, which is no character. Check how it was cut or escaped.
   * - `not_a_list`: source_order_ids must be a list of 1 to 1000 ids. Ask for more in several requests.
   * - `not_a_list`: cancellations must be a list of 1 to 1000 objects. Send more in several requests.
   * - `not_an_object`: A cancellation must be an object with a source_order_id.
   * - `both_forms`: Send either source_order_id or a list of cancellations, not both.
   * - `not_a_string`: reason must be a string, or absent.
   * - `too_long`: reason must be at most 500 characters long.
   * - `control_character`: reason must not contain control characters other than tabs and line breaks.
   * - `lone_surrogate`: reason contains half of a surrogate pair, which is no character.
   * - `not_text`: Neither a string nor a number.
   * - `means_nothing`: A text such as None, False or n/a, which stands for nothing.
   * - `pair_as_text`: A pair of an id and a name instead of a text.
   * - `json_as_text`: JSON in a string.
   * - `number_as_text`: A number instead of a string.
   * - `inexact_number`: A number too large for JSON to carry exactly.
   * - `out_of_range`: The number is out of range.
   * - `characters_removed`: Contains control characters, bidirectional controls or noncharacters.
   * - `too_long`: Longer than the limit of this field.
   * - `customer_as_text`: A string instead of an object.
   * - `customer_in_list`: A list instead of an object.
   * - `not_an_object`: Not an object.
   * - `phone_unreadable`: Not a possible phone number.
   * - `phone_not_valid`: A phone number of a possible length that no numbering plan has.
   * - `phone_in_parts`: Parts instead of one string.
   * - `phone_extension`: The phone number has an extension or a code.
   * - `phone_second_number`: More than one phone number.
   * - `phone_with_text`: There is more than a phone number.
   * - `phone_without_plus`: A country code without + or 00 before it.
   * - `phone_scientific`: A phone number in scientific notation.
   * - `phone_digits_lost`: A spreadsheet rounded the last digits of this phone number away.
   * - `email_implausible`: Does not look like an e-mail address.
   * - `address_joined`: Parts instead of one string.
   * - `emirate_unknown`: Not one of the seven emirates.
   * - `emirate_ambiguous`: May be in more than one emirate.
   * - `emirate_corrected`: The name of the emirate is misspelled.
   * - `emirate_from_place`: A place instead of an emirate.
   * - `emirate_extracted`: More than the name of an emirate.
   * - `emirate_contradicted`: The area or the address names another emirate.
   * - `inferred`: The emirate is missing or unknown.
   * - `too_many_items`: More than 1,000 items.
   * - `items_in_object`: A list of items in another form.
   * - `items_not_a_list`: Not a list of items.
   * - `item_as_text`: A string instead of an item object.
   * - `not_an_item`: Neither an item object nor a string.
   * - `quantity_from_text`: A string instead of a whole number.
   * - `quantity_unreadable`: The quantity is not a whole number above zero.
   * - `total_in_object`: An object instead of an amount.
   * - `total_unreadable`: Not an amount of money.
   * - `total_negative`: A negative amount.
   * - `total_ambiguous`: The separator in the amount can be read in two ways.
   * - `total_fraction`: More decimals than the currency has.
   * - `total_rounded`: More than 6 decimals.
   * - `currency_unknown`: Not an ISO 4217 currency.
   * - `currency_ambiguous`: The currency beside the amount may be one of several.
   * - `currency_conflict`: Differs from the currency written in the total.
   * - `value_unknown`: None of the values that this field can have.
   * - `unknown_field`: Not a field of this interface.
   * - `more_warnings`: There are more problems than are listed.
   */
  code: string;
  detail: string;
};

/** RFC 9457 problem details; `code` is the stable part. */
export type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: "missing_api_key" | "invalid_api_key" | "wrong_installation" | "address_not_allowed" | "account_suspended" | "insufficient_scope" | "signature_required" | "signing_unavailable" | "missing_signature" | "invalid_signature" | "unsupported_media_type" | "unsupported_content_encoding" | "payload_too_large" | "malformed_body" | "validation_failed" | "invalid_idempotency_key" | "invalid_query" | "events_disabled" | "cursor_expired" | "receipt_not_found" | "not_found" | "method_not_allowed" | "rate_limited" | "overloaded" | "storage_unavailable" | "internal_error" | (string & Record<never, never>);
  request_id: string;
  errors?: FieldError[] | undefined;
  /** Of `wrong_installation`: the base URL of the installation that has the account. */
  installation_url?: string | undefined;
};
