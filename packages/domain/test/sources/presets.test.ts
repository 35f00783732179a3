import { describe, expect, test } from '@jest/globals';
import { normalizeOrder } from '../../src/normalize-order.ts';
import { mapOrder } from '../../src/sources/map-order.ts';
import { PRESETS } from '../../src/sources/presets.ts';
import type { SourcePreset } from '../../src/sources/settings.ts';
import { recordedDelivery } from '../recorded-deliveries.ts';

type Delivery = Record<string, Record<string, unknown>>;

/** The place of the order that a preset makes of a delivery, with the codes of all warnings. */
function placeOf(preset: SourcePreset, delivery: Delivery) {
  const { order, warnings } = normalizeOrder(mapOrder(delivery, PRESETS[preset].mapping));
  const { emirate_code, area } = order;
  return { emirate_code, area, warnings: warnings.map(({ code }) => code) };
}

describe('Shopify', () => {
  const order = recordedDelivery('shopify/order') as Delivery;
  const placed = (address: object) =>
    placeOf('shopify', {
      ...order,
      shipping_address: { ...order.shipping_address, address1: 'Villa 4', address2: null, ...address },
    });

  // https://github.com/Shopify/worldwide/blob/main/db/data/regions/AE.yml
  test.each([
    ['Abu Dhabi', 'AZ'],
    ['Ajman', 'AJ'],
    ['Dubai', 'DU'],
    ['Fujairah', 'FU'],
    ['Ras al-Khaimah', 'RK'],
    ['Sharjah', 'SH'],
    ['Umm al-Quwain', 'UQ'],
  ])('the province %s is the emirate, and not repeated as the area', (province, code) => {
    const read = { emirate_code: `AE-${code}`, warnings: [] };
    expect(placed({ province, province_code: code, city: province })).toEqual({ ...read, area: null });
    expect(placed({ province, province_code: code, city: 'Old Town' })).toEqual({ ...read, area: 'Old Town' });
  });

  test('a city of another emirate stays as the area', () => {
    expect(placed({ city: 'Sharjah' })).toEqual({
      emirate_code: 'AE-DU',
      area: 'Sharjah',
      warnings: ['emirate_contradicted'],
    });
  });

  test('without a province, the city gives the emirate', () => {
    const noProvince = { province: null, province_code: null };
    expect(placed({ ...noProvince, city: 'Dubai' })).toEqual({ emirate_code: 'AE-DU', area: null, warnings: [] });
    const alAin = { emirate_code: 'AE-AZ', area: 'Al Ain', warnings: ['emirate_from_place'] };
    expect(placed({ ...noProvince, city: 'Al Ain' })).toEqual(alAin);
  });

  test('an order abroad gets no emirate, although AZ is also Arizona', () => {
    const abroad = { province: 'Arizona', province_code: 'AZ', city: 'Tempe', country: 'United States' };
    expect(placed(abroad)).toEqual({ emirate_code: null, area: 'Tempe', warnings: ['emirate_unknown'] });
  });
});

describe('WooCommerce', () => {
  const order = recordedDelivery('woocommerce/order') as Delivery;
  const placed = (address: object) => placeOf('woocommerce', { ...order, shipping: { ...order.shipping, ...address } });

  // It has no list of states for AE, so that customers type the state, or leave it empty; plugins add codes.
  test.each(['Dubai', 'dubai', 'DU', 'AE-DU', 'DXB', 'دبي', 'Dubai Emirate'])('the state %s is Dubai', (state) => {
    const read = { emirate_code: 'AE-DU', warnings: [] };
    expect(placed({ state, city: 'Dubai' })).toEqual({ ...read, area: null });
    expect(placed({ state, city: 'Al Barsha 1' })).toEqual({ ...read, area: 'Al Barsha 1' });
  });

  test('without a state, the city gives the emirate', () => {
    expect(placed({ state: '', city: 'دبي' })).toEqual({ emirate_code: 'AE-DU', area: null, warnings: [] });
    const inferred = { emirate_code: 'AE-DU', area: 'Dubai', warnings: ['emirate_unknown', 'inferred'] };
    expect(placed({ state: 'UAE', city: 'Dubai' })).toEqual(inferred);
    const barsha = { emirate_code: 'AE-DU', area: 'Al Barsha', warnings: ['emirate_from_place'] };
    expect(placed({ state: '', city: 'Al Barsha' })).toEqual(barsha);
  });

  test('an order abroad gets no emirate, although WooCommerce sends AZ for Arizona', () => {
    const abroad = { state: 'AZ', city: 'Tempe', country: 'US' };
    expect(placed(abroad)).toEqual({ emirate_code: null, area: 'Tempe', warnings: ['emirate_unknown'] });
  });
});

test('a guest has no id', () => {
  const order = recordedDelivery('woocommerce/guest');
  expect(mapOrder(order, PRESETS.woocommerce.mapping).customer).not.toHaveProperty('id');
});
