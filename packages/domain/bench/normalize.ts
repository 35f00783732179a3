import { parseArgs } from 'node:util';
import Joi from 'joi';
import { Bench, hrtimeNow } from 'tinybench';
import { normalizeOrder } from '../src/normalize-order.ts';
import { validateOrder } from '../src/validate-order.ts';

const USAGE = `Measures how long normalizing one order takes, beside parsing the same body and checking it with joi.

Usage: npm run bench:normalize [-- --seconds <number>]

  --seconds <number>  for each of the measurements; 2 unless given
  --help              this text

Exit code 0 if a typical order takes at most 25 µs at the median, or at most 3 times JSON.parse and joi; 1 if not; 2 for
wrong usage. The orders that need more are shown and not judged.`;

const ALLOWED_MICROSECONDS = 25;
const ALLOWED_RATIO = 3;

/** Enough different bodies that no string is parsed twice in a row. */
const BODIES = 1_000;

const pad = (number: number) => String(number).padStart(4, '0');

/** A typical order of about 600 bytes. */
const typical = (number: number) => ({
  source_order_id: `SHOP-${pad(number)}`,
  order_number: `#${pad(number)}`,
  customer: {
    name: 'Aisha Al Mansoori',
    phone: `050-${pad(number).slice(1)} ${pad(number)}`,
    email: `a${number}@example.com`,
  },
  address: `Apt ${number}, Marina Heights, Dubai Marina, Dubai`,
  emirate: 'Dubai',
  area: 'Dubai Marina',
  items: [
    { name: 'Chicken Shawarma', quantity: 2, sku: 'SH-1' },
    { name: 'Karak x6', quantity: 3, sku: null },
    { name: 'Basmati Rice 5kg', quantity: 1, sku: 'GR-114' },
    { name: 'Birthday cake, 2kg', quantity: 1, sku: 'CK-2KG' },
  ],
  total: `1,${pad(number).slice(1)}.50`,
  currency: 'AED',
  delivery_instructions: 'Leave it with the guard at the gate, and call when you are on your way up.',
});

/** An order in which nearly everything needs a correction. */
const messy = (number: number) => ({
  source_order_id: `SHOP-${pad(number)}`,
  customer: `Aisha, 050 ${pad(number).slice(1)} ${pad(number)} / 04 123 4567`,
  address: { street: `Street ${number}`, tower: 'برج النور', city: 'Al Quoz', country: 'UAE' },
  emirate: 'Dubia',
  items: [{ name: 'Soup', quantity: '2' }, 'Karak', { name: 'Tea', quantity: 1.5, price: 5 }],
  total: `٩٩٫${pad(number)} درهم`,
  gift: true,
});

/** An order whose emirate must be inferred from the address. */
const withoutEmirate = (number: number) => ({
  ...typical(number),
  emirate: undefined,
  area: undefined,
  address: `Apt ${number}, Al Noor Tower, Street 14B, Al Nahda, Sharjah, United Arab Emirates`,
});

/** The validation of a simple implementation, for comparison. */
const orderSchema = Joi.object({
  source_order_id: Joi.string().max(255).required(),
  order_number: Joi.string().max(255).allow(null),
  customer: Joi.object({ name: Joi.string(), phone: Joi.string(), email: Joi.string(), id: Joi.string() }),
  address: Joi.string().max(1000),
  emirate: Joi.string().max(100),
  area: Joi.string().max(200),
  items: Joi.array().items(
    Joi.object({ name: Joi.string(), quantity: Joi.number().integer().min(1), sku: Joi.string().allow(null) }),
  ),
  total: Joi.alternatives(Joi.number(), Joi.string()),
  currency: Joi.string(),
  delivery_instructions: Joi.string().max(2000),
});

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '2' }, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const seconds = Number(values.seconds);
  if (!(seconds > 0 && seconds <= 60)) throw new Error('--seconds takes a number above 0, at most 60.');

  const numbers = Array.from({ length: BODIES }, (_, index) => index);
  const bodies = numbers.map((number) => JSON.stringify(typical(number)));
  const payloadsOf = (order: (number: number) => object) =>
    numbers.map((number): Record<string, unknown> => JSON.parse(JSON.stringify(order(number))));
  const bench = new Bench({ time: seconds * 1000, now: hrtimeNow });
  const each = <T>(all: readonly T[], run: (one: T) => unknown) => {
    let next = 0;
    return () => run(all[next++ % all.length] as T);
  };
  bench.add(
    'JSON.parse and joi',
    each(bodies, (body) => orderSchema.validate(JSON.parse(body))),
  );
  bench.add(
    'JSON.parse and validateOrder',
    each(bodies, (body) => validateOrder(JSON.parse(body))),
  );
  bench.add('normalizeOrder', each(payloadsOf(typical), normalizeOrder));
  bench.add('normalizeOrder, emirate to be inferred', each(payloadsOf(withoutEmirate), normalizeOrder));
  bench.add('normalizeOrder, all with corrections', each(payloadsOf(messy), normalizeOrder));

  console.error(`An order of ${Buffer.byteLength(bodies[500] ?? '')} bytes, ${seconds} s for each measurement …`);
  const medians = new Map<string, number>();
  for (const task of await bench.run()) {
    if (!('latency' in task.result)) throw new Error(`${task.name} did not complete.`);
    medians.set(task.name, task.result.latency.p50 * 1000);
  }
  return report(medians);
}

function report(medians: ReadonlyMap<string, number>): number {
  const peer = medians.get('JSON.parse and joi') ?? Number.NaN;
  console.log('median µs   × JSON.parse and joi');
  for (const [name, median] of medians) {
    console.log(`${median.toFixed(1).padStart(9)}   ${(median / peer).toFixed(2).padStart(20)}   ${name}`);
  }
  const ours = medians.get('normalizeOrder') ?? Number.NaN;
  const isFast = ours <= Math.max(ALLOWED_MICROSECONDS, ALLOWED_RATIO * peer);
  console.log(
    `${isFast ? 'Within' : 'Beyond'} what is allowed: ${ALLOWED_MICROSECONDS} µs, or ${ALLOWED_RATIO} × JSON.parse and joi.`,
  );
  return isFast ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`bench:normalize: ${(error as Error).message}`);
  process.exitCode = 2;
}
