const NAMES = ['Aisha Al Mansoori', 'Omar Haddad', 'Priya Nair', 'John Smith', 'فاطمة الزهراء'];
const PLACES = [
  { street: 'Marina Heights', area: 'Dubai Marina', emirate: 'Dubai' },
  { street: 'Building 7, Hamdan Street', area: 'Al Danah', emirate: 'AUH' },
  { street: 'Al Wahda Street', area: 'Al Majaz', emirate: 'Sharjah' },
  { street: 'Corniche Road 12', area: 'Al Rashidiya', emirate: 'Ajman' },
];
const CARTS = [
  [
    { name: 'Chicken Shawarma', quantity: 2, sku: 'SH-1' },
    { name: 'Karak', quantity: 3, sku: null },
    { name: 'Basmati Rice 5kg', quantity: 1, sku: 'GR-114' },
  ],
  [
    { name: 'Birthday cake, 2kg', quantity: 1, sku: 'CK-2KG' },
    { name: 'Candles', quantity: 24, sku: 'CN-24' },
  ],
];
const VARIANTS = 500;
const ID = '<id>';

/** Prepared bodies with different content, split at the id, so that requests need no serialization. */
const BODIES = Array.from({ length: VARIANTS }, (_, number) => {
  const place = PLACES[number % PLACES.length] as (typeof PLACES)[number];
  const digits = String(number).padStart(3, '0');
  const body = JSON.stringify({
    source_order_id: ID,
    order_number: `#10${digits}`,
    customer: {
      name: NAMES[number % NAMES.length],
      phone: `050-${digits} ${String(9999 - number)}`,
      email: `customer${number}@example.com`,
      id: `C-${digits}`,
    },
    address: `Apt ${number}, ${place.street}, ${place.area}`,
    emirate: place.emirate,
    area: place.area,
    items: CARTS[number % CARTS.length],
    total: `${number + 20}.50`,
    currency: 'AED',
    delivery_instructions: 'Leave it with the guard at the gate, and call when you are on your way up.',
  });
  return body.split(ID) as [string, string];
});

/** A typical order of about 600 bytes with this `source_order_id`. */
export function makeOrder(sourceOrderId: string, number: number): string {
  const [before, after] = BODIES[number % VARIANTS] as [string, string];
  return before + sourceOrderId + after;
}
