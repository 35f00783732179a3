import type { JoinedValue } from '../mapping.ts';

/** With the country, because codes of states abroad equal those of emirates: AZ is Abu Dhabi and Arizona. */
const emirateIn = (address: string, state: string, country: string): JoinedValue => ({
  join: [[`${address}/${state}`, `${address}/city`], `${address}/${country}`],
  separator: ', ',
});
/**
 * The emirate of the first address with a first line, of which the address is too. Shops and wallets leave the country or the state in one
 * that is empty otherwise.
 */
export const emirateOf = (addresses: readonly string[], line: string, state: string, country: string): JoinedValue[] =>
  [true, false].flatMap((isLineNeeded) =>
    addresses.map((address) => ({
      ...emirateIn(address, state, country),
      ...(isLineNeeded && { except: { [`${address}/${line}`]: [null] } }),
    })),
  );
export const nameIn = (address: string): JoinedValue => ({ join: [`${address}/first_name`, `${address}/last_name`] });

/** What shops and plugins call a pickup. */
export const PICKUP = [
  ...['pickup', 'pick up', 'pick-up', 'store pickup', 'pickup in store', 'in-store pickup', 'local pickup'],
  ...['self pickup', 'click and collect', 'take away', 'take_away', 'takeaway', 'استلام', 'استلام من المتجر'],
];
