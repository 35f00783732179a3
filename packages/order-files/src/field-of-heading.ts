import { toJsonPointer } from '@orders/domain/sources/json-pointer.ts';
import { TEXT_FIELD_NAMES } from '@orders/domain/text-fields.ts';

/** The fields of an order. An address may have parts of any name; customer and items may be plain strings. */
const FIELD = new RegExp(
  `^/(source_order_id|order_number|customer(/(name|phone|email|id))?|address(/.+)?|emirate|area|items(/\\d{1,3}/(name|quantity|sku))?|total|currency|${TEXT_FIELD_NAMES.join('|')})$`,
);

/** The pointer of the field that a heading names (`total`) or is the path to (`customer.phone`, `items.0.name`); undefined if it is none. */
export function fieldOfHeading(heading: string): string | undefined {
  const pointer = toJsonPointer(heading.split('.'));
  return FIELD.test(pointer) ? pointer : undefined;
}
