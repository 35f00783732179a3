/** Rejected deliveries to sources, which have no API key. Decision 027. */
export const name = '029-source-rejections';

export const up = `
-- A rejected delivery has a key or a source.
alter table rejected_deliveries alter column key_id drop not null, add column source_number integer;
`;
