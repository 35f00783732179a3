import { TEXT_FIELD_NAMES, TEXT_FIELDS } from '../text-fields.ts';

/**
 * Names that senders give to the fields of an order, by pointer, the likeliest first: the name is the recipient's rather than the
 * customer's. An order number is mostly the only id that a shop's table has, so it is a source_order_id.
 */
const NAMES: Record<string, string> = {
  '/source_order_id': `order id, order, id, order no, order number, order num, order ref, order reference, reference,
    ref, bill, bill no, bill number, source id, external id, external order id, source order id, رقم الطلب, معرف الطلب, الطلب`,
  '/order_number': 'invoice, invoice no, invoice number, receipt no, receipt number, ticket no, رقم الفاتورة, الفاتورة',
  '/customer/name': `recipient, recipient name, receiver, receiver name, consignee, customer, customer name, name, full name,
    client, client name, buyer, buyer name, contact name, الاسم, اسم, اسم العميل, العميل, الزبون, اسم الزبون`,
  '/customer/phone': `recipient phone, receiver phone, phone, phone number, phone no, mobile, mobile number, mobile no, telephone, tel, cell, cell phone,
    whatsapp, contact, contact number, contact no, customer phone, customer mobile,
    الهاتف, هاتف, رقم الهاتف, الجوال, جوال, رقم الجوال, الموبايل, موبايل, رقم الموبايل, هاتف العميل`,
  '/customer/email': `e-mail, e-mail address, mail, customer e-mail, client e-mail, البريد الالكتروني, البريد الإلكتروني,
    الايميل, الإيميل`,
  '/customer/id': 'customer id, customer no, customer number, customer code, client id, رقم العميل',
  '/address': `address, delivery address, shipping address, customer address, full address, street, street address,
    address line, address 1, address line 1, العنوان, عنوان, عنوان التوصيل, الشارع`,
  '/emirate': `emirate, city, state, province, region, shipping city, delivery city, الإمارة, الامارة, إمارة, امارة,
    المدينة, مدينة`,
  '/area': 'area, district, neighbourhood, neighborhood, community, zone, المنطقة, منطقة, الحي, حي',
  '/items/0/name': `item, item name, items, product, product name, article, description, المنتج, منتج, اسم المنتج, الصنف,
    صنف`,
  '/items/0/quantity': 'quantity, qty, pieces, pcs, count, units, item quantity, item qty, الكمية, كمية, العدد, عدد',
  '/items/0/sku': `sku, item sku, product sku, item code, product code, item id, product id, article no, barcode,
    رمز المنتج, كود المنتج`,
  '/total': `total, total price, total amount, total aed, order total, grand total, amount, amount due, sum, price, cod,
    cod amount, المجموع, الإجمالي, الاجمالي, المبلغ, السعر`,
  '/currency': 'currency, currency code, العملة, عملة',
  ...Object.fromEntries(TEXT_FIELD_NAMES.map((name) => [`/${name}`, TEXT_FIELDS[name].names])),
};
const POINTERS = new Map(
  Object.entries(NAMES).flatMap(([pointer, names]) => names.split(',').map((name) => [normalized(name), pointer])),
);
const RANKS = new Map([...POINTERS.keys()].map((name, rank) => [name, rank]));
/** Fields of which several columns can be parts. */
const IN_PARTS: ReadonlySet<string> = new Set(['/address', '/details']);
/** Longer headings are sentences, and could be costly to match. */
const MAX_HEADING = 100;
/** A name with the number of its item: `item2`, `qty2`, `item2sku`. */
const NUMBERED = /^(\D+)([1-9]\d?)(\D*)$/;

/**
 * Suggests the field of an order that a column heading or a member name probably means, in English or Arabic. Several headings of a
 * table may get the same field.
 *
 * @returns an RFC 6901 pointer such as `/customer/phone`; null if none is likely.
 */
export function suggestField(heading: string): string | null {
  if (heading.length > MAX_HEADING) return null;
  const name = normalized(heading);
  const pointer = POINTERS.get(name);
  if (pointer !== undefined) return pointer;
  const numbered = NUMBERED.exec(name);
  if (!numbered) return null;
  const [, before, number, after] = numbered;
  const ofItem = POINTERS.get(`${before}${after}`);
  return ofItem?.startsWith('/items/0/') ? ofItem.replace('0', String(Number(number) - 1)) : null;
}

/** Suggests the field of each column of a table. Of several headings for one field, the likeliest has it, unless it can be in parts. */
export function suggestFields(headings: readonly string[]): (string | null)[] {
  const fields = headings.map(suggestField);
  const rankOf = (at: number) => RANKS.get(normalized(headings[at] ?? '')) ?? RANKS.size;
  const isLikelier = (a: number, b: number) => rankOf(a) - rankOf(b) || a - b;
  return fields.map((field, at) => {
    if (field === null || IN_PARTS.has(field)) return field;
    const likelier = fields.some((other, index) => other === field && isLikelier(index, at) < 0);
    return likelier ? null : field;
  });
}

/** Keeps letters and digits only, without a unit in brackets, the tatweel and Arabic vowel marks. */
function normalized(heading: string): string {
  return heading
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\(.*\)$/, '')
    .replace(/[^\p{L}\p{Nd}]|\u0640/gu, '');
}
