import { createAccount } from '@orders/database/accounts/accounts.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { fillSearchTerms } from '@orders/worker/maintenance/fill-search-terms.ts';
import { fillDatabase } from '../measure/fill-database.ts';

const CHUNK = 100_000;
const NAMES = {
  first: [
    'Mohammed,Ahmed,Fatima,Aisha,Omar,Khalid,Sara,Priya,John,Maria,محمد,فاطمة,Yousef,Layla,Rahul,Noor,Hassan,Zainab,أحمد,Ali',
    'Mariam,Saeed,Hamad,Reem,Huda,خالد,Anjali,Deepak,Joseph,Grace,Tariq,Salma,Bilal,Amina,عائشة,Faisal,Sultan,Rashid,Dina,Karim',
  ]
    .join(',')
    .split(','),
  last: [
    'Al Mansoori,Khan,Al Maktoum,Smith,Patel,الهاشمي,Al Nuaimi,Fernandes,Haddad,Nair,Ivanova,Al Suwaidi,Rahman,Cruz,Sheikh',
    'المنصوري,Al Zaabi,Hussain,Kumar,Santos,Al Ketbi,Malik,النعيمي,Thomas,Abbas,Al Marri,Farouk,Gomez,Iqbal,Bin Rashid',
  ]
    .join(',')
    .split(','),
};

/** Orders per million with each property that the queries search for. */
export const SHARE = { mediumName: 5000, rareEmirate: 500, webhook: 200_000, warned: 30_000, noEmirate: 20_000 };

const list = (texts: readonly string[]) => `(array['${texts.join("','")}'])`;

/** SQL that derives orders number `first` to `last` from their numbers, one per second until now. */
function statementFor(accountId: number, orders: number, first: number, last: number): string {
  // About 32 random bits for each use.
  const random = (use: string) => `('x' || substr(md5('${use}' || i), 1, 8))::bit(32)::bigint`;
  const inMillion = (use: string) => `(${random(use)} % 1000000)`;
  // The first values of a list are much more frequent than the last ones.
  const oneOf = (use: string, texts: readonly string[]) =>
    `${list(texts)}[1 + floor(${texts.length} * power(${inMillion(use)} / 1000000.0, 2))::int]`;
  const at = `(now() - (${orders} - i) * interval '1 second')`;
  const emirate = `
    case when ${inMillion('emirate')} < ${SHARE.noEmirate} then 0
         when ${inMillion('emirate')} < ${SHARE.noEmirate + SHARE.rareEmirate} then 7
         else 1 + floor(6 * power(${inMillion('which')} / 1000000.0, 2))::int end`;
  return `
    insert into orders (account_id, source_order_id, order_number, channel, receipt_id, customer_name, customer_phone, customer_email,
                        address, emirate, emirate_code, area, items, total, currency, delivery_instructions, warnings, severity, received_at, written_at)
    select ${accountId}, id, id, case when ${inMillion('channel')} < ${SHARE.webhook} then 'webhook' else 'rest' end, md5(id)::uuid,
           case when i % 333333 = 1 then 'Zebulon Quist'
                when ${inMillion('name')} < ${SHARE.mediumName} then 'Oluwaseun ' || ${oneOf('last', NAMES.last)}
                else ${oneOf('first', NAMES.first)} || ' ' || ${oneOf('last', NAMES.last)} end,
           '+9715' || lpad((${random('phone')} % 100000000)::text, 8, '0'), 'customer' || i || '@example.com',
           'Apt ' || i % 3000 || ', Marina Heights, Dubai Marina', ${list(EMIRATES.map(([name]) => name))}[place],
           ${list(EMIRATES.map(([, code]) => code))}[place], 'Marina',
           '[{"name": "Chicken Shawarma", "quantity": 2, "sku": "SH-1"}, {"name": "Karak", "quantity": 3, "sku": null}]', 149.50, 'AED',
           'Leave it with the guard and call when you are on your way up, please.',
           case when ${inMillion('warned')} < ${SHARE.warned}
                then '[{"pointer": "/emirate", "code": "inferred", "detail": "The emirate is missing; it was inferred from what is written here."}]'
                else '[]' end::jsonb,
           case when place = 0 then 'blocks' when ${inMillion('warned')} < ${SHARE.warned} then 'check' else 'none' end, ${at}, ${at}
    from (select i, 'SHOP-' || lpad(i::text, 9, '0') as id, ${emirate} as place
          from generate_series(${first}::bigint, ${last}::bigint) as i) as numbered`;
}

const EMIRATES = [
  ['Dubai', 'AE-DU'],
  ['Sharjah', 'AE-SH'],
  ['Abu Dhabi', 'AE-AZ'],
  ['Ajman', 'AE-AJ'],
  ['Ras Al Khaimah', 'AE-RK'],
  ['Fujairah', 'AE-FU'],
  ['Umm Al Quwain', 'AE-UQ'],
] as const;

/**
 * Fills a database with orders of one account that need review, and creates their search terms except for the last minute.
 * The last twentieth is inserted after the vacuum, because a live table always has rows that no vacuum has seen.
 *
 * @returns the account id.
 */
export function fillReview(databaseUrl: string, orders: number): Promise<number> {
  const vacuumedTo = Math.floor(orders * 0.95);
  return fillDatabase(databaseUrl, { rows: orders, chunk: CHUNK, cut: vacuumedTo }, async (knex) => {
    const { account_id: accountId } = await createAccount(connectionOf(knex), 'Waiting');
    return {
      result: accountId,
      statementsFor: (first, last) => [statementFor(accountId, orders, first, last)],
      async afterPart(stored) {
        if (stored < vacuumedTo) return;
        while ((await fillSearchTerms(connectionOf(knex))) > 0);
        if (stored === vacuumedTo) await knex.raw('vacuum analyze orders, order_words');
      },
    };
  });
}
