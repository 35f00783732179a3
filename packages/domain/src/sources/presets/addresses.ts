import type { JoinedValue } from '../mapping.ts';

/** With the country, because codes of states abroad equal those of emirates: AZ is Abu Dhabi and Arizona. */
export const emirateIn = (address: string, state: string, country: string): JoinedValue => ({
  join: [[`${address}/${state}`, `${address}/city`], `${address}/${country}`],
  separator: ', ',
});
export const nameIn = (address: string): JoinedValue => ({ join: [`${address}/first_name`, `${address}/last_name`] });

/** What shops and plugins call a pickup. */
export const PICKUP = [
  ...['pickup', 'pick up', 'pick-up', 'store pickup', 'pickup in store', 'in-store pickup', 'local pickup'],
  ...['self pickup', 'click and collect', 'take away', 'take_away', 'takeaway', 'استلام', 'استلام من المتجر'],
];
