/** A text of an order that senders may leave out. */
interface TextField {
  /** In code points; longer ones are cut, with a warning. */
  maxLength: number;
  /** What it is, for the OpenAPI document. */
  description: string;
  example: string;
  /** What senders call it, in English and Arabic: column headings and members, separated by commas. */
  names: string;
  /** Its only values, each with what else is read as it: in small letters, without spaces and signs. */
  values?: Readonly<Record<string, string>>;
  /** A list of facts, stored as text with a line `label: value` for each. */
  hasLines?: true;
}

/**
 * The texts of an order that senders may leave out, by their name: the member in JSON, the column in Postgres, the member of a mapping.
 * Reading, comparing, editing, erasing, storing, mapping and exporting them follow from this list, and so do the OpenAPI document and the
 * portal's list of fields. Labels, guides, the printed order, columns and grants do not: see CONTRIBUTING.md.
 */
export const TEXT_FIELDS = {
  payment_state: {
    maxLength: 50,
    description: 'How the order is paid: `paid`, `unpaid`, `cash_on_delivery` or `refunded`',
    example: 'cash_on_delivery',
    names: `payment state, payment status, paid status, financial status, حالة الدفع`,
    values: {
      paid: `approved authorised authorized captured capturepending charged complete completed creditowed fullycaptured fullycharged fullypaid
        inpayment overcharged overpaid paidinfull partiallyrefunded paymentaccepted paymentreceived paymentsettled prepaid refundedpartially
        settled succeeded success successful مدفوع مدفوعة`,
      unpaid: `awaiting awaitingpayment balancedue canceled cancelled declined due expired failed heldforreview incomplete notcharged notpaid
        onhold open paidpartially partial partiallyauthorized partiallycaptured partiallycharged partiallypaid partlypaid paymentdue paymenterror
        paymentfailed paymentpending pending pendingpayment refused rejected reminded requiresaction unconfirmed void voided waitingforpayment
        غيرمدفوع غيرمدفوعة`,
      cash_on_delivery: `cash cod collect cashondeliverycod payondelivery paymentondelivery الدفععندالاستلام الدفعنقداعندالاستلام دفععندالاستلام
        عندالاستلام نقدا`,
      refunded: 'chargeback chargedback fullyrefunded refund reversed مسترد مستردة',
    },
  },
  delivery_time: {
    maxLength: 200,
    description: 'When the customer wants the order, or that it is picked up, as the sender writes it',
    example: 'tomorrow, 10:00 to 12:00',
    names: `delivery time, delivery date, delivery slot, time slot, scheduled for, pickup time, pickup date, موعد التوصيل, وقت التوصيل,
      تاريخ التوصيل`,
  },
  delivery_method: {
    maxLength: 50,
    description: 'How the customer gets the order: `delivery` or `pickup`',
    example: 'delivery',
    names: `delivery method, delivery type, order type, fulfillment type, fulfilment type, shipping method, طريقة التوصيل, نوع الطلب`,
    values: {
      delivery: 'courier deliver homedelivery local localdelivery shipment shipping ship توصيل التوصيل',
      pickup: `bopis carryout clickandcollect clickcollect collect collectinstore collection curbside curbsidepickup customerpickup instore
        instorepickup localpickup pickuplocation pickupinstore selfcollect selfcollection selfpickup storepickup takeaway takeout استلام
        استلاممنالفرع استلاممنالمتجر`,
    },
  },
  delivery_instructions: {
    maxLength: 2_000,
    description: 'Free text for the driver',
    example: 'Call before arrival',
    names: `delivery instructions, delivery instruction, instructions, delivery notes, delivery note, notes, note, remarks,
      remark, comments, comment, ملاحظات, ملاحظة, ملاحظات التوصيل, تعليمات التوصيل`,
  },
  details: {
    maxLength: 4_000,
    description:
      'What else belongs to the order, up to 30 facts: a list of `{ "label", "value" }`, an object, or text with a line `label: value` for each',
    example: 'Gift card text: Happy birthday',
    names:
      'details, attributes, note attributes, order attributes, custom fields, additional information, extra info, تفاصيل إضافية',
    hasLines: true,
  },
} as const satisfies Record<string, TextField>;

export type TextFieldName = keyof typeof TEXT_FIELDS;

/** Their names, in the order in which they are shown. */
export const TEXT_FIELD_NAMES = Object.keys(TEXT_FIELDS) as readonly TextFieldName[];

/** A value for each of these fields. */
export type OfTextFields<Value> = Record<TextFieldName, Value>;

/** Makes an object with a value for each of these fields. */
export function ofTextFields<Value>(valueFor: (name: TextFieldName) => Value): OfTextFields<Value> {
  const values = {} as OfTextFields<Value>;
  for (const name of TEXT_FIELD_NAMES) values[name] = valueFor(name);
  return values;
}
