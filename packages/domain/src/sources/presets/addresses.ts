import type { JoinedValue } from '../mapping.ts';

/** With the country, because codes of states abroad equal those of emirates: AZ is Abu Dhabi and Arizona. */
export const emirateIn = (address: string, state: string, country: string): JoinedValue => ({
  join: [[`${address}/${state}`, `${address}/city`], `${address}/${country}`],
  separator: ', ',
});
export const nameIn = (address: string): JoinedValue => ({ join: [`${address}/first_name`, `${address}/last_name`] });
